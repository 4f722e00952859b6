// Contract of test lab 90. All pointers are device pointers from the judge; work goes on `stream`; no workspace.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

// y[i] = a[0] * x[i] + exp(x[i]) in fp32.
//   x, y  n floats; n >= 1        a  1 float
void scale(const float* x, const float* a, float* y, std::size_t n, cudaStream_t stream);

// y[r] = sum over c of x[r][c], in fp32, in any order.
//   x  rows x cols floats, row-major        y  rows floats
void sum(const float* x, float* y, int rows, int cols, cudaStream_t stream);

// C = A B in fp32.
//   A  rows x depth, B  depth x cols, C  rows x cols, all row-major
void gemm(const float* A, const float* B, float* C, int rows, int cols, int depth, cudaStream_t stream);

// y[i] = table[at[i]], or NaN where at[i] is not in [0, size).
//   table  size floats        at  n integers        y  n floats
void pick(const float* table, const int* at, float* y, int size, int n, cudaStream_t stream);

// The indices i with key[i] < 0, in rising order; the rest of `out` is 0.
//   key  n integers        out  n integers
void order(const int* key, int* out, int n, cudaStream_t stream);
