// Lab 10, task `adamw`: one step of AdamW with master weights in fp32 and gradients of 16 bits.
//
// The kernels below keep the weights in bf16 only: small updates are lost. Run: ./ridge check 10 --task adamw
#include "precision.hpp"

// TASK(adamw)
namespace {

__device__ float to_float(float x) { return x; }
__device__ float to_float(__half x) { return __half2float(x); }
__device__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void round_to(__half* to, float x) { *to = __float2half_rn(x); }
__device__ void round_to(__nv_bfloat16* to, float x) { *to = __float2bfloat16_rn(x); }

// All: (n). A thread an element.
template <class G>
__global__ void moments_kernel(const G* gradient, const float* m, const float* v, float* new_m, float* new_v,
                               std::size_t n, AdamWStep s) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float g = to_float(gradient[i]);
  new_m[i] = s.beta1 * m[i] + (1 - s.beta1) * g;
  new_v[i] = s.beta2 * v[i] + (1 - s.beta2) * g * g;
}

// w, m, v, new_w: (n) floats; weights: (n).
template <class W>
__global__ void weights_kernel(const float* w, const float* m, const float* v, float* new_w, W* weights, std::size_t n,
                               AdamWStep s) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  round_to(weights + i, w[i] - s.rate * (m[i] / (sqrtf(v[i]) + s.epsilon) + s.decay * w[i]));
  new_w[i] = to_float(weights[i]);
}

}  // namespace

template <class G, class W>
void adamw(const G* gradient, const float* w, const float* m, const float* v, float* new_w, float* new_m, float* new_v,
           W* weights, std::size_t n, const AdamWStep& step, const LossScale*, cudaStream_t stream) {
  // TODO: the master weights stay in fp32; unscale, skip and t are in the state; and one kernel does it all, with each array read once
  // and written once.
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  moments_kernel<<<blocks, 256, 0, stream>>>(gradient, m, v, new_m, new_v, n, step);
  weights_kernel<<<blocks, 256, 0, stream>>>(w, new_m, new_v, new_w, weights, n, step);
}
// END(adamw)

template void adamw(const __nv_bfloat16*, const float*, const float*, const float*, float*, float*, float*,
                    __nv_bfloat16*, std::size_t, const AdamWStep&, const LossScale*, cudaStream_t);
template void adamw(const float*, const float*, const float*, const float*, float*, float*, float*, __half*,
                    std::size_t, const AdamWStep&, const LossScale*, cudaStream_t);
