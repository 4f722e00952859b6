// expects: wrong result
// Reads what the warp before wrote to shared memory without a barrier. Ascending warps hide it.
__global__ void shift(int* out) {
  __shared__ int box[256];
  int t = threadIdx.x;
  box[t] = t;
  out[t] = t < 32 ? 0 : box[t - 32];
}

int main() {
  int *d, out[256];
  cudaMalloc(&d, sizeof out);
  shift<<<1, 256>>>(d);
  if (cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  bool good = true;
  for (int t = 32; t < 256; ++t) good = good && out[t] == t - 32;
  std::puts(good ? "ok" : "wrong result");
  return good ? 0 : 1;
}
