// expects: out-of-bounds global store of 4 bytes at 3, cudaErrorIllegalAddress
// The pitch counts bytes; used as a number of floats, rows lie four times too far apart.
__global__ void fill(float* data, size_t pitch) { data[threadIdx.y * pitch + threadIdx.x] = 1; }

int main() {
  float* data;
  size_t pitch = 256;
  cudaMalloc(&data, 16 * pitch);
  fill<<<1, dim3(32, 16)>>>(data, pitch);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
