// sanitize: race between blocks at 10; other 5
// Block 1 waits for block 0's flag, but nothing orders the flag behind the data: __threadfence() is missing.
__global__ void pass(float* data, volatile int* flag) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    data[1] = data[0];
  }
}

int main() {
  float* data;
  int* flag;
  cudaMalloc(&data, 2 * sizeof(float));
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  pass<<<2, 1>>>(data, flag);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(flag);
}
