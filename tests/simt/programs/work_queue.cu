// Persistent blocks take tasks of very different length from an atomic counter; a scan in one pass, where each block waits
// for the sum of the one before (tickets, so that the one before runs already).
#include "sample.hpp"

__device__ unsigned next_task, next_ticket;

__host__ __device__ unsigned collatz(unsigned n) {
  unsigned steps = 0;
  for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}

// A task: the longest Collatz sequence that starts in 32 numbers.
__global__ void persistent(unsigned* longest, unsigned tasks, unsigned numbers, unsigned* done_by) {
  __shared__ unsigned task, best;
  unsigned done = 0;
  while (true) {
    if (threadIdx.x == 0) {
      task = atomicAdd(&next_task, 1u);
      best = 0;
    }
    __syncthreads();
    if (task >= tasks) break;
    for (unsigned i = threadIdx.x; i < 32; i += blockDim.x) {
      unsigned n = task * 32 + i + 1;
      if (n > numbers) continue;
      atomicMax(&best, collatz(n));
    }
    __syncthreads();
    if (threadIdx.x == 0) longest[task] = best;
    ++done;
    // Thread 0 wrote `task` last, and changes it only after all have read it here.
    __syncthreads();
  }
  if (threadIdx.x == 0) done_by[blockIdx.x] = done;
}

constexpr int kThreads = 64;

// state[b]: (1 << 32) + sum of all up to block b, once it is known.
__global__ void chained_scan(const unsigned* in, unsigned* out, int n, unsigned long long* state) {
  __shared__ unsigned s[kThreads], before;
  __shared__ int block;
  const int t = threadIdx.x;
  if (t == 0) block = static_cast<int>(atomicAdd(&next_ticket, 1u));
  __syncthreads();
  const int i = block * kThreads + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < kThreads; d *= 2) {
    unsigned left = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += left;
    __syncthreads();
  }
  if (t == 0) {
    unsigned long long value = 0;
    if (block > 0)
      while ((value = atomicAdd(&state[block - 1], 0ull)) >> 32 == 0) {
      }
    before = static_cast<unsigned>(value);
    // Flag and value in one word: no fence is needed between them.
    atomicExch(&state[block], (1ull << 32) | (before + s[kThreads - 1]));
  }
  __syncthreads();
  if (i < n) out[i] = before + s[t];
}

int main() {
  const unsigned numbers = 1501, tasks = (numbers + 31) / 32, blocks = 6;
  unsigned *d_longest = device_array<unsigned>(tasks), *d_done = device_array<unsigned>(blocks), zero = 0;
  std::vector<unsigned> longest(tasks);
  for (unsigned n = 1; n <= numbers; ++n) {
    unsigned& best = longest[(n - 1) / 32];
    unsigned steps = collatz(n);
    best = steps > best ? steps : best;
  }
  CUDA_CHECK(cudaMemcpyToSymbol(next_task, &zero, sizeof zero));
  persistent<<<blocks, 24>>>(d_longest, tasks, numbers, d_done);
  CUDA_CHECK(cudaGetLastError());
  expect_equal(to_host(d_longest, tasks), longest, "longest sequences");
  unsigned total = 0;
  for (unsigned d : to_host(d_done, blocks)) total += d;
  expect(total == tasks, "each task is done once");

  const int n = 2003, scan_blocks = blocks_for(n, kThreads);
  Random random(23);
  std::vector<unsigned> in(n), wanted(n);
  unsigned sum = 0;
  for (int i = 0; i < n; ++i) wanted[i] = sum += in[i] = random.below(1000);
  unsigned *d_in = to_device(in), *d_out = device_array<unsigned>(n);
  unsigned long long* d_state = device_array<unsigned long long>(scan_blocks);
  CUDA_CHECK(cudaMemset(d_state, 0, scan_blocks * sizeof(unsigned long long)));
  chained_scan<<<scan_blocks, kThreads>>>(d_in, d_out, n, d_state);
  CUDA_CHECK(cudaGetLastError());
  expect_equal(to_host(d_out, n), wanted, "scan in one pass");
  CUDA_CHECK(cudaFree(d_longest));
  CUDA_CHECK(cudaFree(d_done));
  CUDA_CHECK(cudaFree(d_in));
  CUDA_CHECK(cudaFree(d_out));
  CUDA_CHECK(cudaFree(d_state));
  std::puts("ok");
}
