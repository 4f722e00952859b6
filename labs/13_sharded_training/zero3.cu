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
void zero3(Model& model, float* weights, const Batch& batch, long long all_tokens, const AdamW& adam, float* gradients,
           float* m, float* v, void* workspace, std::size_t, ncclComm_t comm, cudaStream_t stream) {
  // TODO: round the own part, gather unit 0 and each block before its use, two blocks ahead; then backward as in zero2. So far the
  // weights that the kernels read are 0.
  int p = 1;
  ncclCommCount(comm, &p);
  auto* outer_gradients = static_cast<float*>(workspace);                                 // of unit 0
  float* block_gradients = outer_gradients + model.size(0);                               // of two blocks
  auto* rounded = reinterpret_cast<__nv_bfloat16*>(block_gradients + 2 * model.size(1));  // the own buffer in bf16
  __nv_bfloat16* outer = rounded + model.elements() / static_cast<std::size_t>(p);        // weights of unit 0
  __nv_bfloat16* block = outer + model.size(0);                                           // weights of three blocks
  cudaMemsetAsync(outer_gradients, 0, model.size(0) * sizeof(float), stream);
  cudaMemsetAsync(outer, 0, (model.size(0) + 3 * model.size(1)) * sizeof(__nv_bfloat16), stream);
  model.embed(outer, batch);
  for (int u = 1; u <= model.blocks(); ++u) model.forward(u, block, batch);
  model.head(outer, outer_gradients, batch, 1.0f / static_cast<float>(all_tokens));
  (void)weights, (void)adam, (void)gradients, (void)m, (void)v;
}
// END(zero3)
