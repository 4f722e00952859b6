// cuSOLVER's functions with types as arguments and sizes of 64 bits. All types of a call are of one precision, and computing
// is done in it. A workspace of some bytes is asked for on the device, none on the host.
#pragma once

typedef struct cusolverDnParams* cusolverDnParams_t;
typedef struct cusolverDnIRSParams* cusolverDnIRSParams_t;
typedef struct cusolverDnIRSInfos* cusolverDnIRSInfos_t;
typedef enum { CUSOLVER_ALG_0 = 0, CUSOLVER_ALG_1 = 1, CUSOLVER_ALG_2 = 2 } cusolverAlgMode_t;
typedef enum { CUSOLVERDN_GETRF = 0, CUSOLVERDN_POTRF = 1, CUSOLVERDN_SYEVBATCHED = 2 } cusolverDnFunction_t;

RIDGE_BEGIN_C
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params);
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params);
cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params, cusolverDnFunction_t function, cusolverAlgMode_t
    mode);

cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo, int64_t
    n, int64_t nrhs, cudaDataType a_type, const void* a, int64_t lda, cudaDataType b_type, void* b, int64_t ldb, int*
    info);
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasOperation_t op, int64_t
    n, int64_t nrhs, cudaDataType a_type, const void* a, int64_t lda, const int64_t* pivots, cudaDataType b_type,
    void* b, int64_t ldb, int* info);
cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t
    uplo, int64_t n, cudaDataType a_type, const void* a, int64_t lda, cudaDataType compute, size_t* device_bytes,
    size_t* host_bytes);
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo, int64_t
    n, cudaDataType a_type, void* a, int64_t lda, cudaDataType compute, void* device_work, size_t device_bytes, void*
    host_work, size_t host_bytes, int* info);
cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t
    n, cudaDataType a_type, const void* a, int64_t lda, cudaDataType compute, size_t* device_bytes, size_t*
    host_bytes);
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
    cudaDataType a_type, void* a, int64_t lda, int64_t* pivots, cudaDataType compute, void* device_work, size_t
    device_bytes, void* host_work, size_t host_bytes, int* info);
cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t
    n, cudaDataType a_type, const void* a, int64_t lda, cudaDataType tau_type, const void* tau, cudaDataType compute,
    size_t* device_bytes, size_t* host_bytes);
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
    cudaDataType a_type, void* a, int64_t lda, cudaDataType tau_type, void* tau, cudaDataType compute, void*
    device_work, size_t device_bytes, void* host_work, size_t host_bytes, int* info);
cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t
    job, cublasFillMode_t uplo, int64_t n, cudaDataType a_type, const void* a, int64_t lda, cudaDataType w_type, const
    void* w, cudaDataType compute, size_t* device_bytes, size_t* host_bytes);
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t job,
    cublasFillMode_t uplo, int64_t n, cudaDataType a_type, void* a, int64_t lda, cudaDataType w_type, void* w,
    cudaDataType compute, void* device_work, size_t device_bytes, void* host_work, size_t host_bytes, int* info);
cusolverStatus_t cusolverDnXsyevdx_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t
    job, cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n, cudaDataType a_type, const void* a, int64_t lda,
    void* vl, void* vu, int64_t il, int64_t iu, int64_t* found, cudaDataType w_type, const void* w, cudaDataType
    compute, size_t* device_bytes, size_t* host_bytes);
cusolverStatus_t cusolverDnXsyevdx(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t job,
    cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n, cudaDataType a_type, void* a, int64_t lda, void* vl,
    void* vu, int64_t il, int64_t iu, int64_t* found, cudaDataType w_type, void* w, cudaDataType compute, void*
    device_work, size_t device_bytes, void* host_work, size_t host_bytes, int* info);
cusolverStatus_t cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
    cusolverEigMode_t job, cublasFillMode_t uplo, int64_t n, cudaDataType a_type, const void* a, int64_t lda,
    cudaDataType w_type, const void* w, cudaDataType compute, size_t* device_bytes, size_t* host_bytes, int64_t
    batch);
cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t job,
    cublasFillMode_t uplo, int64_t n, cudaDataType a_type, void* a, int64_t lda, cudaDataType w_type, void* w,
    cudaDataType compute, void* device_work, size_t device_bytes, void* host_work, size_t host_bytes, int* info,
    int64_t batch);
cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char job_u,
    signed char job_vt, int64_t m, int64_t n, cudaDataType a_type, const void* a, int64_t lda, cudaDataType s_type,
    const void* s, cudaDataType u_type, const void* u, int64_t ldu, cudaDataType vt_type, const void* vt, int64_t
    ldvt, cudaDataType compute, size_t* device_bytes, size_t* host_bytes);
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char job_u, signed char
    job_vt, int64_t m, int64_t n, cudaDataType a_type, void* a, int64_t lda, cudaDataType s_type, void* s,
    cudaDataType u_type, void* u, int64_t ldu, cudaDataType vt_type, void* vt, int64_t ldvt, cudaDataType compute,
    void* device_work, size_t device_bytes, void* host_work, size_t host_bytes, int* info);
