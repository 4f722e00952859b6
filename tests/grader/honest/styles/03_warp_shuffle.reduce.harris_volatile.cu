// Style: Mark Harris's classic: a tree in dynamic shared memory, unrolled by macros, the last warp with volatile reads.
#include "warp_shuffle.hpp"

#define STEP(half)                                                        \
  if (block_size >= 2 * (half)) {                                         \
    if (tid < (half)) sdata[tid] = my_sum = my_sum + sdata[tid + (half)]; \
    __syncthreads();                                                      \
  }

namespace {

// g_idata: n floats; g_odata: a float for each block; dynamic shared memory: block_size floats
template <unsigned int block_size>
__global__ void harris6(const float* g_idata, float* g_odata, size_t n) {
  extern __shared__ float sdata[];
  const unsigned int tid = threadIdx.x;
  size_t i = (size_t)blockIdx.x * block_size + tid;
  const size_t grid_size = (size_t)block_size * gridDim.x;
  float my_sum = 0;
  for (; i < n; i += grid_size) my_sum += g_idata[i];
  sdata[tid] = my_sum;
  __syncthreads();
  STEP(256)
  STEP(128)
  STEP(64)
  if (tid < 32) {
    volatile float* vsmem = sdata;
    if (block_size >= 64) my_sum += vsmem[tid + 32];
    for (int offset = 16; offset > 0; offset >>= 1) {
      __syncwarp();
      vsmem[tid] = my_sum;
      __syncwarp();
      my_sum += vsmem[tid ^ offset];
    }
    if (tid == 0) g_odata[blockIdx.x] = my_sum;
  }
}

}  // namespace

void reduce(const float* in, float* out, size_t n, void* workspace, size_t, cudaStream_t stream) {
  float* partial = (float*)workspace;
  size_t blocks = (n + 128 * 128 - 1) / (128 * 128);
  if (blocks > 1024) blocks = 1024;
  harris6<128><<<(unsigned)blocks, 128, 128 * sizeof(float), stream>>>(in, partial, n);
  harris6<64><<<1, 64, 64 * sizeof(float), stream>>>(partial, out, blocks);
}

#undef STEP
