// What cuBLAS has beyond BLAS: batches, sums and scalings of whole matrices, packed triangles, types as arguments.
#include <cmath>

#include "cublas/call.hpp"

using namespace ridge::simt::blas;
using Handle = cublasHandle_t;
using Fill = cublasFillMode_t;
using Op = cublasOperation_t;
using Diag = cublasDiagType_t;
using Side = cublasSideMode_t;

namespace {

// call(i) for each of a batch, until one fails. The arrays of addresses may be work of the stream.
template <class Call>
cublasStatus_t each(Handle h, int batch, Call call) {
  RIDGE_BLAS(h, batch >= 0);
  return ridge::simt::each_of(batch, CUBLAS_STATUS_SUCCESS, call);
}

template <class T>
T at(const T* a, int ld, Op op, int i, int j) {
  const T v = op == CUBLAS_OP_N ? a[static_cast<std::int64_t>(j) * ld + i] : a[static_cast<std::int64_t>(i) * ld + j];
  return op == CUBLAS_OP_C ? T(conjugate(v)) : v;
}

template <class T>
void geam(Op ta, Op tb, int m, int n, T alpha, const T* a, int lda, T beta, const T* b, int ldb, T* c, int ldc) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      T sum = alpha == T(0) ? T(0) : alpha * at(a, lda, ta, i, j);
      if (beta != T(0)) sum += beta * at(b, ldb, tb, i, j);
      c[static_cast<std::int64_t>(j) * ldc + i] = sum;
    }
}

// c = a diag(x), or diag(x) a.
template <class T>
void dgmm(Side side, int m, int n, const T* a, int lda, const T* x, int incx, T* c, int ldc) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      c[static_cast<std::int64_t>(j) * ldc + i] =
          a[static_cast<std::int64_t>(j) * lda + i] * x[left ? place(i, m, incx) : place(j, n, incx)];
}

// f(packed place, row, column) for each element of a triangle, columns one behind the other.
template <class F>
void each_of_triangle(Fill u, int n, F f) {
  std::int64_t p = 0;
  for (int j = 0; j < n; ++j)
    for (int i = u == CUBLAS_FILL_MODE_UPPER ? 0 : j; i <= (u == CUBLAS_FILL_MODE_UPPER ? j : n - 1); ++i) f(p++, i, j);
}

// Bytes of one alpha in an array of them.
std::size_t scalar_bytes(cublasComputeType_t compute, cudaDataType c_type) {
  const bool complex = c_type == CUDA_C_32F || c_type == CUDA_C_64F;
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return 2;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return complex ? 16 : 8;
    default:
      return complex ? 8 : 4;
  }
}

}  // namespace

