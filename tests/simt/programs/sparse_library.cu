// cuSPARSE: products of sparse matrices with vectors and matrices, sampled products, conversions, gathers.
// link: -lcusparse
#include <cusparse.h>

#include "sample.hpp"

#define SPARSE_CHECK(call) expect((call) == CUSPARSE_STATUS_SUCCESS, #call)

// 3 x 4: {1 0 2 0; 0 0 0 3; 4 5 0 0}
const std::vector<int> kOffsets = {0, 2, 3, 5}, kRows = {0, 0, 1, 2, 2}, kColumns = {0, 2, 3, 0, 1};
const std::vector<float> kValues = {1, 2, 3, 4, 5}, kDense = {1, 0, 2, 0, 0, 0, 0, 3, 4, 5, 0, 0};

__global__ void twice(float* x, int n) {
  if (threadIdx.x < n) x[threadIdx.x] *= 2;
}

int main() {
  cusparseHandle_t handle;
  SPARSE_CHECK(cusparseCreate(&handle));
  int *offsets = to_device(kOffsets), *rows = to_device(kRows), *columns = to_device(kColumns);
  float* values = to_device(kValues);
  cusparseSpMatDescr_t csr, coo;
  SPARSE_CHECK(cusparseCreateCsr(&csr, 3, 4, 5, offsets, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  SPARSE_CHECK(cusparseCreateCoo(&coo, 3, 4, 5, rows, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                 CUDA_R_32F));
  float *x = to_device(std::vector<float>{1, 1, 1, 1}), *y = to_device(std::vector<float>{1, 1, 1});
  cusparseDnVecDescr_t in, out;
  SPARSE_CHECK(cusparseCreateDnVec(&in, 4, x, CUDA_R_32F));
  SPARSE_CHECK(cusparseCreateDnVec(&out, 3, y, CUDA_R_32F));
  const float one = 1, half = 0.5f, zero = 0;
  std::size_t bytes = 0;
  SPARSE_CHECK(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, csr, in, &half, out, CUDA_R_32F,
                                       CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
  void* buffer = nullptr;
  CUDA_CHECK(cudaMalloc(&buffer, bytes));
  twice<<<1, 32>>>(x, 4);
  SPARSE_CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, csr, in, &half, out, CUDA_R_32F,
                            CUSPARSE_SPMV_ALG_DEFAULT, buffer));
  expect_close(to_host(y, 3), std::vector<float>{6.5f, 6.5f, 18.5f}, 0, "SpMV of CSR");
  SPARSE_CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &half, coo, in, &zero, out, CUDA_R_32F,
                            CUSPARSE_SPMV_ALG_DEFAULT, buffer));
  expect_close(to_host(y, 3), std::vector<float>{3, 3, 9}, 0, "SpMV of COO");

  float *dense = device_array<float>(12), *product = device_array<float>(9);
  cusparseDnMatDescr_t all, square;
  SPARSE_CHECK(cusparseCreateDnMat(&all, 3, 4, 4, dense, CUDA_R_32F, CUSPARSE_ORDER_ROW));
  SPARSE_CHECK(cusparseCreateDnMat(&square, 3, 3, 3, product, CUDA_R_32F, CUSPARSE_ORDER_COL));
  SPARSE_CHECK(cusparseSparseToDense(handle, csr, all, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, buffer));
  expect_close(to_host(dense, 12), kDense, 0, "SparseToDense");
  SPARSE_CHECK(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, &one, csr, all,
                            &zero, square, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, buffer));
  expect_close(to_host(product, 9), std::vector<float>{5, 0, 4, 0, 9, 0, 4, 0, 41}, 0, "SpMM");

  int *new_offsets = device_array<int>(4), *new_columns = device_array<int>(9);
  float* new_values = device_array<float>(9);
  cusparseSpMatDescr_t found;
  SPARSE_CHECK(cusparseCreateCsr(&found, 3, 4, 0, new_offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  SPARSE_CHECK(cusparseDenseToSparse_analysis(handle, all, found, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
  std::int64_t m = 0, n = 0, nnz = 0;
  SPARSE_CHECK(cusparseSpMatGetSize(found, &m, &n, &nnz));
  SPARSE_CHECK(cusparseCsrSetPointers(found, new_offsets, new_columns, new_values));
  SPARSE_CHECK(cusparseDenseToSparse_convert(handle, all, found, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
  expect(nnz == 5 && to_host(new_offsets, 4) == kOffsets && to_host(new_columns, 5) == kColumns, "DenseToSparse");

  // A^T in CSR, and A A^T.
  int *t_offsets = device_array<int>(5), *t_columns = device_array<int>(5);
  float* t_values = device_array<float>(5);
  SPARSE_CHECK(cusparseCsr2cscEx2(handle, 3, 4, 5, values, offsets, columns, t_values, t_offsets, t_columns, CUDA_R_32F,
                                  CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, buffer));
  expect(to_host(t_columns, 5) == std::vector<int>({0, 2, 2, 0, 1}), "Csr2csc");
  cusparseSpMatDescr_t transposed, gram;
  SPARSE_CHECK(cusparseCreateCsr(&transposed, 4, 3, 5, t_offsets, t_columns, t_values, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  SPARSE_CHECK(cusparseCreateCsr(&gram, 3, 3, 0, new_offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  cusparseSpGEMMDescr_t steps;
  SPARSE_CHECK(cusparseSpGEMM_createDescr(&steps));
  SPARSE_CHECK(cusparseSpGEMM_compute(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                      csr, transposed, &zero, gram, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, steps, &bytes,
                                      buffer));
  SPARSE_CHECK(cusparseSpMatGetSize(gram, &m, &n, &nnz));
  SPARSE_CHECK(cusparseCsrSetPointers(gram, new_offsets, new_columns, new_values));
  SPARSE_CHECK(cusparseSpGEMM_copy(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                   csr, transposed, &zero, gram, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, steps));
  expect(nnz == 5, "SpGEMM's size");
  expect_close(to_host(new_values, 5), std::vector<float>{5, 4, 9, 4, 41}, 0, "SpGEMM");

  SPARSE_CHECK(cusparseSDDMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, &one, all, all,
                             &zero, gram, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, buffer));
  expect_close(to_host(new_values, 5), std::vector<float>{5, 4, 9, 4, 41}, 0, "SDDMM");

  cusparseSpVecDescr_t some;
  SPARSE_CHECK(
      cusparseCreateSpVec(&some, 4, 2, columns, new_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  SPARSE_CHECK(cusparseAxpby(handle, &one, some, &half, in));
  expect_close(to_host(x, 4), std::vector<float>{6, 1, 5, 1}, 0, "Axpby");
  SPARSE_CHECK(cusparseGather(handle, in, some));
  expect_close(to_host(new_values, 2), std::vector<float>{6, 5}, 0, "Gather");

  SPARSE_CHECK(cusparseSpGEMM_destroyDescr(steps));
  for (cusparseSpMatDescr_t d : {csr, coo, found, transposed, gram}) SPARSE_CHECK(cusparseDestroySpMat(d));
  for (cusparseDnMatDescr_t d : {all, square}) SPARSE_CHECK(cusparseDestroyDnMat(d));
  for (cusparseDnVecDescr_t d : {in, out}) SPARSE_CHECK(cusparseDestroyDnVec(d));
  SPARSE_CHECK(cusparseDestroySpVec(some));
  SPARSE_CHECK(cusparseDestroy(handle));
  for (void* p : {(void*)offsets, (void*)rows, (void*)columns, (void*)values, (void*)x, (void*)y, buffer, (void*)dense,
                  (void*)product, (void*)new_offsets, (void*)new_columns, (void*)new_values, (void*)t_offsets,
                  (void*)t_columns, (void*)t_values})
    CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
