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
void zero2(Model& model, float* weights, const Batch& batch, long long all_tokens, const AdamW& adam, float* gradients,
           float* m, float* v, void* workspace, std::size_t, ncclComm_t comm, cudaStream_t stream) {
  // TODO: this rank keeps nothing of what it computes. Reduce-scatter each unit's gradients while the next unit is at work, update
  // the own part, and gather the unit's weights.
  auto* outer = static_cast<float*>(workspace);  // gradients of unit 0
  float* block = outer + model.size(0);          // and of two blocks
  const float scale = 1.0f / static_cast<float>(all_tokens);
  cudaMemsetAsync(outer, 0, model.size(0) * sizeof(float), stream);
  model.embed(weights, batch);
  for (int u = 1; u <= model.blocks(); ++u) model.forward(u, weights + model.begin(u), batch);
  model.head(weights, outer, batch, scale);
  for (int u = model.blocks(); u >= 1; --u) {
    cudaMemsetAsync(block, 0, model.size(u) * sizeof(float), stream);
    model.backward(u, weights + model.begin(u), block, batch);
  }
  model.embed_backward(outer, batch);
  (void)adam, (void)gradients, (void)m, (void)v, (void)comm;
}
// END(zero2)
