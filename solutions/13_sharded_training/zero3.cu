// Lab 13, task `zero3`: weights are sharded too, and gathered a unit at a time (ZeRO, stage 3; FSDP).
//
// Run: ./ridge check 13 --task zero3
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

// from, to: n elements, rounded to nearest. One thread an element.
static __global__ void narrow_kernel(const float* from, __nv_bfloat16* to, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) to[i] = __float2bfloat16(from[i]);
}

// TASK(zero3)
namespace {

// A stream and a communicator for transfers beside the kernels. Events by block modulo 3, or 2: `gathered`, its weights are here;
// `used`, its kernels no longer read them; `computed`, its gradients are complete; `sent`, they have left their buffer.
struct Transfers {
  ncclComm_t comm;
  cudaStream_t stream;
  cudaEvent_t outer, gathered[3], used[3], computed, sent[2], done;
  explicit Transfers(ncclComm_t all) {
    // Each block of NCCL's takes a multiprocessor from the kernels beside it.
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.maxCTAs = 16;
    config.cgaClusterSize = 1;
    int rank = 0;
    ncclCommUserRank(all, &rank);
    ncclCommSplit(all, 0, rank, &comm, &config);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (cudaEvent_t* e : {&outer, &gathered[0], &gathered[1], &gathered[2], &used[0], &used[1], &used[2], &computed,
                           &sent[0], &sent[1], &done})
      cudaEventCreateWithFlags(e, cudaEventDisableTiming);
  }
};

}  // namespace

void zero3(Model& model, float* weights, const Batch& batch, long long all_tokens, const AdamW& adam, float* gradients,
           float* m, float* v, void* workspace, std::size_t, ncclComm_t comm, cudaStream_t stream) {
  static thread_local Transfers to(comm);  // one for each rank, also where ranks are threads
  int p = 1;
  ncclCommCount(comm, &p);
  const int L = model.blocks();
  const std::size_t all_own = model.elements() / static_cast<std::size_t>(p);
  auto* outer_gradients = static_cast<float*>(workspace);                                 // of unit 0
  float* block_gradients = outer_gradients + model.size(0);                               // of two blocks
  auto* rounded = reinterpret_cast<__nv_bfloat16*>(block_gradients + 2 * model.size(1));  // the own buffer in bf16
  __nv_bfloat16* outer = rounded + all_own;                                               // weights of unit 0
  __nv_bfloat16* block = outer + model.size(0);                                           // weights of three blocks
  auto part = [&](int u) { return model.size(u) / static_cast<std::size_t>(p); };
  auto own = [&](int u) { return model.begin(u) / static_cast<std::size_t>(p); };
  auto weights_of = [&](int u) { return u == 0 ? outer : block + static_cast<std::size_t>(u % 3) * model.size(1); };

  auto gather = [&](int u) {
    ncclAllGather(rounded + own(u), weights_of(u), part(u), ncclBfloat16, to.comm, to.stream);
    cudaEventRecord(u == 0 ? to.outer : to.gathered[u % 3], to.stream);
  };
  // Unit `next` takes the buffer of unit u, whose kernels are in the stream.
  auto replace = [&](int u, int next) {
    cudaEventRecord(to.used[u % 3], stream);
    cudaStreamWaitEvent(to.stream, to.used[u % 3]);
    gather(next);
  };
  auto finish = [&](int u, const float* unit) {
    cudaEventRecord(to.computed, stream);
    cudaStreamWaitEvent(to.stream, to.computed);
    ncclReduceScatter(unit, gradients + own(u), part(u), ncclFloat, ncclSum, to.comm, to.stream);
    if (u > 0) cudaEventRecord(to.sent[u % 2], to.stream);
    adamw_kernel<<<static_cast<unsigned>((part(u) + 255) / 256), 256, 0, to.stream>>>(
        weights + own(u), gradients + own(u), m + own(u), v + own(u), part(u), adam);
  };

  // The own part is rounded before any is gathered, and the last call's kernels have ended.
  narrow_kernel<<<static_cast<unsigned>((all_own + 255) / 256), 256, 0, stream>>>(weights, rounded, all_own);
  cudaEventRecord(to.computed, stream);
  cudaStreamWaitEvent(to.stream, to.computed);
  for (int u = 0; u <= L && u <= 3; ++u) gather(u);

  cudaMemsetAsync(outer_gradients, 0, model.size(0) * sizeof(float), stream);
  cudaStreamWaitEvent(stream, to.outer);
  model.embed(outer, batch);
  for (int u = 1; u <= L; ++u) {
    cudaStreamWaitEvent(stream, to.gathered[u % 3]);
    model.forward(u, weights_of(u), batch);
    if (u + 3 <= L) replace(u, u + 3);
  }
  model.head(outer, outer_gradients, batch, 1.0f / static_cast<float>(all_tokens));
  for (int u = L; u >= 1; --u) {
    float* unit = block_gradients + static_cast<std::size_t>(u % 2) * model.size(u);
    if (u + 2 <= L) cudaStreamWaitEvent(stream, to.sent[u % 2]);  // unit u + 2 has left this buffer
    cudaMemsetAsync(unit, 0, model.size(u) * sizeof(float), stream);
    cudaStreamWaitEvent(stream, to.gathered[u % 3]);
    model.backward(u, weights_of(u), unit, batch);
    if (u - 3 >= 1) replace(u, u - 3);
    finish(u, unit);
  }
  model.embed_backward(outer_gradients, batch);
  finish(0, outer_gradients);
  cudaEventRecord(to.done, to.stream);
  cudaStreamWaitEvent(stream, to.done);
}
// END(zero3)