cusolverStatus_t cusolverDnXgesvdp_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t
    job, int econ, int64_t m, int64_t n, cudaDataType a_type, const void* a, int64_t lda, cudaDataType s_type, const
    void* s, cudaDataType u_type, const void* u, int64_t ldu, cudaDataType v_type, const void* v, int64_t ldv,
    cudaDataType compute, size_t* device_bytes, size_t* host_bytes);
cusolverStatus_t cusolverDnXgesvdp(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t job, int
    econ, int64_t m, int64_t n, cudaDataType a_type, void* a, int64_t lda, cudaDataType s_type, void* s, cudaDataType
    u_type, void* u, int64_t ldu, cudaDataType v_type, void* v, int64_t ldv, cudaDataType compute, void* device_work,
    size_t device_bytes, void* host_work, size_t host_bytes, int* info, double* error);
cusolverStatus_t cusolverDnXgesvdr_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char job_u,
    signed char job_v, int64_t m, int64_t n, int64_t k, int64_t p, int64_t iterations, cudaDataType a_type, const
    void* a, int64_t lda, cudaDataType s_type, const void* s, cudaDataType u_type, const void* u, int64_t ldu,
    cudaDataType v_type, const void* v, int64_t ldv, cudaDataType compute, size_t* device_bytes, size_t* host_bytes);
cusolverStatus_t cusolverDnXgesvdr(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char job_u, signed
    char job_v, int64_t m, int64_t n, int64_t k, int64_t p, int64_t iterations, cudaDataType a_type, void* a, int64_t
    lda, cudaDataType s_type, void* s, cudaDataType u_type, void* u, int64_t ldu, cudaDataType v_type, void* v,
    int64_t ldv, cudaDataType compute, void* device_work, size_t device_bytes, void* host_work, size_t host_bytes,
    int* info);
cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t
    job_vl, cusolverEigMode_t job_vr, int64_t n, cudaDataType a_type, const void* a, int64_t lda, cudaDataType w_type,
    const void* w, cudaDataType vl_type, const void* vl, int64_t ldvl, cudaDataType vr_type, const void* vr, int64_t
    ldvr, cudaDataType compute, size_t* device_bytes, size_t* host_bytes);
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t job_vl,
    cusolverEigMode_t job_vr, int64_t n, cudaDataType a_type, void* a, int64_t lda, cudaDataType w_type, void* w,
    cudaDataType vl_type, void* vl, int64_t ldvl, cudaDataType vr_type, void* vr, int64_t ldvr, cudaDataType compute,
    void* device_work, size_t device_bytes, void* host_work, size_t host_bytes, int* info);
cusolverStatus_t cusolverDnXtrtri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag,
    int64_t n, cudaDataType a_type, void* a, int64_t lda, size_t* device_bytes, size_t* host_bytes);
cusolverStatus_t cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag, int64_t n,
    cudaDataType a_type, void* a, int64_t lda, void* device_work, size_t device_bytes, void* host_work, size_t
    host_bytes, int* info);

// Refinement, which solves in full precision at once: no iteration is counted.
cusolverStatus_t cusolverDnIRSParamsCreate(cusolverDnIRSParams_t* params);
cusolverStatus_t cusolverDnIRSParamsDestroy(cusolverDnIRSParams_t params);
cusolverStatus_t cusolverDnIRSParamsSetSolverPrecisions(cusolverDnIRSParams_t params, cusolverPrecType_t main,
    cusolverPrecType_t lowest);
cusolverStatus_t cusolverDnIRSParamsSetSolverMainPrecision(cusolverDnIRSParams_t params, cusolverPrecType_t main);
cusolverStatus_t cusolverDnIRSParamsSetSolverLowestPrecision(cusolverDnIRSParams_t params, cusolverPrecType_t lowest);
cusolverStatus_t cusolverDnIRSParamsSetRefinementSolver(cusolverDnIRSParams_t params, cusolverIRSRefinement_t solver);
cusolverStatus_t cusolverDnIRSParamsSetTol(cusolverDnIRSParams_t params, double tolerance);
cusolverStatus_t cusolverDnIRSParamsSetMaxIters(cusolverDnIRSParams_t params, cusolver_int_t iterations);
cusolverStatus_t cusolverDnIRSInfosCreate(cusolverDnIRSInfos_t* infos);
cusolverStatus_t cusolverDnIRSInfosDestroy(cusolverDnIRSInfos_t infos);
cusolverStatus_t cusolverDnIRSXgesv_bufferSize(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, cusolver_int_t
    n, cusolver_int_t nrhs, size_t* bytes);
cusolverStatus_t cusolverDnIRSXgesv(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, cusolverDnIRSInfos_t
    infos, cusolver_int_t n, cusolver_int_t nrhs, void* a, cusolver_int_t lda, void* b, cusolver_int_t ldb, void* x,
    cusolver_int_t ldx, void* work, size_t bytes, cusolver_int_t* iterations, cusolver_int_t* info);
RIDGE_END_C
