// Style: __ldcs and __stcs on float4, unrolled by hand, with the grid's size from the occupancy API.
#include "coalescing.hpp"

namespace {

// in, out: n floats
__global__ void __launch_bounds__(512) copy_hinted(const float* in, float* out, size_t n) {
  const float4* in4 = reinterpret_cast<const float4*>(in);
  float4* out4 = reinterpret_cast<float4*>(out);
  const size_t n4 = n >> 2;
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i + 3 * step < n4; i += 4 * step) {
    const float4 a = __ldcs(in4 + i);
    const float4 b = __ldcs(in4 + i + step);
    const float4 c = __ldcs(in4 + i + 2 * step);
    const float4 d = __ldcs(in4 + i + 3 * step);
    __stcs(out4 + i, a);
    __stcs(out4 + i + step, b);
    __stcs(out4 + i + 2 * step, c);
    __stcs(out4 + i + 3 * step, d);
  }
  for (; i < n4; i += step) __stcs(out4 + i, __ldcs(in4 + i));
  if (blockIdx.x == 0 && threadIdx.x < (n & 3)) {
    const size_t j = (n4 << 2) + threadIdx.x;
    __stcs(out + j, __ldcs(in + j));
  }
}

}  // namespace

void copy(const float* in, float* out, size_t n, void*, size_t, cudaStream_t stream) {
  static int blocks = 0;
  if (blocks == 0) {
    int device = 0, sms = 0, per_sm = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, copy_hinted, 512, 0);
    blocks = sms * per_sm;
  }
  copy_hinted<<<blocks, 512, 0, stream>>>(in, out, n);
}
