// Histograms with atomics: in global memory, privatised in shared memory, and one copy per warp.
#include "sample.hpp"

constexpr int kBins = 64, kThreads = 128;

__global__ void histogram_global(const unsigned char* data, int n, unsigned* bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[data[i] % kBins], 1u);
}

__global__ void histogram_shared(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned mine[kBins];
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[data[i] % kBins], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += blockDim.x)
    if (mine[b] != 0) atomicAdd(&bins[b], mine[b]);
}

// Fewer lanes meet at one address; four bytes at a time, and the rest one by one.
__global__ void histogram_warps(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned copies[kThreads / 32][kBins];
  unsigned* all = &copies[0][0];
  for (int b = threadIdx.x; b < kBins * (kThreads / 32); b += kThreads) all[b] = 0;
  __syncthreads();
  unsigned* mine = copies[threadIdx.x / 32];
  const uchar4* fours = reinterpret_cast<const uchar4*>(data);
  const int first = blockIdx.x * kThreads + threadIdx.x, step = gridDim.x * kThreads;
  for (int i = first; i < n / 4; i += step) {
    uchar4 v = fours[i];
    atomicAdd(&mine[v.x % kBins], 1u);
    atomicAdd(&mine[v.y % kBins], 1u);
    atomicAdd(&mine[v.z % kBins], 1u);
    atomicAdd(&mine[v.w % kBins], 1u);
  }
  for (int i = n / 4 * 4 + first; i < n; i += step) atomicAdd(&mine[data[i] % kBins], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += kThreads) {
    unsigned sum = 0;
    for (int w = 0; w < kThreads / 32; ++w) sum += copies[w][b];
    atomicAdd(&bins[b], sum);
  }
}

int main() {
  const int n = 20011;
  Random random(6);
  std::vector<unsigned char> data(n);
  std::vector<unsigned> wanted(kBins);
  for (auto& x : data) {
    // Half of the values fall into one bin.
    x = static_cast<unsigned char>(random.below(2) == 0 ? 17 : random.below(256));
    ++wanted[x % kBins];
  }
  unsigned char* d_data = to_device(data);
  unsigned* d_bins = device_array<unsigned>(kBins);
  auto cleared = [&] { CUDA_CHECK(cudaMemset(d_bins, 0, kBins * sizeof(unsigned))); };
  auto compare = [&](const char* what) {
    CUDA_CHECK(cudaGetLastError());
    expect_equal(to_host(d_bins, kBins), wanted, what);
  };
  cleared();
  histogram_global<<<9, kThreads>>>(d_data, n, d_bins);
  compare("atomics in global memory");
  cleared();
  histogram_shared<<<9, kThreads>>>(d_data, n, d_bins);
  compare("atomics in shared memory");
  cleared();
  histogram_warps<<<9, kThreads>>>(d_data, n, d_bins);
  compare("a copy per warp");
  CUDA_CHECK(cudaFree(d_data));
  CUDA_CHECK(cudaFree(d_bins));
  std::puts("ok");
}
