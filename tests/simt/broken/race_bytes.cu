// sanitize: race on shared memory at 6; other 7
// Characters: two threads share a word but not a byte, which is fine; the reversed read lacks its barrier.
__global__ void reverse(char* data) {
  __shared__ char text[64];
  unsigned t = threadIdx.x;
  text[t] = data[t];
  data[64 + t] = text[(t + 7) % 64];
}

int main() {
  char* data;
  cudaMalloc(&data, 256 * sizeof(char));
  cudaMemset(data, 0, 256 * sizeof(char));
  reverse<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
