// expects: misaligned load of 16 bytes at 5, cudaErrorMisalignedAddress
// A float4 read that starts at the second float.
__global__ void copy(const float* in, float4* out) {
  auto vectors = reinterpret_cast<const float4*>(in + 1);
  out[threadIdx.x] = vectors[threadIdx.x];
}

int main() {
  float *in, *out;
  cudaMalloc(&in, 1024);
  cudaMalloc(&out, 1024);
  copy<<<1, 32>>>(in, reinterpret_cast<float4*>(out));
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
