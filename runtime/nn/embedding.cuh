// Token and position embedding: each token becomes a row of C channels.
#pragma once
#include "nn/check.hpp"
#include "nn/numbers.cuh"

namespace nn {

// tokens: (B T); wte: (Vp, C); wpe: (context, C); x: (B T, C). x[n] = wte[tokens[n]] + wpe[n % T]. One thread an element.
template <class T>
__global__ void embedding_forward_kernel(const int* tokens, const T* wte, const T* wpe, T* x, std::size_t elements,
                                         int sequence, int C) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const std::size_t n = i / C, c = i % C;
  store(x + i, to_float(wte[static_cast<std::size_t>(tokens[n]) * C + c]) + to_float(wpe[n % sequence * C + c]));
}

// dx: (B, T, C); dwpe: (context, C), of which T rows change. One thread a position and channel adds the B sequences in order.
template <class T>
__global__ void position_backward_kernel(const T* dx, float* dwpe, int B, int sequence, int C) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= sequence * C) return;
  float sum = 0;
  for (int b = 0; b < B; ++b) sum += to_float(dx[static_cast<std::size_t>(b) * sequence * C + i]);
  dwpe[i] += sum;
}

constexpr int kTokenTile = 256;

// tokens: (N); dx: (N, C); dwte: (Vp, C) += rows of dx at their tokens. Two rows with the same token collide, and atomics would
// add them in an order that changes from run to run. So each block owns a range of `range` tokens (blockIdx.y) and one channel
// a thread, reads all N tokens, and adds those of its range in order. N: B T.
template <class T>
__global__ void token_backward_kernel(const int* tokens, const T* dx, float* dwte, int N, int C, int range) {
  __shared__ int tile[kTokenTile];
  const int c = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int first = static_cast<int>(blockIdx.y) * range;
  for (int start = 0; start < N; start += kTokenTile) {
    const int count = min(kTokenTile, N - start);
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
      tile[i] = tokens[start + i];
    __syncthreads();
    for (int i = 0; i < count; ++i) {
      const int token = tile[i];
      if (token < first || token >= first + range || c >= C) continue;
      dwte[static_cast<std::size_t>(token) * C + c] += to_float(dx[static_cast<std::size_t>(start + i) * C + c]);
    }
    __syncthreads();  // before the tile is overwritten
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
                        int vocabulary, cudaStream_t stream) {
  position_backward_kernel<<<blocks_for(static_cast<std::size_t>(sequence) * C, kThreads), kThreads, 0, stream>>>(
      dx, dwpe, B, sequence, C);
  check_launch("position_backward_kernel");
  const int range = vocabulary < 1024 ? 32 : 256;
  const dim3 grid(blocks_for(C, 64), blocks_for(vocabulary, range));
  token_backward_kernel<<<grid, 64, 0, stream>>>(tokens, dx, dwte, B * sequence, C, range);
  check_launch("token_backward_kernel");
}

}  // namespace nn
