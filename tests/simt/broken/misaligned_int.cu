// expects: misaligned load of 4 bytes at 5, cudaErrorMisalignedAddress
// A header of three bytes in front of the numbers.
__global__ void parse(unsigned char* data) {
  int* numbers = reinterpret_cast<int*>(data + 3);
  data[0] = numbers[threadIdx.x] != 0;
}

int main() {
  unsigned char* data;
  cudaMalloc(&data, 100 * sizeof(unsigned char));
  parse<<<1, 4>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
