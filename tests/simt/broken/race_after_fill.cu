// sanitize: race on shared memory at 7; other 6
// The neighbour's element is read without a barrier after all threads have stored theirs.
__global__ void neighbour(float* data) {
  __shared__ float box[256];
  unsigned t = threadIdx.x;
  box[t] = data[t];
  data[t] = box[(t + 1) % 256];
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  neighbour<<<1, 256>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
