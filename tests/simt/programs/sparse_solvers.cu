// cuSPARSE: triangular systems, incomplete factorisations, sums, sorted indices.
// link: -lcusparse
#include <cusparse.h>

#include <cmath>
#include <cstdio>
#include <vector>

static int failures = 0;
static void check(bool ok, const char* what) {
  if (!ok) std::printf("wrong: %s\n", what), ++failures;
}
#define DO(call) check((call) == CUSPARSE_STATUS_SUCCESS, #call)

template <class T>
static T* to_device(const std::vector<T>& v) {
  T* p = nullptr;
  cudaMalloc(&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T>
static std::vector<T> to_host(const T* p, std::size_t n) {
  std::vector<T> v(n);
  cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  return v;
}
template <class T>
static bool close(const std::vector<T>& a, const std::vector<T>& b) {
  bool ok = a.size() == b.size();
  for (std::size_t i = 0; ok && i < a.size(); ++i) ok = std::fabs(double(a[i]) - double(b[i])) < 1e-5;
  return ok;
}

// {2 9 0; 1 4 9; 0 2 5}: the 9 lie outside of the lower triangle
static const std::vector<int> kOffsets = {0, 2, 5, 7}, kColumns = {0, 1, 0, 1, 2, 1, 2};
static const std::vector<float> kValues = {2, 9, 1, 4, 9, 2, 5};
static const float one = 1, two = 2;

static void triangles(cusparseHandle_t handle) {
  float* values = to_device(kValues);
  cusparseSpMatDescr_t a;
  DO(cusparseCreateCsr(&a, 3, 3, 7, to_device(kOffsets), to_device(kColumns), values, CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  DO(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
  DO(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
  float *x = to_device(std::vector<float>{1, 4.5f, 8.5f}), *y = to_device(std::vector<float>(3));
  cusparseDnVecDescr_t in, out;
  DO(cusparseCreateDnVec(&in, 3, x, CUDA_R_32F));
  DO(cusparseCreateDnVec(&out, 3, y, CUDA_R_32F));
  for (const bool transposed : {false, true}) {
    const auto op = transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
    cusparseSpSVDescr_t d;
    std::size_t bytes = 0;
    void* buffer = nullptr;
    DO(cusparseSpSV_createDescr(&d));
    DO(cusparseSpSV_bufferSize(handle, op, &two, a, in, out, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, d, &bytes));
    check(cudaMalloc(&buffer, bytes) == cudaSuccess, "buffer");
    DO(cusparseSpSV_analysis(handle, op, &two, a, in, out, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, d, buffer));
    DO(cusparseSpSV_solve(handle, op, &two, a, in, out, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, d));
    std::vector<float> got = to_host(y, 3);
    if (!transposed) check(close(got, {1, 2, 2.6f}), "SpSV");
    // L^T y = 2 x, multiplied out
    if (transposed)
      check(close({2 * got[0] + got[1], 4 * got[1] + 2 * got[2], 5 * got[2]}, std::vector<float>{2, 9, 17}),
            "SpSV, transposed");
    const float larger[] = {4, 0, 1, 8, 0, 2, 10};
    cudaMemcpy(values, larger, sizeof larger, cudaMemcpyHostToDevice);
    DO(cusparseSpSV_updateMatrix(handle, d, values, CUSPARSE_SPSV_UPDATE_GENERAL));
    DO(cusparseSpSV_solve(handle, op, &two, a, in, out, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, d));
    got = to_host(y, 3);
    if (!transposed)
      check(close({4 * got[0], got[0] + 8 * got[1], 2 * got[1] + 10 * got[2]}, std::vector<float>{2, 9, 17}),
            "new values");
    cudaMemcpy(values, kValues.data(), 28, cudaMemcpyHostToDevice);
    DO(cusparseSpSV_destroyDescr(d));
  }

  // Two right-hand sides by rows, in place, with a unit diagonal of the upper triangle.
  fill = CUSPARSE_FILL_MODE_UPPER, diagonal = CUSPARSE_DIAG_TYPE_UNIT;
  DO(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
  DO(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
  float* b = to_device(std::vector<float>{1, 2, 3, 4, 5, 6});
  cusparseDnMatDescr_t m;
  DO(cusparseCreateDnMat(&m, 3, 2, 2, b, CUDA_R_32F, CUSPARSE_ORDER_ROW));
  cusparseSpSMDescr_t d;
  std::size_t bytes = 0;
  void* buffer = nullptr;
  const auto n = CUSPARSE_OPERATION_NON_TRANSPOSE;
  DO(cusparseSpSM_createDescr(&d));
  DO(cusparseSpSM_bufferSize(handle, n, n, &one, a, m, m, CUDA_R_32F, CUSPARSE_SPSM_ALG_DEFAULT, d, &bytes));
  cudaMalloc(&buffer, bytes);
  DO(cusparseSpSM_analysis(handle, n, n, &one, a, m, m, CUDA_R_32F, CUSPARSE_SPSM_ALG_DEFAULT, d, buffer));
  DO(cusparseSpSM_solve(handle, n, n, &one, a, m, m, CUDA_R_32F, CUSPARSE_SPSM_ALG_DEFAULT, d));
  check(close(to_host(b, 6), std::vector<float>{379, 452, -42, -50, 5, 6}), "SpSM");
  DO(cusparseSpSM_destroyDescr(d));
}

// {4 1 0; 1 4 1; 0 1 4} has no fill: its incomplete factors are the whole ones.
static void factors(cusparseHandle_t handle) {
  const std::vector<double> a = {4, 1, 1, 4, 1, 1, 4};
  int *offsets = to_device(kOffsets), *columns = to_device(kColumns), bytes = 0, position = 0;
  cusparseMatDescr_t descr;
  DO(cusparseCreateMatDescr(&descr));
  DO(cusparseSetMatType(descr, CUSPARSE_MATRIX_TYPE_GENERAL));
  double* values = to_device(a);
  csrilu02Info_t lu;
  DO(cusparseCreateCsrilu02Info(&lu));
  DO(cusparseDcsrilu02_bufferSize(handle, 3, 7, descr, values, offsets, columns, lu, &bytes));
  void* buffer = nullptr;
  cudaMalloc(&buffer, static_cast<std::size_t>(bytes));
  DO(cusparseDcsrilu02_analysis(handle, 3, 7, descr, values, offsets, columns, lu, CUSPARSE_SOLVE_POLICY_NO_LEVEL,
                                buffer));
  DO(cusparseXcsrilu02_zeroPivot(handle, lu, &position));
  DO(cusparseDcsrilu02(handle, 3, 7, descr, values, offsets, columns, lu, CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer));
  DO(cusparseXcsrilu02_zeroPivot(handle, lu, &position));
  check(position == -1, "no zero pivot");
  const double u = 3.75, l = 1 / 3.75;
  check(close(to_host(values, 7), {4, 1, 0.25, u, 1, l, 4 - l}), "incomplete LU");
  DO(cusparseDestroyCsrilu02Info(lu));

  values = to_device(a);
  csric02Info_t cholesky;
  DO(cusparseCreateCsric02Info(&cholesky));
  DO(cusparseDcsric02_bufferSize(handle, 3, 7, descr, values, offsets, columns, cholesky, &bytes));
  DO(cusparseDcsric02_analysis(handle, 3, 7, descr, values, offsets, columns, cholesky, CUSPARSE_SOLVE_POLICY_NO_LEVEL,
                               buffer));
  DO(cusparseDcsric02(handle, 3, 7, descr, values, offsets, columns, cholesky, CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer));
  const std::vector<double> got = to_host(values, 7);
  check(close({got[0], got[2], got[3], got[5], got[6]},
              std::vector<double>{2, 0.5, std::sqrt(u), 1 / std::sqrt(u), std::sqrt(4 - l)}),
        "incomplete Cholesky");

  const std::vector<double> singular = {0, 1, 1, 4, 1, 1, 4};
  values = to_device(singular);
  DO(cusparseCreateCsrilu02Info(&lu));
  DO(cusparseDcsrilu02_analysis(handle, 3, 7, descr, values, offsets, columns, lu, CUSPARSE_SOLVE_POLICY_NO_LEVEL,
                                buffer));
  DO(cusparseDcsrilu02(handle, 3, 7, descr, values, offsets, columns, lu, CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer));
  check(cusparseXcsrilu02_zeroPivot(handle, lu, &position) == CUSPARSE_STATUS_ZERO_PIVOT && position == 0,
        "zero pivot");
}

static void sums_and_indices(cusparseHandle_t handle) {
  cusparseMatDescr_t descr;
  DO(cusparseCreateMatDescr(&descr));
  // {1 2; 0 3} and {0 1; 4 0}
  int *ao = to_device(std::vector<int>{0, 2, 3}), *ac = to_device(std::vector<int>{0, 1, 1});
  int *bo = to_device(std::vector<int>{0, 1, 2}), *bc = to_device(std::vector<int>{1, 0});
  float *av = to_device(std::vector<float>{1, 2, 3}), *bv = to_device(std::vector<float>{1, 4});
  int* co = to_device(std::vector<int>(3));
  std::size_t bytes = 0;
  int nnz = 0;
  DO(cusparseScsrgeam2_bufferSizeExt(handle, 2, 2, &one, descr, 3, av, ao, ac, &two, descr, 2, bv, bo, bc, descr,
                                     nullptr, co, nullptr, &bytes));
  DO(cusparseXcsrgeam2Nnz(handle, 2, 2, descr, 3, ao, ac, descr, 2, bo, bc, descr, co, &nnz, nullptr));
  check(nnz == 4, "elements of a sum");
  int* cc = to_device(std::vector<int>(4));
  float* cv = to_device(std::vector<float>(4));
  DO(cusparseScsrgeam2(handle, 2, 2, &one, descr, 3, av, ao, ac, &two, descr, 2, bv, bo, bc, descr, cv, co, cc,
                       nullptr));
  check(to_host(co, 3) == std::vector<int>({0, 2, 4}) && to_host(cc, 4) == std::vector<int>({0, 1, 0, 1}),
        "its indices");
  check(close(to_host(cv, 4), {1, 4, 8, 3}), "its values");

  int *rows = to_device(std::vector<int>{2, 0, 2, 0}), *columns = to_device(std::vector<int>{1, 3, 0, 2});
  int *p = to_device(std::vector<int>(4)), *offsets = to_device(std::vector<int>(4));
  DO(cusparseCreateIdentityPermutation(handle, 4, p));
  DO(cusparseXcoosort_bufferSizeExt(handle, 3, 4, 4, rows, columns, &bytes));
  DO(cusparseXcoosortByRow(handle, 3, 4, 4, rows, columns, p, nullptr));
  check(to_host(rows, 4) == std::vector<int>({0, 0, 2, 2}) && to_host(columns, 4) == std::vector<int>({2, 3, 0, 1}) &&
            to_host(p, 4) == std::vector<int>({3, 1, 2, 0}),
        "sorted by row");
  DO(cusparseXcoo2csr(handle, rows, 4, 3, offsets, CUSPARSE_INDEX_BASE_ZERO));
  check(to_host(offsets, 4) == std::vector<int>({0, 2, 2, 4}), "offsets");
  DO(cusparseXcsr2coo(handle, offsets, 4, 3, p, CUSPARSE_INDEX_BASE_ZERO));
  check(to_host(p, 4) == std::vector<int>({0, 0, 2, 2}), "rows");
  DO(cusparseXcsrsort_bufferSizeExt(handle, 3, 4, 4, offsets, columns, &bytes));
  int* mixed = to_device(std::vector<int>{3, 2, 1, 0});
  DO(cusparseXcsrsort(handle, 3, 4, 4, descr, offsets, mixed, nullptr, nullptr));
  check(to_host(mixed, 4) == std::vector<int>({2, 3, 0, 1}), "sorted rows");

  float* dense = to_device(std::vector<float>{1, 0, 0, 0, 2, 3});  // 2 x 3
  int* each = to_device(std::vector<int>(3));
  DO(cusparseSnnz(handle, CUSPARSE_DIRECTION_COLUMN, 2, 3, descr, dense, 2, each, &nnz));
  check(nnz == 3 && to_host(each, 3) == std::vector<int>({1, 0, 2}), "elements of columns");
  DO(cusparseSnnz(handle, CUSPARSE_DIRECTION_ROW, 2, 3, descr, dense, 2, each, &nnz));
  check(nnz == 3 && to_host(each, 2) == std::vector<int>({2, 1}), "elements of rows");

  // The dense matrix as CSC, and its product with ones.
  int *csc = to_device(std::vector<int>(4)), *in = to_device(std::vector<int>(3));
  float* values = to_device(std::vector<float>(3));
  cusparseDnMatDescr_t d;
  cusparseSpMatDescr_t s;
  DO(cusparseCreateDnMat(&d, 2, 3, 2, dense, CUDA_R_32F, CUSPARSE_ORDER_COL));
  DO(cusparseCreateCsc(&s, 2, 3, 3, csc, in, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                       CUDA_R_32F));
  DO(cusparseDenseToSparse_analysis(handle, d, s, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
  DO(cusparseDenseToSparse_convert(handle, d, s, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
  check(to_host(csc, 4) == std::vector<int>({0, 1, 1, 3}) && to_host(in, 3) == std::vector<int>({0, 0, 1}), "CSC");
  float *x = to_device(std::vector<float>{1, 1, 1}), *y = to_device(std::vector<float>(2)), zero = 0;
  cusparseDnVecDescr_t vx, vy;
  DO(cusparseCreateDnVec(&vx, 3, x, CUDA_R_32F));
  DO(cusparseCreateDnVec(&vy, 2, y, CUDA_R_32F));
  void* buffer = nullptr;
  cudaMalloc(&buffer, 1 << 16);
  DO(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, s, vx, &zero, vy, CUDA_R_32F,
                  CUSPARSE_SPMV_ALG_DEFAULT, buffer));
  check(close(to_host(y, 2), {3, 3}), "SpMV of CSC");
}

int main() {
  cusparseHandle_t handle;
  DO(cusparseCreate(&handle));
  triangles(handle);
  factors(handle);
  sums_and_indices(handle);
  DO(cusparseDestroy(handle));
  if (failures == 0) std::printf("ok\n");
  return failures;
}
