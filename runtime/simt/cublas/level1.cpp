// cuBLAS's level 1 beyond src/api/cublas.cpp: rotations, and vectors of complex numbers.
#include <limits>

#include "cublas/call.hpp"

using namespace ridge::simt::blas;
using Handle = cublasHandle_t;

namespace {

template <class T>
cublasStatus_t dot(Handle h, int n, const T* x, int incx, const T* y, int incy, T* result, bool conjugated) {
  RIDGE_BLAS(h, result != nullptr);
  typename Number<T>::Type sum = 0;
  for (int i = 0; i < n; ++i) {
    const auto left = as(x)[place(i, n, incx)];
    sum += (conjugated ? conjugate(left) : left) * as(y)[place(i, n, incy)];
  }
  *as(result) = sum;
  wrote(result);
  return CUBLAS_STATUS_SUCCESS;
}

// The first element, counted from 1, whose real and imaginary part add up to the least.
template <class T>
cublasStatus_t least(Handle h, int n, const T* x, int incx, int* result) {
  RIDGE_BLAS(h, result != nullptr);
  *result = 0;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < n && incx > 0; ++i) {
    const auto& v = x[static_cast<std::int64_t>(i) * incx];
    const double size = std::abs(static_cast<double>(v.x)) + std::abs(static_cast<double>(v.y));
    if (size < best || *result == 0) best = size, *result = i + 1;
  }
  wrote(result);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

#define RIDGE_ROTG(X, x, T, R)                                                   \
  cublasStatus_t cublas##X##rotg(Handle h, T* a, T* b, R* c, T* s) {             \
    RIDGE_BLAS(h, a != nullptr && b != nullptr && c != nullptr && s != nullptr); \
    x##rotg_(a, b, c, s);                                                        \
    wrote(a), wrote(b), wrote(c), wrote(s);                                      \
    return CUBLAS_STATUS_SUCCESS;                                                \
  }
#define RIDGE_ROT(name, fortran, T, C, S)                                                                \
  cublasStatus_t cublas##name(Handle h, int n, T* x, int incx, T* y, int incy, const C* c, const S* s) { \
    RIDGE_BLAS(h, c != nullptr && s != nullptr);                                                         \
    fortran(&n, x, &incx, y, &incy, c, s);                                                               \
    return CUBLAS_STATUS_SUCCESS;                                                                        \
  }
#define RIDGE_REAL(X, x, T)                                                                              \
  RIDGE_ROTG(X, x, T, T)                                                                                 \
  RIDGE_ROT(X##rot, x##rot_, T, T, T)                                                                    \
  cublasStatus_t cublas##X##rotm(Handle h, int n, T* v, int incv, T* y, int incy, const T* param) {      \
    RIDGE_BLAS(h, param != nullptr);                                                                     \
    x##rotm_(&n, v, &incv, y, &incy, param);                                                             \
    return CUBLAS_STATUS_SUCCESS;                                                                        \
  }                                                                                                      \
  cublasStatus_t cublas##X##rotmg(Handle h, T* d1, T* d2, T* x1, const T* y1, T* param) {                \
    RIDGE_BLAS(h, d1 != nullptr && d2 != nullptr && x1 != nullptr && y1 != nullptr && param != nullptr); \
    x##rotmg_(d1, d2, x1, y1, param);                                                                    \
    wrote(param, 5);                                                                                     \
    return CUBLAS_STATUS_SUCCESS;                                                                        \
  }
