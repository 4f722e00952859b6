// expects: wrong result
// As stale_shared.cu, between the blocks of one launch and with dynamic shared memory.
__global__ void accumulate(float* out) {
  extern __shared__ float sum[];
  if (blockIdx.x == 0) *sum = 0;
  *sum += 1;
  out[blockIdx.x] = *sum;
}

int main() {
  float *d, out[4];
  cudaMalloc(&d, sizeof out);
  accumulate<<<4, 1, sizeof(float)>>>(d);
  if (cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  bool good = out[3] == 4;
  std::puts(good ? "ok" : "wrong result");
  return good ? 0 : 1;
}
