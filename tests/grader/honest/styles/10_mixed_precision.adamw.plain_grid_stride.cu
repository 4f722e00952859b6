// Style: the plain one: an element a thread in a grid-stride loop of 64 bits, conversions by overload, one kernel.
#include "precision.hpp"

namespace {

template <class T>
struct Number;
template <>
struct Number<float> {
  static __device__ float get(float x) { return x; }
};
template <>
struct Number<__half> {
  static __device__ float get(__half x) { return __half2float(x); }
  static __device__ __half put(float x) { return __float2half_rn(x); }
};
template <>
struct Number<__nv_bfloat16> {
  static __device__ float get(__nv_bfloat16 x) { return __bfloat162float(x); }
  static __device__ __nv_bfloat16 put(float x) { return __float2bfloat16_rn(x); }
};

// All arrays: (n); state: one
template <class G, class W>
__global__ void adamw_elements(const G* gradient, const float* w, const float* m, const float* v, float* new_w,
                               float* new_m, float* new_v, W* weights, std::size_t n, AdamWStep s,
                               const LossScale* state) {
  const bool skip = state->skip == 1;
  const float unscale = state->unscale, t = static_cast<float>(state->updates);
  const float correct1 = 1.0f / -expm1f(t * logf(s.beta1)), correct2 = 1.0f / -expm1f(t * logf(s.beta2));
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
       i += std::size_t{blockDim.x} * gridDim.x) {
    float wi = w[i], mi = m[i], vi = v[i];
    if (!skip) {
      const float g = Number<G>::get(gradient[i]) * unscale;
      mi = s.beta1 * mi + (1 - s.beta1) * g;
      vi = s.beta2 * vi + (1 - s.beta2) * g * g;
      wi -= s.rate * (mi * correct1 / (sqrtf(vi * correct2) + s.epsilon) + s.decay * wi);
    }
    new_w[i] = wi;
    new_m[i] = mi;
    new_v[i] = vi;
    weights[i] = Number<W>::put(wi);
  }
}

}  // namespace

template <class G, class W>
void adamw(const G* gradient, const float* w, const float* m, const float* v, float* new_w, float* new_m, float* new_v,
           W* weights, std::size_t n, const AdamWStep& step, const LossScale* state, cudaStream_t stream) {
  if (n == 0) return;
  int blocks = 0, threads = 0;
  cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, adamw_elements<G, W>, 0, 0);
  const std::size_t need = (n + 4 * threads - 1) / (4 * threads);  // four turns, so that the state is read seldom
  adamw_elements<G, W><<<static_cast<unsigned>(need < 8ull * blocks ? need : 8ull * blocks), threads, 0, stream>>>(
      gradient, w, m, v, new_w, new_m, new_v, weights, n, step, state);
}

template void adamw(const __nv_bfloat16*, const float*, const float*, const float*, float*, float*, float*,
                    __nv_bfloat16*, std::size_t, const AdamWStep&, const LossScale*, cudaStream_t);
template void adamw(const float*, const float*, const float*, const float*, float*, float*, float*, __half*,
                    std::size_t, const AdamWStep&, const LossScale*, cudaStream_t);
