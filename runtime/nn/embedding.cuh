// Token and position embedding: each token becomes a row of C channels.
#pragma once
#include "nn/check.hpp"
#include "nn/numbers.cuh"

namespace nn {

// tokens: (B T); wte: (Vp, C); wpe: (context, C); x: (B T, C). x[n] = wte[tokens[n]] + wpe[n % T]. One thread an
// element.
template <class T>
__global__ void embedding_forward_kernel(const int* tokens, const T* wte, const T* wpe, T* x, std::size_t elements,
                                         int sequence, int C) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const std::size_t n = i / C, c = i % C;
  store(x + i, to_float(wte[static_cast<std::size_t>(tokens[n]) * C + c]) + to_float(wpe[n % sequence * C + c]));
}

// dx: (B, T, C); dwpe: (context, C), of which T rows change. One thread a position and channel adds the B sequences in
// order.
template <class T>
__global__ void position_backward_kernel(const T* dx, float* dwpe, int B, int sequence, int C) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= sequence * C) return;
  float sum = 0;
  for (int b = 0; b < B; ++b) sum += to_float(dx[static_cast<std::size_t>(b) * sequence * C + i]);
  dwpe[i] += sum;
}

constexpr int kTokensOfThread = 16, kTokensOfBlock = kTokensOfThread * kThreads;

// tokens: (N); dx: (N, C); dwte: (Vp, C) += rows of dx at their tokens. Two rows with the same token collide, and
// atomics would add them in an order that changes from run to run. So the block of a token's first row adds all of that
// token's, in order, and the blocks of its other rows end early. A block a row, a thread a channel (and every
// kThreads-th after it).
template <class T>
__global__ void token_backward_kernel(const int* tokens, const T* dx, float* dwte, int N, int C) {
  __shared__ int rows[kTokensOfBlock], of_warp[kThreads / 32];
  const int first = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const int token = tokens[first];
  for (int start = 0; start < first; start += kTokensOfBlock) {
    int earlier = 0;
    for (int n = start + thread; n < min(first, start + kTokensOfBlock); n += kThreads) earlier |= tokens[n] == token;
    if (__syncthreads_or(earlier)) return;
  }
  float* sum = dwte + static_cast<std::size_t>(token) * C;
  for (int start = first; start < N; start += kTokensOfBlock) {
    // The token's rows among the next ones, in order: each thread looks at some that lie together, and counts those
    // before them.
    const int begin = start + thread * kTokensOfThread, end = min(N, begin + kTokensOfThread);
    unsigned mine = 0;  // a bit each
    for (int n = begin; n < end; ++n) mine |= static_cast<unsigned>(tokens[n] == token) << (n - begin);
    int upto = __popc(mine);  // the count in this warp, this thread's own included
    for (int step = 1; step < 32; step *= 2) {
      const int before = __shfl_up_sync(kWarp, upto, step);
      if (thread % 32 >= step) upto += before;
    }
    if (thread % 32 == 31) of_warp[warp] = upto;
    __syncthreads();
    int at = upto - __popc(mine), count = 0;
    for (int w = 0; w < kThreads / 32; ++w) {
      if (w < warp) at += of_warp[w];
      count += of_warp[w];
    }
    for (; mine != 0; mine &= mine - 1) rows[at++] = begin + __ffs(static_cast<int>(mine)) - 1;
    __syncthreads();
    for (int c = thread; c < C && count > 0; c += kThreads) {
      float s = sum[c];
#pragma unroll 8
      for (int i = 0; i < count; ++i) s += to_float(dx[static_cast<std::size_t>(rows[i]) * C + c]);
      sum[c] = s;
    }
    __syncthreads();  // before `rows` is overwritten
  }
}

template <class T>
void embedding_forward(const int* tokens, const T* wte, const T* wpe, T* x, int B, int sequence, int C,
                       cudaStream_t stream) {
  const std::size_t elements = static_cast<std::size_t>(B) * sequence * C;
  embedding_forward_kernel<<<blocks_for(elements, kThreads), kThreads, 0, stream>>>(tokens, wte, wpe, x, elements,
                                                                                    sequence, C);
  check_launch("embedding_forward_kernel");
}

template <class T>
void embedding_backward(const int* tokens, const T* dx, float* dwte, float* dwpe, int B, int sequence, int C,
                        cudaStream_t stream) {
  position_backward_kernel<<<blocks_for(static_cast<std::size_t>(sequence) * C, kThreads), kThreads, 0, stream>>>(
      dx, dwpe, B, sequence, C);
  check_launch("position_backward_kernel");
  token_backward_kernel<<<B * sequence, kThreads, 0, stream>>>(tokens, dx, dwte, B * sequence, C);
  check_launch("token_backward_kernel");
}

}  // namespace nn
