// Causal self attention, unfused: the scores are a matrix in memory. For each sequence b and head h, with q, k, v (T,
// hs):
//
//   S = q k^T / sqrt(hs)   (T, T), columns after the row's own position left out
//   P = softmax of S's rows
//   o = P v                (T, hs)
//
// q, k and v lie side by side in one matrix qkv: (B, T, 3, H, hs), which is what one linear layer gives. The products
// read the heads where they are, with a row every 3 H hs elements, so nothing is transposed: one batched product a
// sequence, over its heads. hs: the size of a head; H may be a shard's heads.
#pragma once
#include <cmath>

#include "nn/check.hpp"
#include "nn/gemm.hpp"
#include "nn/numbers.cuh"

namespace nn {

// scores: (rows, T) with rows = B H T; becomes P in place. Row r is position r % T, and sees columns 0 to r % T. A warp
// a row. The maximum is taken off first: exp of a score of 100 is no float.
template <class T>
__global__ void causal_softmax_kernel(T* scores, float scale, std::size_t rows, int sequence) {
  const int lane = static_cast<int>(threadIdx.x);
  const std::size_t r = static_cast<std::size_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (r >= rows) return;
  T* row = scores + r * sequence;
  const int seen = static_cast<int>(r % sequence) + 1;
  float top = -INFINITY, sum = 0;
  for (int j = lane; j < seen; j += 32) top = fmaxf(top, to_float(row[j]) * scale);
  top = warp_max(top);
  for (int j = lane; j < seen; j += 32) sum += expf(to_float(row[j]) * scale - top);
  const float inverse = 1 / warp_sum(sum);
  for (int j = lane; j < sequence; j += 32)
    store(row + j, j < seen ? expf(to_float(row[j]) * scale - top) * inverse : 0.0f);
}

// P: (rows, T); dP: (rows, T), becomes dS in place: dS = scale P (dP - sum over the row of P dP). Columns that are not
// seen get 0. rows = H T.
template <class T>
__global__ void causal_softmax_backward_kernel(const T* P, T* dP, float scale, std::size_t rows, int sequence) {
  const int lane = static_cast<int>(threadIdx.x);
  const std::size_t r = static_cast<std::size_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (r >= rows) return;
  const T* p = P + r * sequence;
  T* d = dP + r * sequence;
  const int seen = static_cast<int>(r % sequence) + 1;
  float sum = 0;
  for (int j = lane; j < seen; j += 32) sum += to_float(p[j]) * to_float(d[j]);
  sum = warp_sum(sum);
  for (int j = lane; j < sequence; j += 32)
    store(d + j, j < seen ? scale * to_float(p[j]) * (to_float(d[j]) - sum) : 0.0f);
}

// qkv: (B, T, 3, H, hs); P: (B, H, T, T), kept for backward; o: (B, T, H, hs).
template <class T>
void attention_forward(const Gemm& gemm, const T* qkv, T* P, T* o, int B, int sequence, int H, int hs,
                       cudaStream_t stream) {
  const int D = H * hs;
  const std::size_t square = static_cast<std::size_t>(sequence) * sequence;
  auto heads = [&](const T* of, int b) {
    return Matrix<const T>{of + static_cast<std::size_t>(b) * sequence * 3 * D, 3 * D, hs};
  };
  for (int b = 0; b < B; ++b)
    gemm(Transpose::no, Transpose::yes, sequence, sequence, hs, 1, heads(qkv, b), heads(qkv + D, b), 0,
         Matrix<T>{P + b * H * square, sequence, static_cast<long long>(square)}, H);
  const std::size_t rows = static_cast<std::size_t>(B) * H * sequence;
  causal_softmax_kernel<<<blocks_for(rows, kRowsOfBlock), dim3(32, kRowsOfBlock), 0, stream>>>(
      P, 1 / std::sqrt(static_cast<float>(hs)), rows, sequence);
  check_launch("causal_softmax_kernel");
  for (int b = 0; b < B; ++b)
    gemm(Transpose::no, Transpose::no, sequence, hs, sequence, 1,
         Matrix<const T>{P + b * H * square, sequence, static_cast<long long>(square)}, heads(qkv + 2 * D, b), 0,
         Matrix<T>{o + static_cast<std::size_t>(b) * sequence * D, D, hs}, H);
}

// d_o: (B, T, H, hs); qkv, P as above; dqkv: (B, T, 3, H, hs). scratch: (H, T, T), used for one sequence after the
// other.
template <class T>
void attention_backward(const Gemm& gemm, const T* d_o, const T* qkv, const T* P, T* dqkv, T* scratch, int B,
                        int sequence, int H, int hs, cudaStream_t stream) {
  const int D = H * hs;
  const long long square = static_cast<long long>(sequence) * sequence;
  const std::size_t rows = static_cast<std::size_t>(H) * sequence;
  for (int b = 0; b < B; ++b) {
    const std::size_t at = static_cast<std::size_t>(b) * sequence * 3 * D;
    const Matrix<const T> q{qkv + at, 3 * D, hs}, k{qkv + at + D, 3 * D, hs}, v{qkv + at + 2 * D, 3 * D, hs};
    const Matrix<T> dq{dqkv + at, 3 * D, hs}, dk{dqkv + at + D, 3 * D, hs}, dv{dqkv + at + 2 * D, 3 * D, hs};
    const Matrix<const T> p{P + b * H * square, sequence, square},
        out{d_o + static_cast<std::size_t>(b) * sequence * D, D, hs};
    const Matrix<T> dP{scratch, sequence, square};
    const Matrix<const T> dS{scratch, sequence, square};
    gemm(Transpose::no, Transpose::yes, sequence, sequence, hs, 1, out, v, 0, dP, H);  // dP = do v^T
    gemm(Transpose::yes, Transpose::no, sequence, hs, sequence, 1, p, out, 0, dv, H);  // dv = P^T do
    causal_softmax_backward_kernel<<<blocks_for(rows, kRowsOfBlock), dim3(32, kRowsOfBlock), 0, stream>>>(
        p.data, scratch, 1 / std::sqrt(static_cast<float>(hs)), rows, sequence);
    check_launch("causal_softmax_backward_kernel");
    gemm(Transpose::no, Transpose::no, sequence, hs, sequence, 1, dS, k, 0, dq, H);   // dq = dS k
    gemm(Transpose::yes, Transpose::no, sequence, hs, sequence, 1, dS, q, 0, dk, H);  // dk = dS^T q
  }
}

}  // namespace nn
