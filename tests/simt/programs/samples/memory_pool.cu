// Stream-ordered memory from a pool of the program's own: attributes, reuse between steps, access of the device.
#include "../sample.hpp"

__global__ void fill(int* x, int n, int v) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = v + i;
}
__global__ void sum(const int* a, const int* b, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

int main() {
  const int n = 2000;
  const size_t bytes = n * sizeof(int);
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id = 0;
  cudaMemPool_t pool;
  CUDA_CHECK(cudaMemPoolCreate(&pool, &props));
  unsigned long long keep = 1 << 20, read = 0, used = 0;
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
  expect(read == keep, "the threshold is kept");
  cudaMemAccessDesc access = {};
  access.location = props.location;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  CUDA_CHECK(cudaMemPoolSetAccess(pool, &access, 1));
  cudaMemAccessFlags flags;
  CUDA_CHECK(cudaMemPoolGetAccess(&flags, pool, &access.location));
  expect(flags == cudaMemAccessFlagsProtReadWrite, "the device may use its pool");

  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  int* out;
  CUDA_CHECK(cudaMallocFromPoolAsync(&out, bytes, pool, stream));
  for (int step = 0; step < 3; ++step) {
    int *a, *b;
    CUDA_CHECK(cudaMallocFromPoolAsync(&a, bytes, pool, stream));
    CUDA_CHECK(cudaMallocFromPoolAsync(&b, bytes, pool, stream));
    fill<<<blocks_for(n, 256), 256, 0, stream>>>(a, n, step);
    fill<<<blocks_for(n, 256), 256, 0, stream>>>(b, n, 10 * step);
    sum<<<blocks_for(n, 256), 256, 0, stream>>>(a, b, out, n);
    CUDA_CHECK(cudaFreeAsync(a, stream));
    CUDA_CHECK(cudaFreeAsync(b, stream));
  }
  std::vector<int> got(n), want(n);
  CUDA_CHECK(cudaMemcpyAsync(got.data(), out, bytes, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &used));
  CUDA_CHECK(cudaFreeAsync(out, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < n; ++i) want[i] = 22 + 2 * i;
  expect_equal(got, want, "sums");
  expect(used >= bytes, "memory was used");
  CUDA_CHECK(cudaMemPoolTrimTo(pool, 0));
  CUDA_CHECK(cudaStreamDestroy(stream));
  CUDA_CHECK(cudaMemPoolDestroy(pool));
  std::puts("ok");
}
