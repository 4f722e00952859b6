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

// TASK(zero3)
void zero3(Model& model, float* weights, const Batch& batch, long long all_tokens, const AdamW& adam, float* gradients,
           float* m, float* v, void* workspace, std::size_t, ncclComm_t comm, cudaStream_t stream) {
  // TODO: gather unit 0 and each block before its use, two blocks ahead; then backward as in zero2. So far the weights that the
  // kernels read are whatever the workspace holds.
  auto* outer = static_cast<float*>(workspace);        // weights of unit 0
  float* outer_gradients = outer + model.size(0);      // and their gradients
  float* block = outer_gradients + model.size(0);      // weights of three blocks
  float* block_gradients = block + 3 * model.size(1);  // gradients of two blocks
  cudaMemsetAsync(outer, 0, 2 * model.size(0) * sizeof(float), stream);
  cudaMemsetAsync(block, 0, 3 * model.size(1) * sizeof(float), stream);
  model.embed(outer, batch);
  for (int u = 1; u <= model.blocks(); ++u) model.forward(u, block, batch);
  model.head(outer, outer_gradients, batch, 1.0f / static_cast<float>(all_tokens));
  (void)weights, (void)block_gradients, (void)adam, (void)gradients, (void)m, (void)v, (void)comm;
}
// END(zero3)
