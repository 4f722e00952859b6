// How the emulator's cuBLAS hands a matrix product to a kernel that was compiled with the program.
#pragma once
#include "cublas_v2.h"

namespace ridge_simt {

// Column-major, as cuBLAS counts: for z < batch, C_z (m x n, ldc) = alpha op(A_z) (m x k) op(B_z) (k x n) + beta C_z, with
// A_z = a + z * stride_a elements. With beta = 0, C is not read.
struct GemmCall {
  bool transpose_a, transpose_b;
  int m, n, k;
  float alpha, beta;
  const void *a, *b;
  void* c;
  cudaDataType in, out;  // CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF; out: the same, or CUDA_R_32F
  int lda, ldb, ldc;
  long long stride_a, stride_b, stride_c;
  int batch;
  cudaStream_t stream;
};

// Launches the product. False: not one for this kernel. In simt/cublas/cublas_gemm.cu, which `-lcublas` adds to a program.
bool launch_gemm(const GemmCall& call);

}  // namespace ridge_simt
