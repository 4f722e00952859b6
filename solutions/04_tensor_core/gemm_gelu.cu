// Lab 04, task `gemm_gelu`: c = gelu(a b^T + bias), fused into one kernel.
//
// The kernel below multiplies, one element a thread, and forgets the bias and the activation. Take your best product
// (WMMA; on a Hopper GPU that of task `gemm`) and finish each element while it is still in a register.
// Run: ./ridge check 04 --task gemm_gelu
#include <mma.h>

#include "tensor_core.hpp"

// TASK(gemm_gelu)
#include "hopper_gemm.cuh"
#include "wmma_tile.cuh"

// gelu in its tanh form. 1 + tanh(u) = 2 / (1 + e^(-2 u)): no difference of near numbers, and one exponential.
__device__ inline float gelu(float x) {
  const float u = 0.7978845608f * (x + 0.044715f * x * x * x);
  return __fdividef(x, 1.0f + __expf(-2.0f * u));
}

// The two bf16 in a word: a bf16 is the upper half of a float.
__device__ inline float2 unpack(unsigned word) {
  return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xFFFF0000u));
}

// a: m x k; b: n x k; bias: n; c: m x n, all row-major. A block computes a 128 x 128 tile of c.
__global__ void __launch_bounds__(wmma_tile::kThreads, 2)
    gemm_gelu_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, const __nv_bfloat16* bias, __nv_bfloat16* c, int m,
                     int n, int k) {
  wmma_tile::multiply(a, b, c, m, n, k, [bias](int column) {
    const uint2 bits = *reinterpret_cast<const uint2*>(bias + column);  // four of them
    return [low = unpack(bits.x), high = unpack(bits.y)](float4 x) {
      return make_float4(gelu(x.x + low.x), gelu(x.y + low.y), gelu(x.z + high.x), gelu(x.w + high.y));
    };
  });
}

// For hopper::multiply: the accumulators at a column and the next. The tensor cores wait meanwhile, and the units for exponentials
// and reciprocals do 16 a cycle: two numbers share a reciprocal, 1 / (1 + e) = (1 + f) / ((1 + e) (1 + f)).
struct BiasGelu {
  const __nv_bfloat16* bias;
  int n;

  // exp(-2 u), at most 2^60, so that the product of two is a number.
  __device__ static float power(float x) {
    constexpr float first = -2 * 0.7978845608f * 1.4426950409f;  // base 2
    return ptx::exp2_approx(fminf(x * fmaf(0.044715f * first, x * x, first), 60.0f));
  }
  __device__ uint32_t operator()(float x, float y, int column) const {
    const float2 add = unpack(column < n ? __ldg(reinterpret_cast<const unsigned*>(bias + column)) : 0);
    x += add.x;
    y += add.y;
    const float one_e = 1 + power(x), one_f = 1 + power(y);
    const float both = ptx::reciprocal_approx(one_e * one_f);
    return ptx::pack(x * (one_f * both), y * (one_e * both));
  }
};

void gemm_gelu(const __nv_bfloat16* a, const __nv_bfloat16* b, const __nv_bfloat16* bias, __nv_bfloat16* c, int m,
               int n, int k, void*, std::size_t, cudaStream_t stream) {
  int device = 0, major = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (major == 9) {
    hopper::multiply(a, b, c, m, n, k, BiasGelu{bias, n}, stream);
    return;
  }
  wmma_tile::launch(gemm_gelu_kernel, m, n, stream, a, b, bias, c, m, n, k);
}
// END(gemm_gelu)
