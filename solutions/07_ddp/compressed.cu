// Lab 07, task `compressed`: send the k largest elements only, and keep the rest for the next step.
//
// Start from your answer to `compressed_host`, and let kernels choose: radix select finds the k-th largest key digit by
// digit, each from a histogram of the keys that share the digits before it. Run: ./ridge check 07 --task compressed
#include "ddp.hpp"

// TASK(compressed)
namespace {

constexpr int kBits = 8, kDigits = 1 << kBits, kThreads = 256;
constexpr unsigned kCounters = 1024;  // blocks of a count

struct Search {
  unsigned long long prefix;  // the digits of the k-th largest key that are known
  unsigned rank;              // how many of the keys with this prefix are sent
  bool all;                   // all of them are: no digit below decides anything
  unsigned sent;              // counts them as they are written
  unsigned histogram[kDigits];
};

// Magnitudes as integers order as the floats do. Keys of equal magnitude differ in the lower half, the lower index has the
// larger one: the order is total, and exactly k keys are at or above the k-th.
__device__ unsigned long long key_of(float a, unsigned i) {
  return static_cast<unsigned long long>(__float_as_uint(a) & 0x7fffffffu) << 32 | ~i;
}

// residual: (n) += gradient: (n). One thread an element, as in take_kernel.
__global__ void accumulate_kernel(float* residual, const float* gradient, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) residual[i] += gradient[i];
}

__global__ void start_kernel(Search* s, unsigned k) {
  s->histogram[threadIdx.x] = 0;
  if (threadIdx.x == 0) s->prefix = 0, s->rank = k, s->all = false, s->sent = 0;
}

// Counts the digits at `shift` of the keys that have the prefix above. A few blocks read all of a: (n), since each adds a
// histogram of its own to the one in memory.
__global__ void count_kernel(const float* a, unsigned n, int shift, Search* s) {
  if (s->all) return;
  __shared__ unsigned histogram[kDigits];
  histogram[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned long long key = key_of(a[i], i);
    if (shift + kBits == 64 || key >> (shift + kBits) == s->prefix)
      atomicAdd(&histogram[key >> shift & (kDigits - 1)], 1);
  }
  __syncthreads();
  if (histogram[threadIdx.x] != 0) atomicAdd(&s->histogram[threadIdx.x], histogram[threadIdx.x]);
}

// One block of kDigits threads: the digit in whose keys the k-th largest is, and how many of them are sent.
__global__ void choose_kernel(Search* s) {
  __shared__ unsigned above[kDigits];
  const unsigned d = threadIdx.x, own = s->histogram[d], rank = s->rank;
  const bool all = s->all;
  s->histogram[d] = 0;  // for the next digit
  above[d] = own;
  __syncthreads();
  for (unsigned step = 1; step < kDigits; step *= 2) {  // sums of this digit and those above
    const unsigned more = d + step < kDigits ? above[d + step] : 0;
    __syncthreads();
    above[d] += more;
    __syncthreads();
  }
  const unsigned larger = above[d] - own;
  if (all) {
    if (d == 0) s->prefix <<= kBits;  // the least key that has the prefix
  } else if (larger < rank && rank <= above[d]) {
    s->prefix = s->prefix << kBits | d, s->rank = rank - larger, s->all = s->rank == own;
  }
}

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
  start_kernel<<<1, kDigits, 0, stream>>>(search, count);
  for (int shift = 64 - kBits; shift >= 0; shift -= kBits) {
    count_kernel<<<std::min(blocks(n), kCounters), kThreads, 0, stream>>>(residual, size, shift, search);
    choose_kernel<<<1, kDigits, 0, stream>>>(search);
  }
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
// END(compressed)
