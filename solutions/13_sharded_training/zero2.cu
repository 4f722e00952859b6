// Lab 13, task `zero2`: gradients and the optimizer's state are sharded (ZeRO, stage 2).
//
// Run: ./ridge check 13 --task zero2
#include "sharded.hpp"

// w, g, m, v: n floats. One thread an element.
static __global__ void adamw_kernel(float* w, const float* g, float* m, float* v, std::size_t n, AdamW a) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  m[i] = a.beta1 * m[i] + (1 - a.beta1) * g[i];
  v[i] = a.beta2 * v[i] + (1 - a.beta2) * g[i] * g[i];
  const float step = m[i] * a.correction1 / (sqrtf(v[i] * a.correction2) + a.epsilon);
  w[i] -= a.rate * (step + a.decay * w[i]);
}

// TASK(zero2)
namespace {

// A stream and a communicator for transfers beside the kernels, and the events between both streams.
struct Lane {
  ncclComm_t comm;
  cudaStream_t stream;
  cudaEvent_t computed, sent[2], done;
  explicit Lane(ncclComm_t all) {
    // Each block of NCCL's takes a multiprocessor from the kernels beside it.
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.maxCTAs = 16;
    config.cgaClusterSize = 1;
    int rank = 0;
    ncclCommUserRank(all, &rank);
    ncclCommSplit(all, 0, rank, &comm, &config);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (cudaEvent_t* e : {&computed, &sent[0], &sent[1], &done}) cudaEventCreateWithFlags(e, cudaEventDisableTiming);
  }
};

}  // namespace

void zero2(Model& model, float* weights, const Batch& batch, long long all_tokens, const AdamW& adam, float* gradients,
           float* m, float* v, void* workspace, std::size_t, ncclComm_t comm, cudaStream_t stream) {
  static thread_local Lane lane(comm);  // one for each rank, also where ranks are threads
  int r = 0, p = 1;
  ncclCommUserRank(comm, &r);
  ncclCommCount(comm, &p);
  auto* outer = static_cast<float*>(workspace);  // gradients of unit 0
  float* block = outer + model.size(0);          // and of two blocks
  const float scale = 1.0f / static_cast<float>(all_tokens);

  // The unit's gradients become the own part of their sum, and that becomes new weights.
  auto finish = [&](int u, const float* unit) {
    const std::size_t part = model.size(u) / static_cast<std::size_t>(p);
    const std::size_t own = model.begin(u) / static_cast<std::size_t>(p);
    float* w = weights + model.begin(u);
    float* mine = w + static_cast<std::size_t>(r) * part;
    cudaEventRecord(lane.computed, stream);
    cudaStreamWaitEvent(lane.stream, lane.computed);
    ncclReduceScatter(unit, gradients + own, part, ncclFloat, ncclSum, lane.comm, lane.stream);
    if (u > 0) cudaEventRecord(lane.sent[u % 2], lane.stream);
    adamw_kernel<<<static_cast<unsigned>((part + 255) / 256), 256, 0, lane.stream>>>(mine, gradients + own, m + own,
                                                                                     v + own, part, adam);
    ncclAllGather(mine, w, part, ncclFloat, lane.comm, lane.stream);
  };

  cudaMemsetAsync(outer, 0, model.size(0) * sizeof(float), stream);
  model.embed(weights, batch);
  for (int u = 1; u <= model.blocks(); ++u) model.forward(u, weights + model.begin(u), batch);
  model.head(weights, outer, batch, scale);
  for (int u = model.blocks(); u >= 1; --u) {
    float* unit = block + static_cast<std::size_t>(u % 2) * model.size(u);
    if (u + 2 <= model.blocks()) cudaStreamWaitEvent(stream, lane.sent[u % 2]);  // unit u + 2 has left this buffer
    cudaMemsetAsync(unit, 0, model.size(u) * sizeof(float), stream);
    model.backward(u, weights + model.begin(u), unit, batch);
    finish(u, unit);
  }
  model.embed_backward(outer, batch);
  finish(0, outer);
  cudaEventRecord(lane.done, lane.stream);
  cudaStreamWaitEvent(stream, lane.done);
}
// END(zero2)
