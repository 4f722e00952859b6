// cuSOLVER's sparse solvers on the CPU: systems of CSR matrices by QR and Cholesky, alone and in batches of one pattern, in float,
// double and complex. Programs are linked with -lcusolver. Numbers are computed in double; `reorder` changes speed alone on a GPU,
// and nothing here. A call waits for its stream and has ended when it returns.
#pragma once
#ifdef RIDGE_JUDGED
#error <cusolverSp.h> is not for labs: write the solver as a kernel
#endif
#include "cublas_v2.h"
#include "cusolver_common.h"
#include "cusparse.h"

typedef struct cusolverSpContext* cusolverSpHandle_t;
typedef struct csrqrInfo* csrqrInfo_t;

RIDGE_BEGIN_C
cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t* handle);
cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle);
cusolverStatus_t cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t stream);
cusolverStatus_t cusolverSpGetStream(cusolverSpHandle_t handle, cudaStream_t* stream);

// Batches: the same pattern for all, values of nnz elements one behind the other, right-hand sides of m, solutions of n. With more
// rows than columns, least squares. At most as many at once as BufferInfo was told of last.
cusolverStatus_t cusolverSpCreateCsrqrInfo(csrqrInfo_t* info);
cusolverStatus_t cusolverSpDestroyCsrqrInfo(csrqrInfo_t info);
cusolverStatus_t cusolverSpXcsrqrAnalysisBatched(cusolverSpHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t a,
                                                 const int* offsets, const int* columns, csrqrInfo_t info);
// Whether a square matrix's pattern is symmetric, in `*symmetric`; rows end at `ends`. In memory of the host.
cusolverStatus_t cusolverSpXcsrissymHost(cusolverSpHandle_t handle, int m, int nnz, const cusparseMatDescr_t a, const int* offsets,
                                         const int* ends, const int* columns, int* symmetric);

// A x = b. `*singularity` is -1, or the first row of the factor whose diagonal is not above `tol`: x stays as it was then.
#define RIDGE_SPARSE_SYSTEM(X, T, R, name)                                                                                       \
  cusolverStatus_t cusolverSp##X##name(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t a, const T* values,   \
                                       const int* offsets, const int* columns, const T* b, R tol, int reorder, T* x,             \
                                       int* singularity);
#define RIDGE_SPARSE_SOLVER(X, T, R)                                                                                             \
  RIDGE_SPARSE_SYSTEM(X, T, R, csrlsvqr)                                                                                         \
  RIDGE_SPARSE_SYSTEM(X, T, R, csrlsvqrHost)                                                                                     \
  RIDGE_SPARSE_SYSTEM(X, T, R, csrlsvluHost)                                                                                     \
  RIDGE_SPARSE_SYSTEM(X, T, R, csrlsvchol)                                                                                       \
  RIDGE_SPARSE_SYSTEM(X, T, R, csrlsvcholHost)                                                                                   \
  cusolverStatus_t cusolverSp##X##csrqrBufferInfoBatched(cusolverSpHandle_t handle, int m, int n, int nnz,                       \
                                                         const cusparseMatDescr_t a, const T* values, const int* offsets,        \
                                                         const int* columns, int count, csrqrInfo_t info,                        \
                                                         size_t* internal_bytes, size_t* workspace_bytes);                       \
  cusolverStatus_t cusolverSp##X##csrqrsvBatched(cusolverSpHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t a,   \
                                                 const T* values, const int* offsets, const int* columns, const T* b, T* x,      \
                                                 int count, csrqrInfo_t info, void* buffer);
RIDGE_SPARSE_SOLVER(S, float, float)
RIDGE_SPARSE_SOLVER(D, double, double)
RIDGE_SPARSE_SOLVER(C, cuComplex, float)
RIDGE_SPARSE_SOLVER(Z, cuDoubleComplex, double)
#undef RIDGE_SPARSE_SOLVER
#undef RIDGE_SPARSE_SYSTEM
RIDGE_END_C
