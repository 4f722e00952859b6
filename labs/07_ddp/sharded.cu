// Lab 07, task `sharded`: each rank keeps the optimizer of its own part of the weights (ZeRO, stage 1).
//
// Run: ./ridge check 07 --task sharded
#include "ddp.hpp"

// w, g, m, v: n floats. One thread an element.
__global__ void adamw_kernel(float* w, const float* g, float* m, float* v, std::size_t n, AdamW a) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  m[i] = a.beta1 * m[i] + (1 - a.beta1) * g[i];
  v[i] = a.beta2 * v[i] + (1 - a.beta2) * g[i] * g[i];
  const float step = m[i] * a.correction1 / (sqrtf(v[i] * a.correction2) + a.epsilon);
  w[i] -= a.rate * (step + a.decay * w[i]);
}

// TASK(sharded)
void sharded(Model& model, float* weights, const Batch& batch, long long all_tokens, const AdamW& adam, float* m,
             float* v, void* workspace, std::size_t, ncclComm_t comm, cudaStream_t stream) {
  // TODO: m and v are of n / p elements. Sum the gradients of these, update their weights with adamw_kernel, and give all ranks
  // all weights.
  auto* gradients = static_cast<float*>(workspace);
  cudaMemsetAsync(gradients, 0, model.elements() * sizeof(float), stream);
  model.forward(weights, batch, 1.0f / static_cast<float>(all_tokens));
  model.backward(weights, batch, gradients);
}
// END(sharded)
