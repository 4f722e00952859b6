// sanitize: race between blocks at 11; other 5
// The fence stands behind the counter: who sees the count may not see the data yet.
__global__ void pass(float* data, unsigned* counter) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    atomicAdd(counter, 1);
    __threadfence();
  } else {
    while (atomicAdd(counter, 0) == 0) {
    }
    data[1] = data[0];
  }
}

int main() {
  float* data;
  unsigned* counter;
  cudaMalloc(&data, 2 * sizeof(float));
  cudaMalloc(&counter, sizeof(unsigned));
  cudaMemset(counter, 0, sizeof(unsigned));
  pass<<<2, 1>>>(data, counter);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(counter);
}
