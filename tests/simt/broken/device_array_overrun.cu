// expects: out-of-bounds global store of 4 bytes at 6, cudaErrorIllegalAddress
// A __device__ array has a size too.
__device__ int table[64];

__global__ void fill(int n) {
  if (static_cast<int>(threadIdx.x) <= n) table[threadIdx.x] = 1;
}

int main() {
  fill<<<1, 96>>>(64);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
