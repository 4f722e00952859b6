// sanitize: uninitialised global load of 4 bytes at 3
// The copy counts elements where it should count bytes: a quarter arrives.
__global__ void twice(float* data) { data[threadIdx.x] *= 2; }

int main() {
  float host[64] = {}, *data;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, 64, cudaMemcpyHostToDevice);
  twice<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
