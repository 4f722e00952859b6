// Dynamic shared memory that a launch asks for and no kernel names: from the host, and from a kernel. nvcc: -rdc=true
#include <cstdio>

__global__ void child(int* out) { atomicAdd(out, 1); }

__global__ void parent(int* out) {
  if (threadIdx.x == 0) child<<<2, 32, 8 * sizeof(int)>>>(out);
}

int main() {
  int* out = nullptr;
  cudaMallocManaged(&out, sizeof *out);
  *out = 0;
  parent<<<1, 32, 4096>>>(out);
  if (cudaDeviceSynchronize() != cudaSuccess || *out != 64) return std::printf("%d\n", *out), 1;
  std::printf("ok\n");
}