#define RIDGE_ALL(X, T)                                                                                               \
  cublasStatus_t cublas##X##trsmBatched(Handle h, Side side, Fill u, Op op, Diag d, int m, int n, const T* alpha,     \
                                        const T* const a[], int lda, T* const b[], int ldb, int batch) {              \
    return each(h, batch,                                                                                             \
                [&](int i) { return cublas##X##trsm(h, side, u, op, d, m, n, alpha, a[i], lda, b[i], ldb); });        \
  }                                                                                                                   \
  cublasStatus_t cublas##X##gemvBatched(Handle h, Op op, int m, int n, const T* alpha, const T* const a[], int lda,   \
                                        const T* const v[], int incx, const T* beta, T* const y[], int incy,          \
                                        int batch) {                                                                  \
    return each(h, batch,                                                                                             \
                [&](int i) { return cublas##X##gemv(h, op, m, n, alpha, a[i], lda, v[i], incx, beta, y[i], incy); }); \
  }                                                                                                                   \
  cublasStatus_t cublas##X##gemvStridedBatched(Handle h, Op op, int m, int n, const T* alpha, const T* a, int lda,    \
                                               long long sa, const T* v, int incx, long long sx, const T* beta, T* y, \
                                               int incy, long long sy, int batch) {                                   \
    return each(h, batch, [&](int i) {                                                                                \
      return cublas##X##gemv(h, op, m, n, alpha, a + i * sa, lda, v + i * sx, incx, beta, y + i * sy, incy);          \
    });                                                                                                               \
  }                                                                                                                   \
  cublasStatus_t cublas##X##dgmm(Handle h, Side side, int m, int n, const T* a, int lda, const T* v, int incx, T* c,  \
                                 int ldc) {                                                                           \
    RIDGE_BLAS(h, m >= 0 && n >= 0 && leads(lda, m) && leads(ldc, m));                                                \
    dgmm(side, m, n, as(a), lda, as(v), incx, as(c), ldc);                                                            \
    wrote_matrix(c, m, n, ldc);                                                                                       \
    return CUBLAS_STATUS_SUCCESS;                                                                                     \
  }                                                                                                                   \
  cublasStatus_t cublas##X##tpttr(Handle h, Fill u, int n, const T* ap, T* a, int lda) {                              \
    RIDGE_BLAS(h, known(u) && n >= 0 && leads(lda, n));                                                               \
    each_of_triangle(u, n, [&](std::int64_t p, int i, int j) { a[static_cast<std::int64_t>(j) * lda + i] = ap[p]; }); \
    wrote_triangle(a, u, n, lda);                                                                                     \
    return CUBLAS_STATUS_SUCCESS;                                                                                     \
  }                                                                                                                   \
  cublasStatus_t cublas##X##trttp(Handle h, Fill u, int n, const T* a, int lda, T* ap) {                              \
    RIDGE_BLAS(h, known(u) && n >= 0 && leads(lda, n));                                                               \
    each_of_triangle(u, n, [&](std::int64_t p, int i, int j) { ap[p] = a[static_cast<std::int64_t>(j) * lda + i]; }); \
    wrote(ap, packed(n));                                                                                             \
    return CUBLAS_STATUS_SUCCESS;                                                                                     \
  }
#define RIDGE_REAL(X, T)                                                                                             \
  cublasStatus_t cublas##X##gemmGroupedBatched(Handle h, const Op ta[], const Op tb[], const int m[], const int n[], \
                                               const int k[], const T alpha[], const T* const a[], const int lda[],  \
                                               const T* const b[], const int ldb[], const T beta[], T* const c[],    \
                                               const int ldc[], int groups, const int size[]) {                      \
    int first = 0;                                                                                                   \
    return each(h, groups, [&](int g) {                                                                              \
      const auto one = [&](int i) {                                                                                  \
        return cublas##X##gemm(h, ta[g], tb[g], m[g], n[g], k[g], &alpha[g], a[first + i], lda[g], b[first + i],     \
                               ldb[g], &beta[g], c[first + i], ldc[g]);                                              \
      };                                                                                                             \
      const cublasStatus_t status = each(h, size[g], one);                                                           \
      first += size[g];                                                                                              \
      return status;                                                                                                 \
    });                                                                                                              \
  }
#define RIDGE_COMPLEX(X, T)                                                                                          \
  cublasStatus_t cublas##X##gemmBatched(Handle h, Op ta, Op tb, int m, int n, int k, const T* alpha,                 \
                                        const T* const a[], int lda, const T* const b[], int ldb, const T* beta,     \
                                        T* const c[], int ldc, int batch) {                                          \
    return each(h, batch, [&](int i) {                                                                               \
      return cublas##X##gemm(h, ta, tb, m, n, k, alpha, a[i], lda, b[i], ldb, beta, c[i], ldc);                      \
    });                                                                                                              \
  }                                                                                                                  \
  cublasStatus_t cublas##X##gemmStridedBatched(Handle h, Op ta, Op tb, int m, int n, int k, const T* alpha,          \
                                               const T* a, int lda, long long sa, const T* b, int ldb, long long sb, \
                                               const T* beta, T* c, int ldc, long long sc, int batch) {              \
    return each(h, batch, [&](int i) {                                                                               \
      return cublas##X##gemm(h, ta, tb, m, n, k, alpha, a + i * sa, lda, b + i * sb, ldb, beta, c + i * sc, ldc);    \
    });                                                                                                              \
  }                                                                                                                  \
  cublasStatus_t cublas##X##geam(Handle h, Op ta, Op tb, int m, int n, const T* alpha, const T* a, int lda,          \
                                 const T* beta, const T* b, int ldb, T* c, int ldc) {                                \
    RIDGE_BLAS(h, known(ta) && known(tb) && m >= 0 && n >= 0 && leads(ldc, m) && alpha && beta);                     \
    geam(ta, tb, m, n, *as(alpha), as(a), lda, *as(beta), as(b), ldb, as(c), ldc);                                   \
    wrote_matrix(c, m, n, ldc);                                                                                      \
    return CUBLAS_STATUS_SUCCESS;                                                                                    \
  }

