// Compaction with ballots: within a warp, into one list by one atomic a warp, and stable over a block.
#include <algorithm>
#include <vector>

#include "check.hpp"

constexpr int kBlock = 192, kWarps = kBlock / 32;

__host__ __device__ bool wanted(int x) { return x % 3 == 0 || x % 7 == 1; }

// Unordered: each warp takes room for all its numbers at once. The loop's last round is not full.
__global__ void append(const int* in, int n, int* out, int* count) {
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; __any_sync(0xffffffff, i < n); i += stride) {
    bool keep = i < n && wanted(in[i]);
    unsigned kept = __ballot_sync(0xffffffff, keep), lane = threadIdx.x % 32;
    int at = 0;
    if (lane == 0 && kept != 0) at = atomicAdd(count, __popc(kept));
    at = __shfl_sync(0xffffffff, at, 0) + __popc(kept & ((1u << lane) - 1));
    if (keep) out[at] = in[i];
  }
}

// Ordered: ranks in the warp from the ballot, of warps from a scan in shared memory.
__global__ void compact(const int* in, int n, int* out, int* count) {
  __shared__ int sizes[kWarps], begin;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) begin = 0;
  __syncthreads();
  for (int first = 0; first < n; first += kBlock) {
    int i = first + threadIdx.x;
    bool keep = i < n && wanted(in[i]);
    unsigned kept = __ballot_sync(0xffffffff, keep);
    if (lane == 0) sizes[warp] = __popc(kept);
    __syncthreads();
    int at = begin;
    for (int w = 0; w < warp; ++w) at += sizes[w];
    if (keep) out[at + __popc(kept & ((1u << lane) - 1))] = in[i];
    __syncthreads();
    if (threadIdx.x == kBlock - 1) begin = at + __popc(kept);
    __syncthreads();
  }
  if (threadIdx.x == 0) *count = begin;
}

int main() {
  constexpr int n = 5000;
  std::vector<int> in(n), right;
  for (int i = 0; i < n; ++i) in[i] = static_cast<int>(i * 7919u % 10007u);
  std::copy_if(in.begin(), in.end(), std::back_inserter(right), wanted);
  int *data, *out, *count, found;
  cudaMalloc(&data, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMalloc(&count, sizeof(int));
  cudaMemcpy(data, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  for (bool ordered : {false, true}) {
    cudaMemset(count, 0, sizeof(int));
    if (ordered)
      compact<<<1, kBlock>>>(data, n, out, count);
    else
      append<<<5, kBlock>>>(data, n, out, count);
    expect_error(cudaMemcpy(&found, count, sizeof found, cudaMemcpyDeviceToHost), cudaSuccess, "the kernel");
    expect(found == static_cast<int>(right.size()), "count");
    std::vector<int> got(found);
    cudaMemcpy(got.data(), out, found * sizeof(int), cudaMemcpyDeviceToHost);
    if (!ordered) {
      std::vector<int> sorted = right;
      std::sort(got.begin(), got.end());
      std::sort(sorted.begin(), sorted.end());
      expect(got == sorted, "the numbers");
    } else {
      expect(got == right, "the numbers in their order");
    }
  }
  cudaFree(data);
  cudaFree(out);
  cudaFree(count);
  std::puts("ok");
}
