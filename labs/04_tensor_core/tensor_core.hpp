// Contract of lab 04. Each task is one host function; you own the kernels behind it and how they are launched.
//
// All tasks are the product of a linear layer, y = x W^T, in bf16 with sums in fp32:
//   a  m x k, row-major: the activations x
//   b  n x k, row-major: the weights W. Both operands have k as their fast index ("TN" in BLAS)
//   c  m x n, row-major
// m >= 1; n and k are multiples of 8 and at least 8, so that each row begins at a multiple of 16 bytes. Nothing else is
// a multiple of anything. m, n <= 32768, k <= 32768.
//
// Products are exact in fp32. Sums are kept in fp32, where tensor cores truncate the terms of one instruction instead of
// rounding each addition. The result is rounded to bf16 once.
// All pointers are device pointers from the judge, at least 256-byte aligned, other ones at each call. Work goes on
// `stream`; the judge waits for it. No task needs `workspace` (workspace_bytes is 0).
#pragma once
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstddef>

// c[i][j] = sum over l of a[i][l] * b[j][l], with nvcuda::wmma and tiles in shared memory.
void wmma_gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void* workspace,
               std::size_t workspace_bytes, cudaStream_t stream);

// The same product with TMA and wgmma, one buffer. Needs sm_90a, which the emulator has.
void wgmma_gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void* workspace,
                std::size_t workspace_bytes, cudaStream_t stream);

// The same product as fast as you can on a Hopper GPU. Needs sm_90a, which the emulator has.
void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void* workspace,
          std::size_t workspace_bytes, cudaStream_t stream);

// c[i][j] = gelu(bias[j] + sum over l of a[i][l] * b[j][l]) in one kernel.
//   bias  n numbers, one for each column
//   gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), the tanh form: it is what cuBLASLt's epilogue
//   computes. c is as exact as bf16 can be: where x is negative, 1 + tanh(...) cancels, and tanh's error is what is left.
void gemm_gelu(const __nv_bfloat16* a, const __nv_bfloat16* b, const __nv_bfloat16* bias, __nv_bfloat16* c, int m,
               int n, int k, void* workspace, std::size_t workspace_bytes, cudaStream_t stream);