extern "C" {
RIDGE_ALL(S, float)
RIDGE_ALL(D, double)
RIDGE_ALL(C, cuComplex)
RIDGE_ALL(Z, cuDoubleComplex)
RIDGE_REAL(S, float)
RIDGE_REAL(D, double)
RIDGE_COMPLEX(C, cuComplex)
RIDGE_COMPLEX(Z, cuDoubleComplex)

cublasStatus_t cublasAxpyEx(Handle h, int n, const void* alpha, cudaDataType alpha_type, const void* x,
                            cudaDataType x_type, int incx, void* y, cudaDataType y_type, int incy, cudaDataType) {
  if (alpha_type != x_type || x_type != y_type) return CUBLAS_STATUS_NOT_SUPPORTED;
  RIDGE_BLAS(h, alpha && incx != 0 && incy != 0);
  return ridge::simt::with_type(x_type, CUBLAS_STATUS_NOT_SUPPORTED, [&](auto* of) {
    using T = std::remove_pointer_t<decltype(of)>;
    for (int i = 0; i < n; ++i)
      static_cast<T*>(y)[place(i, n, incy)] +=
          *static_cast<const T*>(alpha) * static_cast<const T*>(x)[place(i, n, incx)];
    return CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasScalEx(Handle h, int n, const void* alpha, cudaDataType alpha_type, void* x, cudaDataType x_type,
                            int incx, cudaDataType) {
  if (alpha_type != x_type) return CUBLAS_STATUS_NOT_SUPPORTED;
  RIDGE_BLAS(h, alpha && incx > 0);
  return ridge::simt::with_type(x_type, CUBLAS_STATUS_NOT_SUPPORTED, [&](auto* of) {
    using T = std::remove_pointer_t<decltype(of)>;
    for (int i = 0; i < n; ++i) static_cast<T*>(x)[place(i, n, incx)] *= *static_cast<const T*>(alpha);
    return CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasDotcEx(Handle h, int n, const void* x, cudaDataType x_type, int incx, const void* y,
                            cudaDataType y_type, int incy, void* result, cudaDataType result_type, cudaDataType) {
  if (x_type != y_type || x_type != result_type) return CUBLAS_STATUS_NOT_SUPPORTED;
  RIDGE_BLAS(h, result && incx != 0 && incy != 0);
  return ridge::simt::with_type(x_type, CUBLAS_STATUS_NOT_SUPPORTED, [&](auto* of) {
    using T = std::remove_pointer_t<decltype(of)>;
    T sum = 0;
    for (int i = 0; i < n; ++i)
      sum += T(conjugate(static_cast<const T*>(x)[place(i, n, incx)])) * static_cast<const T*>(y)[place(i, n, incy)];
    *static_cast<T*>(result) = sum;
    wrote(static_cast<T*>(result));
    return CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasNrm2Ex(Handle h, int n, const void* x, cudaDataType x_type, int incx, void* result,
                            cudaDataType result_type, cudaDataType) {
  const bool is_double = x_type == CUDA_R_64F || x_type == CUDA_C_64F;
  if (result_type != (is_double ? CUDA_R_64F : CUDA_R_32F)) return CUBLAS_STATUS_NOT_SUPPORTED;
  RIDGE_BLAS(h, result);
  return ridge::simt::with_type(x_type, CUBLAS_STATUS_NOT_SUPPORTED, [&](auto* of) {
    using T = std::remove_pointer_t<decltype(of)>;
    double sum = 0;
    for (int i = 0; i < n && incx > 0; ++i)
      sum += std::norm(std::complex<double>(static_cast<const T*>(x)[place(i, n, incx)]));
    if (is_double)
      *static_cast<double*>(result) = std::sqrt(sum);
    else
      *static_cast<float*>(result) = static_cast<float>(std::sqrt(sum));
    wrote(static_cast<char*>(result), is_double ? 8 : 4);
    return CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasRotEx(Handle h, int n, void* x, cudaDataType x_type, int incx, void* y, cudaDataType y_type,
                           int incy, const void* c, const void* s, cudaDataType cs_type, cudaDataType) {
  if (x_type != y_type || cs_type != x_type) return CUBLAS_STATUS_NOT_SUPPORTED;
  RIDGE_BLAS(h, c && s && incx != 0 && incy != 0);
  return ridge::simt::with_type(x_type, CUBLAS_STATUS_NOT_SUPPORTED, [&](auto* of) {
    using T = std::remove_pointer_t<decltype(of)>;
    const auto cosine = std::real(*static_cast<const T*>(c));
    const T sine = *static_cast<const T*>(s);
    for (int i = 0; i < n; ++i) {
      T &a = static_cast<T*>(x)[place(i, n, incx)], &b = static_cast<T*>(y)[place(i, n, incy)];
      const T was = a;
      a = cosine * was + sine * b;
      b = cosine * b - T(conjugate(sine)) * was;
    }
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGemmBatchedEx(Handle h, Op ta, Op tb, int m, int n, int k, const void* alpha,
                                   const void* const a[], cudaDataType a_type, int lda, const void* const b[],
                                   cudaDataType b_type, int ldb, const void* beta, void* const c[], cudaDataType c_type,
                                   int ldc, int batch, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return each(h, batch, [&](int i) {
    return cublasGemmEx(h, ta, tb, m, n, k, alpha, a[i], a_type, lda, b[i], b_type, ldb, beta, c[i], c_type, ldc,
                        compute, algorithm);
  });
}
cublasStatus_t cublasGemmGroupedBatchedEx(Handle h, const Op ta[], const Op tb[], const int m[], const int n[],
                                          const int k[], const void* alpha, const void* const a[], cudaDataType a_type,
                                          const int lda[], const void* const b[], cudaDataType b_type, const int ldb[],
                                          const void* beta, void* const c[], cudaDataType c_type, const int ldc[],
                                          int groups, const int size[], cublasComputeType_t compute) {
  int first = 0;
  return each(h, groups, [&](int g) {
    const std::size_t scalar = static_cast<std::size_t>(g) * scalar_bytes(compute, c_type);
    const cublasStatus_t status =
        cublasGemmBatchedEx(h, ta[g], tb[g], m[g], n[g], k[g], static_cast<const char*>(alpha) + scalar, a + first,
                            a_type, lda[g], b + first, b_type, ldb[g], static_cast<const char*>(beta) + scalar,
                            c + first, c_type, ldc[g], size[g], compute, CUBLAS_GEMM_DEFAULT);
    first += size[g];
    return status;
  });
}

// Of complex numbers in single precision: cuBLAS takes int8 as well.
#define RIDGE_COMPLEX_UPDATE(name, function, R)                                                                     \
  cublasStatus_t cublas##name(Handle h, Fill u, Op op, int n, int k, const R* alpha, const void* a,                 \
                              cudaDataType a_type, int lda, const R* beta, void* c, cudaDataType c_type, int ldc) { \
    if (a_type != CUDA_C_32F || c_type != CUDA_C_32F) return CUBLAS_STATUS_NOT_SUPPORTED;                           \
    return function(h, u, op, n, k, alpha, static_cast<const cuComplex*>(a), lda, beta, static_cast<cuComplex*>(c), \
                    ldc);                                                                                           \
  }
RIDGE_COMPLEX_UPDATE(CsyrkEx, cublasCsyrk, cuComplex)
RIDGE_COMPLEX_UPDATE(Csyrk3mEx, cublasCsyrk, cuComplex)
RIDGE_COMPLEX_UPDATE(CherkEx, cublasCherk, float)
RIDGE_COMPLEX_UPDATE(Cherk3mEx, cublasCherk, float)
}
