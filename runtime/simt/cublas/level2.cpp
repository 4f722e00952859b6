// cuBLAS's level 2 beyond gemv and ger of real numbers, by BLAS.
#include "cublas/call.hpp"

using namespace ridge::simt::blas;
using Handle = cublasHandle_t;
using Fill = cublasFillMode_t;
using Op = cublasOperation_t;
using Diag = cublasDiagType_t;

namespace {

// y with beta = 0 is written without being read: BLAS does so, and so what was there may be no number.
template <class T>
cublasStatus_t done(T* y, int n, int incy) {
  wrote_vector(y, n, incy);
  return CUBLAS_STATUS_SUCCESS;
}
int rows_of(Op op, int m, int n) { return op == CUBLAS_OP_N ? m : n; }

}  // namespace

// Triangular matrices: full, banded, packed. `mv` multiplies, `sv` solves.
#define RIDGE_TRIANGULAR(X, x, T, f)                                                                                   \
  cublasStatus_t cublas##X##tr##f(Handle h, Fill u, Op op, Diag d, int n, const T* a, int lda, T* v, int inc) {        \
    RIDGE_BLAS(h, known(u) && known(op) && n >= 0 && leads(lda, n) && inc != 0);                                       \
    x##tr##f##_(letter(u), letter(op), letter(d), &n, a, &lda, v, &inc, 1, 1, 1);                                      \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  cublasStatus_t cublas##X##tb##f(Handle h, Fill u, Op op, Diag d, int n, int k, const T* a, int lda, T* v, int inc) { \
    RIDGE_BLAS(h, known(u) && known(op) && n >= 0 && k >= 0 && leads(lda, k + 1) && inc != 0);                         \
    x##tb##f##_(letter(u), letter(op), letter(d), &n, &k, a, &lda, v, &inc, 1, 1, 1);                                  \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  cublasStatus_t cublas##X##tp##f(Handle h, Fill u, Op op, Diag d, int n, const T* ap, T* v, int inc) {                \
    RIDGE_BLAS(h, known(u) && known(op) && n >= 0 && inc != 0);                                                        \
    x##tp##f##_(letter(u), letter(op), letter(d), &n, ap, v, &inc, 1, 1, 1);                                           \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }

// y = alpha a x + beta y for symmetric and Hermitian a; e: sy or he.
#define RIDGE_SELF_ADJOINT_MV(X, x, T, e)                                                                             \
  cublasStatus_t cublas##X##e##mv(Handle h, Fill u, int n, const T* alpha, const T* a, int lda, const T* v, int incx, \
                                  const T* beta, T* y, int incy) {                                                    \
    RIDGE_BLAS(h, known(u) && n >= 0 && leads(lda, n) && incx != 0 && incy != 0 && alpha && beta);                    \
    x##e##mv_(letter(u), &n, alpha, a, &lda, v, &incx, beta, y, &incy, 1);                                            \
    return done(y, n, incy);                                                                                          \
  }
// a += alpha x x^T (or x^H); e: sy or he, R: the type of alpha.
#define RIDGE_RANK_1(X, x, T, R, e)                                                                             \
  cublasStatus_t cublas##X##e##r(Handle h, Fill u, int n, const R* alpha, const T* v, int inc, T* a, int lda) { \
    RIDGE_BLAS(h, known(u) && n >= 0 && leads(lda, n) && inc != 0 && alpha);                                    \
    x##e##r_(letter(u), &n, alpha, v, &inc, a, &lda, 1);                                                        \
    return CUBLAS_STATUS_SUCCESS;                                                                               \
  }

#define RIDGE_ALL(X, x, T)                                                                                           \
  RIDGE_TRIANGULAR(X, x, T, mv)                                                                                      \
  RIDGE_TRIANGULAR(X, x, T, sv)                                                                                      \
  RIDGE_SELF_ADJOINT_MV(X, x, T, sy)                                                                                 \
  RIDGE_RANK_1(X, x, T, T, sy)                                                                                       \
  cublasStatus_t cublas##X##gbmv(Handle h, Op op, int m, int n, int kl, int ku, const T* alpha, const T* a, int lda, \
                                 const T* v, int incx, const T* beta, T* y, int incy) {                              \
    RIDGE_BLAS(h, known(op) && m >= 0 && n >= 0 && kl >= 0 && ku >= 0 && leads(lda, kl + ku + 1) && incx != 0 &&     \
                      incy != 0 && alpha && beta);                                                                   \
    x##gbmv_(letter(op), &m, &n, &kl, &ku, alpha, a, &lda, v, &incx, beta, y, &incy, 1);                             \
    return done(y, rows_of(op, m, n), incy);                                                                         \
  }

