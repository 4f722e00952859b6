// expects: illegal load of 4 bytes at 3, cudaErrorIllegalAddress
// The kernel got the address of a local variable of the host.
__global__ void add(const int* a, int* out) { out[threadIdx.x] = *a; }

int main() {
  int a = 3, *out;
  cudaMalloc(&out, 32 * sizeof(int));
  add<<<1, 32>>>(&a, out);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
