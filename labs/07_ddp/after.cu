// Lab 07, task `after`: a step of data parallelism, communication after computation.
//
// Each rank has rank 0's weights and a batch of its own; one all-reduce adds the gradients; all ranks make the same
// update. Run: ./ridge check 07 --task after
#include "ddp.hpp"

// w, g: n floats. One thread an element.
__global__ void sgd_kernel(float* w, const float* g, std::size_t n, float rate) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) w[i] -= rate * g[i];
}

// TASK(after)
void after(Model& model, float* weights, const Batch& batch, long long all_tokens, float rate, float* gradients,
           ncclComm_t comm, cudaStream_t stream) {
  // TODO: this is a rank that trains alone. Which weights does it begin with, whose tokens does it average over, and what must
  // happen between backward and the update?
  const std::size_t n = model.elements();
  const long long own_tokens = static_cast<long long>(batch.sequences) * model.tokens_of_sequence();
  cudaMemsetAsync(gradients, 0, n * sizeof(float), stream);
  model.forward(weights, batch, 1.0f / static_cast<float>(own_tokens));
  model.backward(weights, batch, gradients);
  sgd_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(weights, gradients, n, rate);
}
// END(after)