// b, p, e: sb, sp, sy or hb, hp, he.
#define RIDGE_SELF_ADJOINT(X, x, T, R, b, p, e)                                                                        \
  cublasStatus_t cublas##X##b##mv(Handle h, Fill u, int n, int k, const T* alpha, const T* a, int lda, const T* v,     \
                                  int incx, const T* beta, T* y, int incy) {                                           \
    RIDGE_BLAS(h, known(u) && n >= 0 && k >= 0 && leads(lda, k + 1) && incx != 0 && incy != 0 && alpha && beta);       \
    x##b##mv_(letter(u), &n, &k, alpha, a, &lda, v, &incx, beta, y, &incy, 1);                                         \
    return done(y, n, incy);                                                                                           \
  }                                                                                                                    \
  cublasStatus_t cublas##X##p##mv(Handle h, Fill u, int n, const T* alpha, const T* ap, const T* v, int incx,          \
                                  const T* beta, T* y, int incy) {                                                     \
    RIDGE_BLAS(h, known(u) && n >= 0 && incx != 0 && incy != 0 && alpha && beta);                                      \
    x##p##mv_(letter(u), &n, alpha, ap, v, &incx, beta, y, &incy, 1);                                                  \
    return done(y, n, incy);                                                                                           \
  }                                                                                                                    \
  cublasStatus_t cublas##X##p##r(Handle h, Fill u, int n, const R* alpha, const T* v, int inc, T* ap) {                \
    RIDGE_BLAS(h, known(u) && n >= 0 && inc != 0 && alpha);                                                            \
    x##p##r_(letter(u), &n, alpha, v, &inc, ap, 1);                                                                    \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  cublasStatus_t cublas##X##p##r2(Handle h, Fill u, int n, const T* alpha, const T* v, int incx, const T* y, int incy, \
                                  T* ap) {                                                                             \
    RIDGE_BLAS(h, known(u) && n >= 0 && incx != 0 && incy != 0 && alpha);                                              \
    x##p##r2_(letter(u), &n, alpha, v, &incx, y, &incy, ap, 1);                                                        \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  cublasStatus_t cublas##X##e##r2(Handle h, Fill u, int n, const T* alpha, const T* v, int incx, const T* y, int incy, \
                                  T* a, int lda) {                                                                     \
    RIDGE_BLAS(h, known(u) && n >= 0 && leads(lda, n) && incx != 0 && incy != 0 && alpha);                             \
    x##e##r2_(letter(u), &n, alpha, v, &incx, y, &incy, a, &lda, 1);                                                   \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }

#define RIDGE_COMPLEX_GER(X, x, T, f)                                                                             \
  cublasStatus_t cublas##X##f(Handle h, int m, int n, const T* alpha, const T* v, int incx, const T* y, int incy, \
                              T* a, int lda) {                                                                    \
    RIDGE_BLAS(h, m >= 0 && n >= 0 && leads(lda, m) && incx != 0 && incy != 0 && alpha);                          \
    x##f##_(&m, &n, alpha, v, &incx, y, &incy, a, &lda);                                                          \
    return CUBLAS_STATUS_SUCCESS;                                                                                 \
  }
// BLAS has syr2 of real matrices alone.
#define RIDGE_COMPLEX_SYR2(X, x, T)                                                                                   \
  cublasStatus_t cublas##X##syr2(Handle h, Fill u, int n, const T* alpha, const T* v, int incx, const T* y, int incy, \
                                 T* a, int lda) {                                                                     \
    RIDGE_BLAS(h, known(u) && n >= 0 && leads(lda, n) && incx != 0 && incy != 0 && alpha);                            \
    for (int j = 0; j < n; ++j)                                                                                       \
      for (int i = u == CUBLAS_FILL_MODE_UPPER ? 0 : j; i <= (u == CUBLAS_FILL_MODE_UPPER ? j : n - 1); ++i)          \
        as(a)[static_cast<std::int64_t>(j) * lda + i] +=                                                              \
            *as(alpha) * (as(v)[place(i, n, incx)] * as(y)[place(j, n, incy)] +                                       \
                          as(y)[place(i, n, incy)] * as(v)[place(j, n, incx)]);                                       \
    return CUBLAS_STATUS_SUCCESS;                                                                                     \
  }
#define RIDGE_COMPLEX(X, x, T, R)                                                                                \
  RIDGE_COMPLEX_SYR2(X, x, T)                                                                                    \
  RIDGE_COMPLEX_GER(X, x, T, geru)                                                                               \
  RIDGE_COMPLEX_GER(X, x, T, gerc)                                                                               \
  RIDGE_SELF_ADJOINT_MV(X, x, T, he)                                                                             \
  RIDGE_RANK_1(X, x, T, R, he)                                                                                   \
  cublasStatus_t cublas##X##gemv(Handle h, Op op, int m, int n, const T* alpha, const T* a, int lda, const T* v, \
                                 int incx, const T* beta, T* y, int incy) {                                      \
    RIDGE_BLAS(h, known(op) && m >= 0 && n >= 0 && leads(lda, m) && incx != 0 && incy != 0 && alpha && beta);    \
    x##gemv_(letter(op), &m, &n, alpha, a, &lda, v, &incx, beta, y, &incy, 1);                                   \
    return done(y, rows_of(op, m, n), incy);                                                                     \
  }

extern "C" {
RIDGE_ALL(S, s, float)
RIDGE_ALL(D, d, double)
RIDGE_ALL(C, c, cuComplex)
RIDGE_ALL(Z, z, cuDoubleComplex)
RIDGE_SELF_ADJOINT(S, s, float, float, sb, sp, sy)
RIDGE_SELF_ADJOINT(D, d, double, double, sb, sp, sy)
RIDGE_SELF_ADJOINT(C, c, cuComplex, float, hb, hp, he)
RIDGE_SELF_ADJOINT(Z, z, cuDoubleComplex, double, hb, hp, he)
RIDGE_COMPLEX(C, c, cuComplex, float)
RIDGE_COMPLEX(Z, z, cuDoubleComplex, double)
}
