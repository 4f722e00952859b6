// Style: llm.c's Packed128: 16 bytes of any type by one int4, here four elements a thread, halves as 8 bytes.
#include <string.h>

#include "precision.hpp"

namespace {

template <class T>
struct Four {
  T payload[4];
  using Bits = typename std::conditional<sizeof(T) == 4, int4, int2>::type;
  Four() = default;
  __device__ explicit Four(Bits bits) { memcpy(payload, &bits, sizeof bits); }
  __device__ T& operator[](int i) { return payload[i]; }
  __device__ const T& operator[](int i) const { return payload[i]; }
  __device__ Bits bits() const {
    Bits b;
    memcpy(&b, payload, sizeof b);
    return b;
  }
};

template <class T>
__device__ Four<T> load4(const T* address, std::size_t i, std::size_t n) {
  if (i + 4 <= n) return Four<T>(*reinterpret_cast<const typename Four<T>::Bits*>(address + i));
  Four<T> four;
  for (int j = 0; j < 4; ++j) four[j] = i + j < n ? address[i + j] : T(0.0f);
  return four;
}
template <class T>
__device__ void store4(T* address, const Four<T>& four, std::size_t i, std::size_t n) {
  if (i + 4 <= n)
    *reinterpret_cast<typename Four<T>::Bits*>(address + i) = four.bits();
  else
    for (int j = 0; j < 4 && i + j < n; ++j) address[i + j] = four[j];
}

__device__ float lerp(float start, float end, float weight) { return fmaf(weight, end, fmaf(-weight, start, start)); }

// All arrays: (n), four elements a thread; state: one
template <class G, class W>
__global__ void __launch_bounds__(256)
    adamw_packed(const G* gradient, const float* w, const float* m, const float* v, float* new_w, float* new_m,
                 float* new_v, W* weights, std::size_t n, float rate, float beta1, float beta2, float epsilon,
                 float decay, const LossScale* state) {
  const std::size_t i = 4 * (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const LossScale s = *state;
  Four<float> pw = load4(w, i, n), pm = load4(m, i, n), pv = load4(v, i, n);
  if (s.skip != 1) {
    const Four<G> pg = load4(gradient, i, n);
    const float bias1 = -expm1f(s.updates * logf(beta1)), bias2 = -expm1f(s.updates * logf(beta2));
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float g = static_cast<float>(pg[j]) * s.unscale;
      pm[j] = lerp(g, pm[j], beta1);
      pv[j] = lerp(g * g, pv[j], beta2);
      pw[j] -= rate * (pm[j] / bias1 / (sqrtf(pv[j] / bias2) + epsilon) + decay * pw[j]);
    }
  }
  Four<W> rounded;
#pragma unroll
  for (int j = 0; j < 4; ++j) rounded[j] = W(pw[j]);
  store4(new_w, pw, i, n);
  store4(new_m, pm, i, n);
  store4(new_v, pv, i, n);
  store4(weights, rounded, i, n);
}

}  // namespace

template <class G, class W>
void adamw(const G* gradient, const float* w, const float* m, const float* v, float* new_w, float* new_m, float* new_v,
           W* weights, std::size_t n, const AdamWStep& step, const LossScale* state, cudaStream_t stream) {
  const auto grid = static_cast<unsigned>((n + 1023) / 1024);
  if (grid == 0) return;
  adamw_packed<<<grid, 256, 0, stream>>>(gradient, w, m, v, new_w, new_m, new_v, weights, n, step.rate, step.beta1,
                                         step.beta2, step.epsilon, step.decay, state);
}

template void adamw(const __nv_bfloat16*, const float*, const float*, const float*, float*, float*, float*,
                    __nv_bfloat16*, std::size_t, const AdamWStep&, const LossScale*, cudaStream_t);
template void adamw(const float*, const float*, const float*, const float*, float*, float*, float*, __half*,
                    std::size_t, const AdamWStep&, const LossScale*, cudaStream_t);
