// Contract of lab 02. Each task is one host function; you own the kernels behind it and how they are launched.
//
// All pointers are device pointers from the judge, at least 256-byte aligned. Work goes on `stream`; the judge waits
// for it. `workspace` is device scratch memory; this lab needs none (workspace_bytes is 0).
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

// The stencil reaches two cells to every side: 5 x 5 weights.
constexpr int kRadius = 2;
constexpr int kSide = 2 * kRadius + 1;

// The weight of the neighbour at row dy - kRadius, column dx - kRadius. No two are equal, so that a stencil that is
// mirrored or transposed gives other numbers. Constant where dy and dx are known to the compiler.
__host__ __device__ constexpr float weight(int dy, int dx) {
  constexpr float table[kSide][kSide] = {
      {3, 7, 12, 5, 2}, {8, 21, 33, 17, 6}, {11, 37, 64, 29, 9}, {4, 19, 27, 23, 10}, {1, 13, 15, 14, 16}};
  return table[dy][dx] / 512;
}

// out[y][x] = sum over dy, dx < kSide of weight(dy, dx) * in[y + dy - kRadius][x + dx - kRadius]; cells outside of the
// grid count as 0.
//   in, out  rows x cols floats, row-major; rows, cols from 1 to 500,000, their product below 2^31
void stencil(const float* in, float* out, int rows, int cols, void* workspace, std::size_t workspace_bytes,
             cudaStream_t stream);

// C = A B in fp32: c[i * n + j] = sum over p < k of a[i * k + p] * b[p * n + j]. What c holds before does not matter.
//   a  m x k floats, b  k x n floats, c  m x n floats, all row-major
//   m, n, k from 1 to 500,000, each of the three matrices below 2^31 elements
void sgemm(const float* a, const float* b, float* c, int m, int n, int k, void* workspace, std::size_t workspace_bytes,
           cudaStream_t stream);

// The same product, on the way to `sgemm`: each task starts from the answer to the one before.
void sgemm_shared(const float* a, const float* b, float* c, int m, int n, int k, void* workspace,
                  std::size_t workspace_bytes, cudaStream_t stream);
void sgemm_registers(const float* a, const float* b, float* c, int m, int n, int k, void* workspace,
                     std::size_t workspace_bytes, cudaStream_t stream);
void sgemm_async(const float* a, const float* b, float* c, int m, int n, int k, void* workspace,
                 std::size_t workspace_bytes, cudaStream_t stream);
