// Exclusive prefix sum over many blocks in three kernels, and stream compaction built on it.
#include "sample.hpp"

constexpr int kThreads = 128, kItems = 2 * kThreads;

// Blelloch's scan of kItems values; sums[b] gets the total of block b.
__global__ void scan_block(const int* in, int* out, int* sums, int n) {
  __shared__ int s[kItems];
  const int t = threadIdx.x, base = blockIdx.x * kItems;
  s[2 * t] = base + 2 * t < n ? in[base + 2 * t] : 0;
  s[2 * t + 1] = base + 2 * t + 1 < n ? in[base + 2 * t + 1] : 0;
  int offset = 1;
  for (int d = kThreads; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  __syncthreads();
  if (t == 0) {
    sums[blockIdx.x] = s[kItems - 1];
    s[kItems - 1] = 0;
  }
  for (int d = 1; d < kItems; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
      int left = s[a];
      s[a] = s[b];
      s[b] += left;
    }
  }
  __syncthreads();
  if (base + 2 * t < n) out[base + 2 * t] = s[2 * t];
  if (base + 2 * t + 1 < n) out[base + 2 * t + 1] = s[2 * t + 1];
}

__global__ void add_offsets(int* out, const int* offsets, int n) {
  const int base = blockIdx.x * kItems;
  const int offset = offsets[blockIdx.x];
  for (int i = base + threadIdx.x; i < n && i < base + kItems; i += kThreads) out[i] += offset;
}

void exclusive_scan(const int* in, int* out, int n) {
  const int blocks = blocks_for(n, kItems);
  int *sums = device_array<int>(blocks), *offsets = device_array<int>(blocks);
  scan_block<<<blocks, kThreads>>>(in, out, sums, n);
  CUDA_CHECK(cudaGetLastError());
  if (blocks > 1) {
    exclusive_scan(sums, offsets, blocks);
    add_offsets<<<blocks, kThreads>>>(out, offsets, n);
    CUDA_CHECK(cudaGetLastError());
  }
  CUDA_CHECK(cudaFree(sums));
  CUDA_CHECK(cudaFree(offsets));
}

__global__ void mark(const float* in, int* flags, int n, float limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) flags[i] = in[i] > limit;
}

__global__ void scatter(const float* in, const int* flags, const int* places, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && flags[i]) out[places[i]] = in[i];
}

int main() {
  Random random(4);
  for (int n : {1, 255, 256, 257, 70001}) {  // the last needs three levels
    std::vector<int> in(n), wanted(n);
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      in[i] = random.below(100) - 20;
      wanted[i] = sum;
      sum += in[i];
    }
    int *d_in = to_device(in), *d_out = device_array<int>(n);
    exclusive_scan(d_in, d_out, n);
    expect_equal(to_host(d_out, n), wanted, "prefix sum");
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
  }

  const int n = 10007;
  std::vector<float> in = random.floats(n), kept;
  for (float x : in)
    if (x > 0.3f) kept.push_back(x);
  float *d_in = to_device(in), *d_out = device_array<float>(n);
  int *d_flags = device_array<int>(n), *d_places = device_array<int>(n);
  mark<<<blocks_for(n, 128), 128>>>(d_in, d_flags, n, 0.3f);
  exclusive_scan(d_flags, d_places, n);
  scatter<<<blocks_for(n, 128), 128>>>(d_in, d_flags, d_places, d_out, n);
  CUDA_CHECK(cudaGetLastError());
  int last_place = 0, last_flag = 0;
  CUDA_CHECK(cudaMemcpy(&last_place, d_places + n - 1, sizeof(int), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(&last_flag, d_flags + n - 1, sizeof(int), cudaMemcpyDeviceToHost));
  expect(last_place + last_flag == static_cast<int>(kept.size()), "number of elements kept");
  expect_equal(to_host(d_out, kept.size()), kept, "compaction keeps the order");
  CUDA_CHECK(cudaFree(d_in));
  CUDA_CHECK(cudaFree(d_out));
  CUDA_CHECK(cudaFree(d_flags));
  CUDA_CHECK(cudaFree(d_places));
  std::puts("ok");
}
