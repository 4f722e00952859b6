// expects: wrong result
// The second launch counts on what the first one left in shared memory.
__global__ void accumulate(float* out, bool first) {
  __shared__ float sum;
  if (first) sum = 0;
  sum += 1;
  *out = sum;
}

int main() {
  float *d, out = 0;
  cudaMalloc(&d, sizeof out);
  accumulate<<<1, 1>>>(d, true);
  accumulate<<<1, 1>>>(d, false);
  if (cudaMemcpy(&out, d, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  std::puts(out == 2 ? "ok" : "wrong result");
  return out == 2 ? 0 : 1;
}
