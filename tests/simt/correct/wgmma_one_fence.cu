// arch: sm_90a
// One wgmma.fence, then products of one shape into the same registers, each waited for: registers that nothing else touches
// need no further fence.
#include <cstdint>

#include "../programs/check.hpp"

extern __shared__ __align__(1024) unsigned char tiles[];  // a: 64 x 16, b: 8 x 16, of bf16 ones

__device__ inline std::uint64_t tile_of(const void* p) {
  const std::uint64_t address = __cvta_generic_to_shared(p);
  return (address & 0x3FFFF) >> 4 | std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32;
}

// d: 128 threads x 4 sums
__global__ void k(float* out, int turns) {
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) reinterpret_cast<unsigned*>(tiles)[i] = 0x3F803F80;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const std::uint64_t a = tile_of(tiles), b = tile_of(tiles + 2048);
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int turn = 0; turn < turns; ++turn) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];
}

int main() {
  constexpr int kTurns = 5;
  float* out = nullptr;
  cudaMallocManaged(&out, 512 * sizeof(float));
  k<<<1, 128, 4096>>>(out, kTurns);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "cudaDeviceSynchronize");
  for (int i = 0; i < 512; ++i) expect(out[i] == 16 * kTurns, "each sum has 16 ones of each turn");
  cudaFree(out);
  std::puts("ok");
}
