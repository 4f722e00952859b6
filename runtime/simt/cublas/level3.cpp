// cuBLAS's level 3 beyond products of real matrices, by BLAS.
#include <vector>

#include "cublas/call.hpp"

using namespace ridge::simt::blas;
using Handle = cublasHandle_t;
using Fill = cublasFillMode_t;
using Op = cublasOperation_t;
using Diag = cublasDiagType_t;
using Side = cublasSideMode_t;

namespace {

int order_of(Side side, int m, int n) { return side == CUBLAS_SIDE_LEFT ? m : n; }

template <class T>
constexpr bool kComplex = std::is_same_v<T, cuComplex> || std::is_same_v<T, cuDoubleComplex>;

// op(a) has n rows and k columns.
bool is_update(Fill u, Op op, int n, int k, int lda, int ldc) {
  return known(u) && known(op) && n >= 0 && k >= 0 && leads(lda, op == CUBLAS_OP_N ? n : k) && leads(ldc, n);
}
bool is_product(Op ta, Op tb, int m, int n, int k, int lda, int ldb, int ldc) {
  return known(ta) && known(tb) && m >= 0 && n >= 0 && k >= 0 && leads(lda, ta == CUBLAS_OP_N ? m : k) &&
         leads(ldb, tb == CUBLAS_OP_N ? k : n) && leads(ldc, m);
}

// One triangle of c = product + beta c; product: n x n. The diagonal of a Hermitian matrix is real.
template <class T, class R>
void merge(Fill u, int n, const std::vector<T>& product, R beta, T* c, int ldc, bool hermitian) {
  for (int j = 0; j < n; ++j)
    for (int i = u == CUBLAS_FILL_MODE_UPPER ? 0 : j; i <= (u == CUBLAS_FILL_MODE_UPPER ? j : n - 1); ++i) {
      T& to = c[static_cast<std::int64_t>(j) * ldc + i];
      const T from = product[static_cast<std::size_t>(j) * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)];
      to = beta == R(0) ? from : from + beta * to;
      if (hermitian && i == j) to = T(std::real(to));
    }
}

template <class T>
void copy_matrix(int m, int n, const T* b, int ldb, T* c, int ldc) {
  for (int j = 0; j < n && b != c; ++j)
    std::copy_n(b + static_cast<std::int64_t>(j) * ldb, m, c + static_cast<std::int64_t>(j) * ldc);
}

}  // namespace

#define RIDGE_SIDED(X, x, T, e)                                                                                       \
  cublasStatus_t cublas##X##e##mm(Handle h, Side side, Fill u, int m, int n, const T* alpha, const T* a, int lda,     \
                                  const T* b, int ldb, const T* beta, T* c, int ldc) {                                \
    RIDGE_BLAS(h, known(side) && known(u) && m >= 0 && n >= 0 && leads(lda, order_of(side, m, n)) && leads(ldb, m) && \
                      leads(ldc, m) && alpha && beta);                                                                \
    x##e##mm_(letter(side), letter(u), &m, &n, alpha, a, &lda, b, &ldb, beta, c, &ldc, 1, 1);                         \
    wrote_matrix(c, m, n, ldc);                                                                                       \
    return CUBLAS_STATUS_SUCCESS;                                                                                     \
  }
// e: sy or he; adjoint: the operation that makes a^T or a^H of `trans`; A, B: the types of alpha and beta.
#define RIDGE_UPDATES(X, x, T, e, adjoint, refused, A, B)                                                          \
  cublasStatus_t cublas##X##e##rk(Handle h, Fill u, Op op, int n, int k, const A* alpha, const T* a, int lda,      \
                                  const A* beta, T* c, int ldc) {                                                  \
    RIDGE_BLAS(h, is_update(u, op, n, k, lda, ldc) && op != (refused) && alpha && beta);                           \
    x##e##rk_(letter(u), letter(op), &n, &k, alpha, a, &lda, beta, c, &ldc, 1, 1);                                 \
    wrote_triangle(c, u, n, ldc);                                                                                  \
    return CUBLAS_STATUS_SUCCESS;                                                                                  \
  }                                                                                                                \
  cublasStatus_t cublas##X##e##r2k(Handle h, Fill u, Op op, int n, int k, const T* alpha, const T* a, int lda,     \
                                   const T* b, int ldb, const B* beta, T* c, int ldc) {                            \
    RIDGE_BLAS(h, is_update(u, op, n, k, std::min(lda, ldb), ldc) && op != (refused) && alpha && beta);            \
    x##e##r2k_(letter(u), letter(op), &n, &k, alpha, a, &lda, b, &ldb, beta, c, &ldc, 1, 1);                       \
    wrote_triangle(c, u, n, ldc);                                                                                  \
    return CUBLAS_STATUS_SUCCESS;                                                                                  \
  }                                                                                                                \
  cublasStatus_t cublas##X##e##rkx(Handle h, Fill u, Op op, int n, int k, const T* alpha, const T* a, int lda,     \
                                   const T* b, int ldb, const B* beta, T* c, int ldc) {                            \
    RIDGE_BLAS(h, is_update(u, op, n, k, std::min(lda, ldb), ldc) && op != (refused) && alpha && beta);            \
    using Element = Number<T>::Type;                                                                               \
    std::vector<Element> product(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));                       \
    const Element zero = 0;                                                                                        \
    const int ld = std::max(1, n);                                                                                 \
    x##gemm_(letter(op), letter(op == CUBLAS_OP_N ? (adjoint) : CUBLAS_OP_N), &n, &n, &k, alpha, a, &lda, b, &ldb, \
             &zero, product.data(), &ld, 1, 1);                                                                    \
    merge(u, n, product, *as(beta), as(c), ldc, (adjoint) == CUBLAS_OP_C && kComplex<T>);                          \
    wrote_triangle(c, u, n, ldc);                                                                                  \
    return CUBLAS_STATUS_SUCCESS;                                                                                  \
  }
