// expects: access to foreign local memory at 11, cudaErrorIllegalAddress
// One thread reads another's local variable through a pointer.
#include <cstdio>

__global__ void look(int* out) {
  __shared__ volatile int* other;
  int mine = static_cast<int>(threadIdx.x) * 7;
  volatile int* place = &mine;
  if (threadIdx.x == 3) other = place;
  __syncthreads();
  if (threadIdx.x == 5) out[0] = *other;
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  look<<<1, 32>>>(out);
  cudaError_t e = cudaDeviceSynchronize();
  std::puts(cudaGetErrorName(e));
  return e != cudaSuccess;
}
