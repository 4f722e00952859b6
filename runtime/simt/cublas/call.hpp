// What the functions of BLAS's levels have in common: their letters, their place in the stream, what they have written.
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>

#include "api/numbers.hpp"
#include "cublas/fortran.hpp"
#include "cublas_v2.h"
#include "sanitize/sanitizer.hpp"
#include "stream/device_log.hpp"

namespace ridge::simt::blas {

using simt::as;
using simt::Number;

inline Text letter(cublasFillMode_t uplo) { return uplo == CUBLAS_FILL_MODE_UPPER ? "U" : "L"; }
inline Text letter(cublasOperation_t op) { return op == CUBLAS_OP_N ? "N" : op == CUBLAS_OP_T ? "T" : "C"; }
inline Text letter(cublasDiagType_t diag) { return diag == CUBLAS_DIAG_UNIT ? "U" : "N"; }
inline Text letter(cublasSideMode_t side) { return side == CUBLAS_SIDE_LEFT ? "L" : "R"; }
inline bool known(cublasOperation_t op) { return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C; }
inline bool known(cublasSideMode_t s) { return s == CUBLAS_SIDE_LEFT || s == CUBLAS_SIDE_RIGHT; }
inline bool known(cublasFillMode_t f) { return f == CUBLAS_FILL_MODE_UPPER || f == CUBLAS_FILL_MODE_LOWER; }

// A leading dimension for columns of `rows` numbers.
inline bool leads(int ld, int rows) { return ld >= std::max(1, rows); }

// Behind all earlier work of the stream. A call has ended when it returns.
inline cublasStatus_t begin(cublasHandle_t handle, bool good) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!good) return CUBLAS_STATUS_INVALID_VALUE;
  cudaStream_t stream = nullptr;
  cublasGetStream(handle, &stream);
  if (cudaStreamSynchronize(stream) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  Trace::unsupported("a call of cuBLAS: write the kernel yourself");
  return CUBLAS_STATUS_SUCCESS;
}
#define RIDGE_BLAS(handle, good)                                                                               \
  if (const cublasStatus_t status = ::ridge::simt::blas::begin(handle, good); status != CUBLAS_STATUS_SUCCESS) \
  return status

// What a call wrote is initialised. A scalar or a packed matrix, a vector, a matrix of `columns` columns, a triangle.
template <class T>
void wrote(T* p, std::int64_t n = 1) {
  if (n > 0) Sanitizer::written(reinterpret_cast<std::uintptr_t>(p), static_cast<std::size_t>(n) * sizeof(T));
}
template <class T>
void wrote_vector(T* x, int n, int inc) {
  if (inc == 1) return wrote(x, n);
  for (int i = 0; i < n; ++i) wrote(x + static_cast<std::int64_t>(i) * std::abs(inc));
}
template <class T>
void wrote_matrix(T* a, int rows, int columns, int ld) {
  for (int j = 0; j < columns; ++j) wrote(a + static_cast<std::int64_t>(j) * ld, rows);
}
template <class T>
void wrote_triangle(T* a, cublasFillMode_t uplo, int n, int ld) {
  for (int j = 0; j < n; ++j) {
    T* column = a + static_cast<std::int64_t>(j) * ld;
    uplo == CUBLAS_FILL_MODE_UPPER ? wrote(column, j + 1) : wrote(column + j, n - j);
  }
}
inline std::int64_t packed(int n) { return static_cast<std::int64_t>(n) * (n + 1) / 2; }

inline float conjugate(float v) { return v; }
inline double conjugate(double v) { return v; }
template <class R>
std::complex<R> conjugate(std::complex<R> v) {
  return std::conj(v);
}
// The first element in memory's order is the last one where inc < 0.
inline std::int64_t place(int i, int n, int inc) {
  return inc > 0 ? static_cast<std::int64_t>(i) * inc : static_cast<std::int64_t>(i - n + 1) * inc;
}

}  // namespace ridge::simt::blas
