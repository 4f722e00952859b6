// sanitize: wgmma without wgmma.fence at 6
// The sums are scaled between two products, and the second has no fence.
#include "hopper.hpp"

__noinline__ __device__ void product(float (&d)[4], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(a), "l"(b)
      : "memory");
}

__global__ void k(const __grid_constant__ CUtensorMap map) {
  float d[4] = {1, 2, 3, 4};
  __shared__ alignas(1024) unsigned char tile[kTile];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_expect(&full, kTile);
    load(tile, &map, &full);
  }
  barrier_wait(&full, 0);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int i = 0; i < 2; ++i) {
    product(d, descriptor(tile), descriptor(tile));
    wgmma_wait();
    for (float& x : d) x *= 0.5f;
  }
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
