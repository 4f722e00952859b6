// Lab 10, task `adamw`: one step of AdamW with master weights in fp32 and gradients of 16 bits.
//
// The kernels below keep the weights in bf16 only: small updates are lost. Run: ./ridge check 10 --task adamw
#include "precision.hpp"

// TASK(adamw)
namespace {

constexpr unsigned kThreads = 256;
constexpr int kTogether = 4;  // elements of a thread: 16 bytes of each float array, 8 of a 16-bit one

__device__ float to_float(float x) { return x; }
__device__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

__device__ void load(const float* from, float (&to)[4]) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}
__device__ void load(const __nv_bfloat16* from, float (&to)[4]) {
  const uint2 four = *reinterpret_cast<const uint2*>(from);
  to[0] = __uint_as_float(four.x << 16), to[1] = __uint_as_float(four.x & 0xffff0000u);
  to[2] = __uint_as_float(four.y << 16), to[3] = __uint_as_float(four.y & 0xffff0000u);
}

__device__ std::uint32_t pair(float low, float high, __half) {
  return static_cast<std::uint32_t>(__half_as_ushort(__float2half_rn(high))) << 16 |
         __half_as_ushort(__float2half_rn(low));
}
__device__ std::uint32_t pair(float low, float high, __nv_bfloat16) {
  return static_cast<std::uint32_t>(__bfloat16_as_ushort(__float2bfloat16_rn(high))) << 16 |
         __bfloat16_as_ushort(__float2bfloat16_rn(low));
}
__device__ void store(float* to, const float (&from)[4]) {
  *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}
template <class W>
__device__ void store(W* to, const float (&from)[4]) {
  *reinterpret_cast<uint2*>(to) = make_uint2(pair(from[0], from[1], W()), pair(from[2], from[3], W()));
}
__device__ void round_to(__half* to, float x) { *to = __float2half_rn(x); }
__device__ void round_to(__nv_bfloat16* to, float x) { *to = __float2bfloat16_rn(x); }

struct Update {
  AdamWStep s;
  float unscale, correction1, correction2;

  __device__ Update(const AdamWStep& step, const LossScale& state) : s(step), unscale(state.unscale) {
    // 1 - beta^t without the cancellation that beta near 1 brings.
    const auto t = static_cast<float>(state.updates);
    correction1 = -expm1f(t * logf(s.beta1)), correction2 = -expm1f(t * logf(s.beta2));
  }
  __device__ void operator()(float gradient, float& w, float& m, float& v) const {
    const float g = gradient * unscale;
    m = s.beta1 * m + (1 - s.beta1) * g;
    v = s.beta2 * v + (1 - s.beta2) * g * g;
    w -= s.rate * (m / correction1 / (sqrtf(v / correction2) + s.epsilon) + s.decay * w);
  }
};

// All: (n). Thread i has elements 4 i to 4 i + 3; the last thread what is left.
template <class G, class W>
__global__ void __launch_bounds__(kThreads)
    adamw_kernel(const G* gradient, const float* w, const float* m, const float* v, float* new_w, float* new_m,
                 float* new_v, W* weights, std::size_t n, AdamWStep step, const LossScale* state) {
  const std::size_t i = (static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x) * kTogether;
  const LossScale now = *state;
  const Update update(step, now);
  if (i + kTogether <= n) {
    float g[4], ws[4], ms[4], vs[4];
    load(gradient + i, g), load(w + i, ws), load(m + i, ms), load(v + i, vs);
    if (now.skip == 0)
      for (int k = 0; k < kTogether; ++k) update(g[k], ws[k], ms[k], vs[k]);
    store(new_w + i, ws), store(new_m + i, ms), store(new_v + i, vs), store(weights + i, ws);
    return;
  }
  for (std::size_t k = i; k < n; ++k) {
    float one_w = w[k], one_m = m[k], one_v = v[k];
    if (now.skip == 0) update(to_float(gradient[k]), one_w, one_m, one_v);
    new_w[k] = one_w, new_m[k] = one_m, new_v[k] = one_v;
    round_to(weights + k, one_w);
  }
}

}  // namespace

template <class G, class W>
void adamw(const G* gradient, const float* w, const float* m, const float* v, float* new_w, float* new_m, float* new_v,
           W* weights, std::size_t n, const AdamWStep& step, const LossScale* state, cudaStream_t stream) {
  const std::size_t threads = (n + kTogether - 1) / kTogether;
  const auto blocks = static_cast<unsigned>((threads + kThreads - 1) / kThreads);
  adamw_kernel<<<blocks, kThreads, 0, stream>>>(gradient, w, m, v, new_w, new_m, new_v, weights, n, step, state);
}
// END(adamw)

template void adamw(const __nv_bfloat16*, const float*, const float*, const float*, float*, float*, float*,
                    __nv_bfloat16*, std::size_t, const AdamWStep&, const LossScale*, cudaStream_t);
template void adamw(const float*, const float*, const float*, const float*, float*, float*, float*, __half*,
                    std::size_t, const AdamWStep&, const LossScale*, cudaStream_t);
