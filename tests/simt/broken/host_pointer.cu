// expects: illegal store of 4 bytes at 3, cudaErrorIllegalAddress
// The kernel got the host's array.
__global__ void set(int* out) { out[threadIdx.x] = 1; }

int main() {
  int* host = new int[32];
  set<<<1, 32>>>(host);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
