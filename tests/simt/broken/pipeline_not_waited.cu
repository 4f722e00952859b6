// sanitize: read of shared memory before its copy has arrived at 11; other 8
#include <cuda_pipeline.h>

// in, out: a block's threads. Each thread copies a number, and its neighbour reads it behind a barrier.
__global__ void reverse(const float* in, float* out) {
  __shared__ float tile[64];
  const unsigned i = threadIdx.x;
  __pipeline_memcpy_async(tile + i, in + i, sizeof(float));
  __pipeline_commit();
  __syncthreads();
  out[i] = tile[63 - i];
}

int main() {
  float *in, *out;
  cudaMalloc(&in, 64 * sizeof(float));
  cudaMalloc(&out, 64 * sizeof(float));
  cudaMemset(in, 0, 64 * sizeof(float));
  reverse<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
