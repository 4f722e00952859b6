// expects: wrong result
// As missing_barrier.cu, between the lanes of one warp. Ascending lanes hide it.
__global__ void shift(int* out) {
  __shared__ int box[32];
  int t = threadIdx.x;
  box[t] = t;
  out[t] = t == 0 ? 0 : box[t - 1];
}

int main() {
  int *d, out[32];
  cudaMalloc(&d, sizeof out);
  shift<<<1, 32>>>(d);
  if (cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  bool good = true;
  for (int t = 1; t < 32; ++t) good = good && out[t] == t - 1;
  std::puts(good ? "ok" : "wrong result");
  return good ? 0 : 1;
}
