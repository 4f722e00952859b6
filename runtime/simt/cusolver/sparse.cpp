// cuSOLVER's sparse solvers (include/cusolverSp.h).
#include "cusolver/solve.hpp"
#include "cusolver/sparse_factors.hpp"
#include "cusolverSp.h"
#include "sparse/descriptors.hpp"

struct cusolverSpContext {
  cudaStream_t stream = nullptr;
};
struct csrqrInfo {
  int m = -1, n = -1, nnz = -1;
  int batch = 0;  // at most, as BufferInfo was told
};

namespace ridge::simt::solver {

inline double wide(double v) { return v; }
inline std::complex<double> wide(std::complex<double> v) { return v; }
inline std::complex<double> wide(std::complex<float> v) { return v; }
inline float narrow(double v, const float*) { return static_cast<float>(v); }
inline double narrow(double v, const double*) { return v; }
inline std::complex<float> narrow(std::complex<double> v, const std::complex<float>*) { return std::complex<float>(v); }
inline std::complex<double> narrow(std::complex<double> v, const std::complex<double>*) { return v; }

template <class T>
using Wide = decltype(wide(T()));

template <class T>
struct SparseMatrix {
  int m, n;
  const T* values;
  const int *offsets, *columns;
  int base;

  SparseRow<Wide<T>> row(int i) const {
    SparseRow<Wide<T>> out;
    for (int k = offsets[i] - base; k < offsets[i + 1] - base; ++k) out[columns[k] - base] += wide(values[k]);
    return out;
  }
};

inline cusolverStatus_t begin_sparse(cusolverSpHandle_t handle, const cusparseMatDescr_t a, bool good) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (a == nullptr || !good) return CUSOLVER_STATUS_INVALID_VALUE;
  if (a->type != CUSPARSE_MATRIX_TYPE_GENERAL) return CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
  if (cudaStreamSynchronize(handle->stream) != cudaSuccess) return CUSOLVER_STATUS_EXECUTION_FAILED;
  Trace::unsupported("a call of cuSOLVER");
  return CUSOLVER_STATUS_SUCCESS;
}
#define RIDGE_SPARSE(handle, a, good)                                                       \
  if (const cusolverStatus_t status = ::ridge::simt::solver::begin_sparse(handle, a, good); \
      status != CUSOLVER_STATUS_SUCCESS)                                                    \
  return status

template <class T>
void write_solution(const std::vector<Wide<T>>& from, T* x) {
  for (std::size_t i = 0; i < from.size(); ++i) x[i] = narrow(from[i], x);
  wrote(x, static_cast<std::int64_t>(from.size()));
}

template <class T>
SparseQr<Wide<T>> factor_qr(const SparseMatrix<T>& a, const T* b) {
  SparseQr<Wide<T>> qr(a.n);
  for (int i = 0; i < a.m; ++i) qr.add(a.row(i), wide(b[i]));
  return qr;
}

