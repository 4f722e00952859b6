// Style: fork and join captured from streams into a graph that is made, launched and destroyed in each call.
#include "streams.hpp"

namespace {

constexpr int kSize = 256;

// in, p: n numbers
__global__ void prepare_step(const unsigned* in, unsigned* p, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) p[i] = in[i] ^ in[i] >> 16;
}

// from, to: n numbers
__global__ void refine_step(const unsigned* from, unsigned* to, int n, int branch) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] = refine(from[i], branch);
}

// q: kBranches x n numbers, `pitch` apart; out: n numbers
__global__ void join_step(const unsigned* q, std::size_t pitch, unsigned* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  unsigned sum = 0;
  for (int b = 0; b < kBranches; ++b) sum += q[b * pitch + i];
  out[i] = sum;
}

struct Branches {
  cudaStream_t stream[kBranches];
  cudaEvent_t fork, join[kBranches];
  Branches() {
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    for (int b = 0; b < kBranches; ++b) {
      cudaStreamCreateWithFlags(&stream[b], cudaStreamNonBlocking);
      cudaEventCreateWithFlags(&join[b], cudaEventDisableTiming);
    }
  }
};

cudaGraphExec_t record(const unsigned* in, unsigned* out, int n, unsigned* work) {
  static const Branches side;
  const auto blocks = static_cast<unsigned>((n + kSize - 1) / kSize);
  const std::size_t pitch = n;
  unsigned *p = work, *half = p + pitch, *q = half + kBranches * pitch;
  cudaStream_t main = side.stream[0];
  cudaStreamBeginCapture(main, cudaStreamCaptureModeThreadLocal);
  prepare_step<<<blocks, kSize, 0, main>>>(in, p, n);
  cudaEventRecord(side.fork, main);
  for (int b = 0; b < kBranches; ++b) {
    const cudaStream_t s = side.stream[b];
    if (b > 0) cudaStreamWaitEvent(s, side.fork, 0);
    refine_step<<<blocks, kSize, 0, s>>>(p, half + b * pitch, n, b);
    refine_step<<<blocks, kSize, 0, s>>>(half + b * pitch, q + b * pitch, n, b);
    if (b > 0) {
      cudaEventRecord(side.join[b], s);
      cudaStreamWaitEvent(main, side.join[b], 0);
    }
  }
  join_step<<<blocks, kSize, 0, main>>>(q, pitch, out, n);
  cudaGraph_t graph;
  cudaStreamEndCapture(main, &graph);
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphDestroy(graph);
  return exec;
}

}  // namespace

void fork_join(const unsigned* in, unsigned* out, int n, void* workspace, std::size_t, cudaStream_t stream) {
  const cudaGraphExec_t exec = record(in, out, n, static_cast<unsigned*>(workspace));
  cudaGraphLaunch(exec, stream);
  cudaGraphExecDestroy(exec);
}
