// expects: misaligned store of 8 bytes at 3, cudaErrorMisalignedAddress
// A double behind an odd number of floats.
__global__ void set(float* data) { *reinterpret_cast<double*>(data + 1) = 1; }

int main() {
  float* data;
  cudaMalloc(&data, 100 * sizeof(float));
  set<<<1, 1>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
