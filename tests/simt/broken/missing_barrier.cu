// expects: wrong result
// Reads what lower threads wrote to shared memory without a barrier. Ascending lanes hide it.
__global__ void shift(int* out) {
  __shared__ int box[256];
  int t = threadIdx.x;
  box[t] = t;
  out[t] = t == 0 ? 0 : box[t - 1];
}

int main() {
  int *d, out[256];
  cudaMalloc(&d, sizeof out);
  shift<<<1, 256>>>(d);
  if (cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  for (int t = 1; t < 256; ++t)
    if (out[t] != t - 1) return std::puts("wrong result"), 1;
  std::puts("ok");
}
