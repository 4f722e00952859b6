// replaces: compressed.cu; fails: compressed/device; backend: cpu
// The threshold comes from the host, which copies all values for it.
#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "ddp.hpp"

namespace {

constexpr int kThreads = 256;

struct Search {
  unsigned long long prefix;  // the k-th largest key
  unsigned sent;              // counts them as they are written
};

// Magnitudes as integers order as the floats do. Keys of equal magnitude differ in the lower half, the lower index has the
// larger one: the order is total, and exactly k keys are at or above the k-th.
__device__ unsigned long long key_of(float a, unsigned i) {
  return static_cast<unsigned long long>(__float_as_uint(a) & 0x7fffffffu) << 32 | ~i;
}

// residual: (n) += gradient: (n). One thread an element; so the next ones.
__global__ void accumulate_kernel(float* residual, const float* gradient, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) residual[i] += gradient[i];
}

__global__ void start_kernel(Search* s, unsigned long long least) { s->prefix = least, s->sent = 0; }

// Elements at or above the k-th go to values: (k) and indices: (k), in any order, and leave the residual.
__global__ void take_kernel(float* a, unsigned n, Search* s, float* values, unsigned* indices) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || key_of(a[i], i) < s->prefix) return;
  const unsigned at = atomicAdd(&s->sent, 1);
  values[at] = a[i], indices[at] = i;
  a[i] = 0;
}

// mean: (n) += scale * values at indices, which are distinct.
__global__ void scatter_kernel(const float* values, const unsigned* indices, unsigned k, float scale, float* mean) {
  const unsigned j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < k) mean[indices[j]] += scale * values[j];
}

unsigned blocks(std::size_t items) { return static_cast<unsigned>((items + kThreads - 1) / kThreads); }

}  // namespace

void compressed(const float* gradient, float* residual, float* mean, std::size_t n, std::size_t k, void* workspace,
                std::size_t, ncclComm_t comm, cudaStream_t stream) {
  int p = 1;
  ncclCommCount(comm, &p);
  const auto size = static_cast<unsigned>(n), count = static_cast<unsigned>(k);
  auto* search = static_cast<Search*>(workspace);
  auto* own = reinterpret_cast<float*>(search + 1);  // k values, then k indices
  auto* all = own + 2 * k;                           // the same of each rank

  accumulate_kernel<<<blocks(n), kThreads, 0, stream>>>(residual, gradient, size);
  std::vector<float> values(n);
  cudaMemcpyAsync(values.data(), residual, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  std::vector<unsigned long long> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    unsigned bits;
    std::memcpy(&bits, &values[i], sizeof bits);
    keys[i] = static_cast<unsigned long long>(bits & 0x7fffffffu) << 32 | ~static_cast<unsigned>(i);
  }
  std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(k) - 1, keys.end(), std::greater<>());
  start_kernel<<<1, 1, 0, stream>>>(search, keys[k - 1]);
  auto* indices = reinterpret_cast<unsigned*>(own + k);
  take_kernel<<<blocks(n), kThreads, 0, stream>>>(residual, size, search, own, indices);
  ncclAllGather(own, all, 2 * k, ncclFloat, comm, stream);
  cudaMemsetAsync(mean, 0, n * sizeof(float), stream);
  // One rank after the other, in the same order everywhere: the same bits, and no two threads meet.
  for (int r = 0; r < p; ++r) {
    const float* values = all + 2 * k * static_cast<std::size_t>(r);
    scatter_kernel<<<blocks(k), kThreads, 0, stream>>>(values, reinterpret_cast<const unsigned*>(values + k), count,
                                                       1.0f / static_cast<float>(p), mean);
  }
}
