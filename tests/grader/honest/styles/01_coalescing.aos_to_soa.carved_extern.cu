// Style: extern __shared__ carved by hand into two planes of float4, and vectors read member by member.
#include "coalescing.hpp"

extern __shared__ unsigned char soa_scratch[];

namespace {

// in: n particles, as 2 n float4; out: 8 x n floats
__global__ void split_planes(const float4* __restrict__ in, float* __restrict__ out, size_t n) {
  float4* const place = reinterpret_cast<float4*>(soa_scratch);
  float4* const motion = place + blockDim.x;
  const unsigned t = threadIdx.x;
  const size_t first = static_cast<size_t>(blockIdx.x) * blockDim.x;
  for (unsigned k = t; k < 2 * blockDim.x; k += blockDim.x) {
    if (2 * first + k >= 2 * n) continue;
    const float4 v = in[2 * first + k];
    if (k & 1)
      motion[k >> 1] = v;
    else
      place[k >> 1] = v;
  }
  __syncthreads();
  const size_t i = first + t;
  if (i >= n) return;
  const float4 p = place[t], q = motion[t];
  out[i] = p.x;
  out[n + i] = p.y;
  out[2 * n + i] = p.z;
  out[3 * n + i] = p.w;
  out[4 * n + i] = q.x;
  out[5 * n + i] = q.y;
  out[6 * n + i] = q.z;
  out[7 * n + i] = q.w;
}

}  // namespace

void aos_to_soa(const Particle* in, float* out, size_t n, void*, size_t, cudaStream_t stream) {
  const int threads = 192;
  const size_t blocks = (n + threads - 1) / threads;
  split_planes<<<dim3(blocks), dim3(threads), 2 * threads * sizeof(float4), stream>>>(
      reinterpret_cast<const float4*>(in), out, n);
}