#define RIDGE_COMPLEX(X, x, T, R, RX, rx, real)                                                            \
  RIDGE_ROTG(X, x, T, R)                                                                                   \
  RIDGE_ROT(X##rot, x##rot_, T, R, T)                                                                      \
  RIDGE_ROT(X##rx##rot, x##rx##rot_, T, R, R)                                                              \
  cublasStatus_t cublas##X##axpy(Handle h, int n, const T* alpha, const T* v, int incv, T* y, int incy) {  \
    RIDGE_BLAS(h, alpha != nullptr);                                                                       \
    x##axpy_(&n, alpha, v, &incv, y, &incy);                                                               \
    return CUBLAS_STATUS_SUCCESS;                                                                          \
  }                                                                                                        \
  cublasStatus_t cublas##X##scal(Handle h, int n, const T* alpha, T* v, int incv) {                        \
    RIDGE_BLAS(h, alpha != nullptr);                                                                       \
    x##scal_(&n, alpha, v, &incv);                                                                         \
    return CUBLAS_STATUS_SUCCESS;                                                                          \
  }                                                                                                        \
  cublasStatus_t cublas##X##rx##scal(Handle h, int n, const R* alpha, T* v, int incv) {                    \
    RIDGE_BLAS(h, alpha != nullptr);                                                                       \
    x##rx##scal_(&n, alpha, v, &incv);                                                                     \
    return CUBLAS_STATUS_SUCCESS;                                                                          \
  }                                                                                                        \
  cublasStatus_t cublas##X##copy(Handle h, int n, const T* v, int incv, T* y, int incy) {                  \
    RIDGE_BLAS(h, true);                                                                                   \
    x##copy_(&n, v, &incv, y, &incy);                                                                      \
    wrote_vector(y, n, incy);                                                                              \
    return CUBLAS_STATUS_SUCCESS;                                                                          \
  }                                                                                                        \
  cublasStatus_t cublas##X##swap(Handle h, int n, T* v, int incv, T* y, int incy) {                        \
    RIDGE_BLAS(h, true);                                                                                   \
    x##swap_(&n, v, &incv, y, &incy);                                                                      \
    return CUBLAS_STATUS_SUCCESS;                                                                          \
  }                                                                                                        \
  cublasStatus_t cublas##X##dotu(Handle h, int n, const T* v, int incv, const T* y, int incy, T* result) { \
    return dot(h, n, v, incv, y, incy, result, false);                                                     \
  }                                                                                                        \
  cublasStatus_t cublas##X##dotc(Handle h, int n, const T* v, int incv, const T* y, int incy, T* result) { \
    return dot(h, n, v, incv, y, incy, result, true);                                                      \
  }                                                                                                        \
  cublasStatus_t cublas##RX##nrm2(Handle h, int n, const T* v, int incv, R* result) {                      \
    RIDGE_BLAS(h, result != nullptr);                                                                      \
    *result = real##nrm2_(&n, v, &incv);                                                                   \
    wrote(result);                                                                                         \
    return CUBLAS_STATUS_SUCCESS;                                                                          \
  }                                                                                                        \
  cublasStatus_t cublas##RX##asum(Handle h, int n, const T* v, int incv, R* result) {                      \
    RIDGE_BLAS(h, result != nullptr);                                                                      \
    *result = real##asum_(&n, v, &incv);                                                                   \
    wrote(result);                                                                                         \
    return CUBLAS_STATUS_SUCCESS;                                                                          \
  }                                                                                                        \
  cublasStatus_t cublasI##x##amax(Handle h, int n, const T* v, int incv, int* result) {                    \
    RIDGE_BLAS(h, result != nullptr);                                                                      \
    *result = i##x##amax_(&n, v, &incv);                                                                   \
    wrote(result);                                                                                         \
    return CUBLAS_STATUS_SUCCESS;                                                                          \
  }                                                                                                        \
  cublasStatus_t cublasI##x##amin(Handle h, int n, const T* v, int incv, int* result) {                    \
    return least(h, n, v, incv, result);                                                                   \
  }

extern "C" {
RIDGE_REAL(S, s, float)
RIDGE_REAL(D, d, double)
RIDGE_COMPLEX(C, c, cuComplex, float, Sc, s, sc)
RIDGE_COMPLEX(Z, z, cuDoubleComplex, double, Dz, d, dz)
}
