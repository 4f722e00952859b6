// replaces: sharded.cu; fails: sharded/memory; backend: cpu
// All ranks give the first part to all.
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

void sharded(Model& model, float* weights, const Batch& batch, long long all_tokens, const AdamW& adam, float* m,
             float* v, void* workspace, std::size_t, ncclComm_t comm, cudaStream_t stream) {
  int r = 0, p = 1;
  ncclCommUserRank(comm, &r);
  ncclCommCount(comm, &p);
  const std::size_t n = model.elements(), own = n / static_cast<std::size_t>(p);
  const std::size_t first = static_cast<std::size_t>(r) * own;
  auto* gradients = static_cast<float*>(workspace);
  cudaMemsetAsync(gradients, 0, n * sizeof(float), stream);
  model.forward(weights, batch, 1.0f / static_cast<float>(all_tokens));
  model.backward(weights, batch, gradients);
  // Both in place: a rank's part lies where it lies in the whole.
  ncclReduceScatter(gradients, gradients + first, own, ncclFloat, ncclSum, comm, stream);
  adamw_kernel<<<static_cast<unsigned>((own + 255) / 256), 256, 0, stream>>>(weights + first, gradients + first, m, v,
                                                                             own, adam);
  ncclAllGather(weights, weights, own, ncclFloat, comm, stream);
}
