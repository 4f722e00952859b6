// sanitize: uninitialised global load of 4 bytes at 4
// C += A B without a cleared C.
__global__ void add_product(const float* a, const float* b, float* c) {
  c[threadIdx.x] += a[threadIdx.x] * b[threadIdx.x];
}

int main() {
  float *a, *c;
  cudaMalloc(&a, 32 * sizeof(float));
  cudaMalloc(&c, 32 * sizeof(float));
  cudaMemset(a, 0, 32 * sizeof(float));
  add_product<<<1, 32>>>(a, a, c);
  cudaDeviceSynchronize();
  cudaFree(a);
  cudaFree(c);
}
