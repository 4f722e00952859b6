// expects: out-of-bounds shared store of 4 bytes at 5, cudaErrorIllegalAddress
// The launch asks for fewer bytes of shared memory than the kernel uses.
__global__ void use(float* out) {
  extern __shared__ float box[];
  box[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = box[0];
}

int main() {
  float* out;
  cudaMalloc(&out, 64 * sizeof(float));
  use<<<1, 64, 64>>>(out);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
