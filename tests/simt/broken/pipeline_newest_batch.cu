// sanitize: read of shared memory before its copy has arrived at 16; other 12
#include <cuda_pipeline.h>

// in: 2 x 32; out: 32. Two batches are under way, and the wait leaves the newest one, which is used too early.
__global__ void add_halves(const float* in, float* out) {
  __shared__ float tile[2][32];
  const unsigned i = threadIdx.x;
  __pipeline_memcpy_async(tile[0] + i, in + i, sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  const float first = tile[0][i];
  __pipeline_memcpy_async(tile[1] + i, in + 32 + i, sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  out[i] = first + tile[1][i];
}

int main() {
  float *in, *out;
  cudaMalloc(&in, 64 * sizeof(float));
  cudaMalloc(&out, 32 * sizeof(float));
  cudaMemset(in, 0, 64 * sizeof(float));
  add_halves<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
