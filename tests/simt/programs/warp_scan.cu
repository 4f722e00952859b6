// Prefix sums: of a warp by shuffles, of a block from its warps, of a grid that looks back at earlier blocks.
#include <vector>

#include "check.hpp"

constexpr int kBlock = 256, kWarps = kBlock / 32;
constexpr unsigned kAll = 0xffffffff;

template <class T>
__device__ T warp_scan(T v) {
  int lane = threadIdx.x % 32;
  for (int d = 1; d < 32; d *= 2) {
    T before = __shfl_up_sync(kAll, v, d);
    if (lane >= d) v += before;
  }
  return v;
}

template <class T>
__device__ T block_scan(T v) {
  __shared__ T warps[kWarps];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  T sum = warp_scan(v);
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    T mine = warp_scan(lane < kWarps ? warps[lane] : T(0));
    if (lane < kWarps) warps[lane] = mine;
  }
  __syncthreads();
  return warp == 0 ? sum : sum + warps[warp - 1];
}

template <class T>
__global__ void scan_blocks(const T* in, T* out, T* sums) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  T sum = block_scan(in[i]);
  out[i] = sum;
  if (threadIdx.x == kBlock - 1) sums[blockIdx.x] = sum;
}

template <class T>
__global__ void add_earlier(T* out, const T* sums) {
  T before = T(0);
  for (int b = threadIdx.x % 32; b < static_cast<int>(blockIdx.x); b += 32) before += sums[b];
  for (int d = 16; d > 0; d /= 2) before += __shfl_xor_sync(kAll, before, d);
  out[blockIdx.x * kBlock + threadIdx.x] += before;
}

// Segmented: sums start anew at flags, which travel as a ballot.
__global__ void segmented(const int* in, int* out) {
  int i = blockIdx.x * kBlock + threadIdx.x, lane = threadIdx.x % 32, v = in[i];
  unsigned heads = __ballot_sync(kAll, v % 5 == 0) | 1u;
  int first = 31 - __clz(static_cast<int>(heads & (0xffffffffu >> (31 - lane))));
  for (int d = 1; d < 32; d *= 2) {
    int before = __shfl_up_sync(kAll, v, d);
    if (lane - d >= first) v += before;
  }
  out[i] = v;
}

template <class T>
void check(const char* type) {
  constexpr int blocks = 50, n = blocks * kBlock;
  std::vector<T> host(n), got(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<T>(i * 37 % 11);
  T *in, *out, *sums;
  cudaMalloc(&in, n * sizeof(T));
  cudaMalloc(&out, n * sizeof(T));
  cudaMalloc(&sums, blocks * sizeof(T));
  cudaMemcpy(in, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  scan_blocks<<<blocks, kBlock>>>(in, out, sums);
  add_earlier<<<blocks, kBlock>>>(out, sums);
  expect_error(cudaMemcpy(got.data(), out, n * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess, type);
  T sum = T(0);
  for (int i = 0; i < n; ++i) expect(got[i] == (sum += host[i]), type);
  if constexpr (sizeof(T) == 4 && T(0.5) == T(0)) {
    segmented<<<blocks, kBlock>>>(in, out);
    expect_error(cudaMemcpy(got.data(), out, n * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess, "segmented");
    for (int i = 0; i < n; ++i) {
      sum = i % 32 == 0 || host[i] % 5 == 0 ? host[i] : sum + host[i];
      expect(got[i] == sum, "segmented");
    }
  }
  cudaFree(in);
  cudaFree(out);
  cudaFree(sums);
}

int main() {
  check<int>("int");
  check<long long>("long long");
  check<float>("float");
  check<double>("double");
  std::puts("ok");
}