template <class T>
cusolverStatus_t solve_qr(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t a, const T* values,
                          const int* offsets, const int* columns, const T* b, double tolerance, T* x,
                          int* singularity) {
  RIDGE_SPARSE(handle, a, n >= 0 && nnz >= 0 && singularity != nullptr);
  const auto qr = factor_qr(SparseMatrix<T>{n, n, values, offsets, columns, a->base}, b);
  *singularity = qr.singular(tolerance);
  if (*singularity < 0) write_solution(qr.solve(), x);
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
cusolverStatus_t solve_cholesky(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t a, const T* values,
                                const int* offsets, const int* columns, const T* b, double tolerance, T* x,
                                int* singularity) {
  RIDGE_SPARSE(handle, a, n >= 0 && nnz >= 0 && singularity != nullptr);
  const SparseMatrix<T> matrix{n, n, values, offsets, columns, a->base};
  SparseCholesky<Wide<T>> factor;
  *singularity = -1;
  for (int i = 0; i < n; ++i)
    if (!factor.add(matrix.row(i), tolerance)) {
      *singularity = i;
      return CUSOLVER_STATUS_SUCCESS;
    }
  std::vector<Wide<T>> right;
  for (int i = 0; i < n; ++i) right.push_back(wide(b[i]));
  write_solution(factor.solve(std::move(right)), x);
  return CUSOLVER_STATUS_SUCCESS;
}

inline bool analysed(const csrqrInfo* info, int m, int n, int nnz) {
  return info != nullptr && info->m == m && info->n == n && info->nnz == nnz;
}

template <class T>
cusolverStatus_t solve_batch(cusolverSpHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t a,
                             const T* values, const int* offsets, const int* columns, const T* b, T* x, int count,
                             csrqrInfo_t info, const void* buffer) {
  RIDGE_SPARSE(handle, a, analysed(info, m, n, nnz) && count >= 1 && count <= info->batch && buffer != nullptr);
  for (std::int64_t s = 0; s < count; ++s) {
    const auto qr = factor_qr(SparseMatrix<T>{m, n, values + s * nnz, offsets, columns, a->base}, b + s * m);
    // Without a word about it: as on a GPU, where a diagonal of 0 divides.
    if (qr.singular(0) < 0)
      write_solution(qr.solve(), x + s * n);
    else
      write_solution(std::vector<Wide<T>>(static_cast<std::size_t>(n), Wide<T>(NAN)), x + s * n);
  }
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace ridge::simt::solver

namespace solver = ridge::simt::solver;
using ridge::simt::as;

#define RIDGE_SPARSE_SYSTEM(X, T, R, name, solve)                                                                     \
  cusolverStatus_t cusolverSp##X##name(cusolverSpHandle_t h, int n, int nnz, const cusparseMatDescr_t a, const T* v,  \
                                       const int* offsets, const int* columns, const T* b, R tol, int, T* x,          \
                                       int* singularity) {                                                            \
    return solver::solve(h, n, nnz, a, as(v), offsets, columns, as(b), static_cast<double>(tol), as(x), singularity); \
  }
#define RIDGE_SPARSE_SOLVER(X, T, R)                                                                             \
  RIDGE_SPARSE_SYSTEM(X, T, R, csrlsvqr, solve_qr)                                                               \
  RIDGE_SPARSE_SYSTEM(X, T, R, csrlsvqrHost, solve_qr)                                                           \
  RIDGE_SPARSE_SYSTEM(X, T, R, csrlsvluHost, solve_qr)                                                           \
  RIDGE_SPARSE_SYSTEM(X, T, R, csrlsvchol, solve_cholesky)                                                       \
  RIDGE_SPARSE_SYSTEM(X, T, R, csrlsvcholHost, solve_cholesky)                                                   \
  cusolverStatus_t cusolverSp##X##csrqrBufferInfoBatched(                                                        \
      cusolverSpHandle_t h, int m, int n, int nnz, const cusparseMatDescr_t a, const T*, const int*, const int*, \
      int count, csrqrInfo_t info, size_t* internal_bytes, size_t* workspace_bytes) {                            \
    RIDGE_SPARSE(h, a, solver::analysed(info, m, n, nnz) && count >= 1 && internal_bytes && workspace_bytes);    \
    info->batch = count;                                                                                         \
    *internal_bytes = *workspace_bytes = 256; /* programs allocate it */                                         \
    return CUSOLVER_STATUS_SUCCESS;                                                                              \
  }                                                                                                              \
  cusolverStatus_t cusolverSp##X##csrqrsvBatched(                                                                \
      cusolverSpHandle_t h, int m, int n, int nnz, const cusparseMatDescr_t a, const T* v, const int* offsets,   \
      const int* columns, const T* b, T* x, int count, csrqrInfo_t info, void* buffer) {                         \
    return solver::solve_batch(h, m, n, nnz, a, as(v), offsets, columns, as(b), as(x), count, info, buffer);     \
  }

extern "C" {
cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t* handle) {
  if (handle == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *handle = new cusolverSpContext;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverSpGetStream(cusolverSpHandle_t handle, cudaStream_t* stream) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  *stream = handle->stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverSpCreateCsrqrInfo(csrqrInfo_t* info) {
  if (info == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *info = new csrqrInfo;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverSpDestroyCsrqrInfo(csrqrInfo_t info) {
  delete info;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverSpXcsrqrAnalysisBatched(cusolverSpHandle_t handle, int m, int n, int nnz,
                                                 const cusparseMatDescr_t a, const int* offsets, const int* columns,
                                                 csrqrInfo_t info) {
  RIDGE_SPARSE(handle, a, n >= 1 && m >= n && nnz >= 0 && offsets != nullptr && columns != nullptr && info != nullptr);
  *info = {m, n, nnz, 0};
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverSpXcsrissymHost(cusolverSpHandle_t handle, int m, int, const cusparseMatDescr_t a,
                                         const int* offsets, const int* ends, const int* columns, int* symmetric) {
  RIDGE_SPARSE(handle, a, m >= 0 && symmetric != nullptr);
  const auto has = [&](int i, int j) {
    const int *begin = columns + offsets[i] - a->base, *end = columns + ends[i] - a->base;
    return std::find(begin, end, j + a->base) != end;
  };
  *symmetric = 1;
  for (int i = 0; i < m; ++i)
    for (int k = offsets[i] - a->base; k < ends[i] - a->base; ++k)
      if (!has(columns[k] - a->base, i)) *symmetric = 0;
  return CUSOLVER_STATUS_SUCCESS;
}
RIDGE_SPARSE_SOLVER(S, float, float)
RIDGE_SPARSE_SOLVER(D, double, double)
RIDGE_SPARSE_SOLVER(C, cuComplex, float)
RIDGE_SPARSE_SOLVER(Z, cuDoubleComplex, double)
}