#define RIDGE_PRODUCT(X, x, T, f)                                                                               \
  cublasStatus_t cublas##X##f(Handle h, Op ta, Op tb, int m, int n, int k, const T* alpha, const T* a, int lda, \
                              const T* b, int ldb, const T* beta, T* c, int ldc) {                              \
    RIDGE_BLAS(h, is_product(ta, tb, m, n, k, lda, ldb, ldc) && alpha && beta);                                 \
    x##gemm_(letter(ta), letter(tb), &m, &n, &k, alpha, a, &lda, b, &ldb, beta, c, &ldc, 1, 1);                 \
    wrote_matrix(c, m, n, ldc);                                                                                 \
    return CUBLAS_STATUS_SUCCESS;                                                                               \
  }
#define RIDGE_ALL(X, x, T, refused)                                                                                    \
  RIDGE_SIDED(X, x, T, sy)                                                                                             \
  RIDGE_UPDATES(X, x, T, sy, CUBLAS_OP_T, refused, T, T)                                                               \
  cublasStatus_t cublas##X##trsm(Handle h, Side side, Fill u, Op op, Diag d, int m, int n, const T* alpha, const T* a, \
                                 int lda, T* b, int ldb) {                                                             \
    RIDGE_BLAS(h, known(side) && known(u) && known(op) && m >= 0 && n >= 0 && leads(lda, order_of(side, m, n)) &&      \
                      leads(ldb, m) && alpha);                                                                         \
    x##trsm_(letter(side), letter(u), letter(op), letter(d), &m, &n, alpha, a, &lda, b, &ldb, 1, 1, 1, 1);             \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  cublasStatus_t cublas##X##trmm(Handle h, Side side, Fill u, Op op, Diag d, int m, int n, const T* alpha, const T* a, \
                                 int lda, const T* b, int ldb, T* c, int ldc) {                                        \
    RIDGE_BLAS(h, known(side) && known(u) && known(op) && m >= 0 && n >= 0 && leads(lda, order_of(side, m, n)) &&      \
                      leads(ldb, m) && leads(ldc, m) && alpha);                                                        \
    copy_matrix(m, n, b, ldb, c, ldc);                                                                                 \
    x##trmm_(letter(side), letter(u), letter(op), letter(d), &m, &n, alpha, a, &lda, c, &ldc, 1, 1, 1, 1);             \
    wrote_matrix(c, m, n, ldc);                                                                                        \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }
#define RIDGE_COMPLEX(X, x, T, R)                            \
  RIDGE_SIDED(X, x, T, he)                                   \
  RIDGE_UPDATES(X, x, T, he, CUBLAS_OP_C, CUBLAS_OP_T, R, R) \
  RIDGE_PRODUCT(X, x, T, gemm)                               \
  RIDGE_PRODUCT(X, x, T, gemm3m)

extern "C" {
RIDGE_ALL(S, s, float, CUBLAS_OP_CONJG)
RIDGE_ALL(D, d, double, CUBLAS_OP_CONJG)
RIDGE_ALL(C, c, cuComplex, CUBLAS_OP_C)
RIDGE_ALL(Z, z, cuDoubleComplex, CUBLAS_OP_C)
RIDGE_COMPLEX(C, c, cuComplex, float)
RIDGE_COMPLEX(Z, z, cuDoubleComplex, double)
}
