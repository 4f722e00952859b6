// Lab 05, task `fork_join`: independent kernels run side by side.
//
// Four branches of small kernels follow `prepare` and meet in `join`. One stream runs them in a row, on a GPU that each of
// them fills to a few percent. Run: ./ridge check 05 --task fork_join
#include "streams.hpp"

constexpr int kThreads = 256;

// in, p: n numbers
__global__ void prepare_kernel(const unsigned* in, unsigned* p, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) p[i] = in[i] ^ in[i] >> 16;
}

// from, to: n numbers. A long chain of dependent operations.
__global__ void refine_kernel(const unsigned* from, unsigned* to, int n, int branch) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] = refine(from[i], branch);
}

// q: kBranches x n numbers, `pitch` apart; out: n numbers
__global__ void join_kernel(const unsigned* q, std::size_t pitch, unsigned* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  unsigned sum = 0;
  for (int b = 0; b < kBranches; ++b) sum += q[static_cast<std::size_t>(b) * pitch + static_cast<std::size_t>(i)];
  out[i] = sum;
}

// TASK(fork_join)
void fork_join(const unsigned* in, unsigned* out, int n, void* workspace, std::size_t, cudaStream_t stream) {
  // TODO: give each branch a stream. An event tells the branches that p is there, and one of each tells `stream` when its
  // branch is done.
  const auto blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
  const auto pitch = static_cast<std::size_t>(n);
  auto* p = static_cast<unsigned*>(workspace);
  unsigned *half = p + pitch, *q = half + kBranches * pitch;  // kBranches x n each
  prepare_kernel<<<blocks, kThreads, 0, stream>>>(in, p, n);
  for (int b = 0; b < kBranches; ++b) {
    refine_kernel<<<blocks, kThreads, 0, stream>>>(p, half + b * pitch, n, b);
    refine_kernel<<<blocks, kThreads, 0, stream>>>(half + b * pitch, q + b * pitch, n, b);
  }
  join_kernel<<<blocks, kThreads, 0, stream>>>(q, pitch, out, n);
}
// END(fork_join)
