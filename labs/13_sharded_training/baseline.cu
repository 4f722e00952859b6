// The plain way: the same collectives, each behind the kernels before it, in one stream.
#include <cstdio>
#include <cstdlib>

#include "sharded.hpp"

namespace {

[[noreturn]] void not_timed(const char* task) {
  std::fprintf(stderr, "%s has no baseline: it is not timed\n", task);
  std::exit(1);
}

// w, g, m, v: n floats. One thread an element.
__global__ void adamw_kernel(float* w, const float* g, float* m, float* v, std::size_t n, AdamW a) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  m[i] = a.beta1 * m[i] + (1 - a.beta1) * g[i];
  v[i] = a.beta2 * v[i] + (1 - a.beta2) * g[i] * g[i];
  const float step = m[i] * a.correction1 / (sqrtf(v[i] * a.correction2) + a.epsilon);
  w[i] -= a.rate * (step + a.decay * w[i]);
}

// from, to: n elements. One thread an element.
__global__ void narrow_kernel(const float* from, __nv_bfloat16* to, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) to[i] = __float2bfloat16(from[i]);
}

struct Ranks {
  int rank = 0, count = 1;
  explicit Ranks(ncclComm_t comm) { ncclCommUserRank(comm, &rank), ncclCommCount(comm, &count); }
};

}  // namespace

Memory memory_plan(const Setup&, int) { not_timed("memory_plan"); }
int largest_batch(const Setup&, std::int64_t) { not_timed("memory_plan"); }
bool recompute(const Cost*, int, std::int64_t, bool*) { not_timed("recompute"); }
void clip_and_save(float*, const float*, const float*, const float*, std::size_t, float, float*, float*, void*,
                   std::size_t, ncclComm_t, cudaStream_t) {
  not_timed("clip_and_save");
}
void load_state(const float* const*, int, std::size_t, float*, float*, float*, ncclComm_t, cudaStream_t) {
  not_timed("clip_and_save");
}

void zero2(Model& model, float* weights, const Batch& batch, long long all_tokens, const AdamW& adam, float* gradients,
           float* m, float* v, void* workspace, std::size_t, ncclComm_t comm, cudaStream_t stream) {
  const Ranks ranks(comm);
  auto* outer = static_cast<float*>(workspace);
  float* block = outer + model.size(0);
  auto finish = [&](int u, const float* unit) {
    const std::size_t part = model.size(u) / static_cast<std::size_t>(ranks.count);
    const std::size_t own = model.begin(u) / static_cast<std::size_t>(ranks.count);
    float* w = weights + model.begin(u);
    float* mine = w + static_cast<std::size_t>(ranks.rank) * part;
    ncclReduceScatter(unit, gradients + own, part, ncclFloat, ncclSum, comm, stream);
    adamw_kernel<<<static_cast<unsigned>((part + 255) / 256), 256, 0, stream>>>(mine, gradients + own, m + own, v + own,
                                                                                part, adam);
    ncclAllGather(mine, w, part, ncclFloat, comm, stream);
  };
  cudaMemsetAsync(outer, 0, model.size(0) * sizeof(float), stream);
  model.embed(weights, batch);
  for (int u = 1; u <= model.blocks(); ++u) model.forward(u, weights + model.begin(u), batch);
  model.head(weights, outer, batch, 1.0f / static_cast<float>(all_tokens));
  for (int u = model.blocks(); u >= 1; --u) {
    cudaMemsetAsync(block, 0, model.size(u) * sizeof(float), stream);
    model.backward(u, weights + model.begin(u), block, batch);
    finish(u, block);
  }
  model.embed_backward(outer, batch);
  finish(0, outer);
}

void zero3(Model& model, float* weights, const Batch& batch, long long all_tokens, const AdamW& adam, float* gradients,
           float* m, float* v, void* workspace, std::size_t, ncclComm_t comm, cudaStream_t stream) {
  const Ranks ranks(comm);
  const std::size_t all_own = model.elements() / static_cast<std::size_t>(ranks.count);
  auto* outer_gradients = static_cast<float*>(workspace);
  float* block_gradients = outer_gradients + model.size(0);
  auto* rounded = reinterpret_cast<__nv_bfloat16*>(block_gradients + 2 * model.size(1));
  __nv_bfloat16 *outer = rounded + all_own, *block = outer + model.size(0);
  auto part = [&](int u) { return model.size(u) / static_cast<std::size_t>(ranks.count); };
  auto own = [&](int u) { return model.begin(u) / static_cast<std::size_t>(ranks.count); };
  auto weights_of = [&](int u) { return u == 0 ? outer : block + static_cast<std::size_t>(u % 3) * model.size(1); };
  auto gather = [&](int u) { ncclAllGather(rounded + own(u), weights_of(u), part(u), ncclBfloat16, comm, stream); };
  auto finish = [&](int u, const float* unit) {
    ncclReduceScatter(unit, gradients + own(u), part(u), ncclFloat, ncclSum, comm, stream);
    adamw_kernel<<<static_cast<unsigned>((part(u) + 255) / 256), 256, 0, stream>>>(
        weights + own(u), gradients + own(u), m + own(u), v + own(u), part(u), adam);
  };
  const int L = model.blocks();
  cudaMemsetAsync(outer_gradients, 0, model.size(0) * sizeof(float), stream);
  narrow_kernel<<<static_cast<unsigned>((all_own + 255) / 256), 256, 0, stream>>>(weights, rounded, all_own);
  gather(0);
  model.embed(outer, batch);
  for (int u = 1; u <= L; ++u) gather(u), model.forward(u, weights_of(u), batch);
  model.head(outer, outer_gradients, batch, 1.0f / static_cast<float>(all_tokens));
  for (int u = L; u >= 1; --u) {
    if (u + 3 <= L) gather(u);
    cudaMemsetAsync(block_gradients, 0, model.size(u) * sizeof(float), stream);
    model.backward(u, weights_of(u), block_gradients, batch);
    finish(u, block_gradients);
  }
  model.embed_backward(outer_gradients, batch);
  finish(0, outer_gradients);
}
