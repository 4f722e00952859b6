// expects: launch from a kernel at 5, cudaErrorNotSupported
// Dynamic parallelism, which nvcc refuses too without -rdc=true.
__global__ void child(int* out) { *out = 1; }

__global__ void parent(int* out) { child<<<1, 1>>>(out); }

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  parent<<<1, 1>>>(out);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
