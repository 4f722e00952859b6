// Between formats.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "sparse/products.hpp"

namespace {

// The elements of `a` that are not 0, in the order of b's format; the offsets and how many there are. `write`: the
// elements as well.
std::int64_t take_elements(const cusparseDnMatDescr& a, const cusparseSpMatDescr& b, bool write) {
  const bool by_columns = b.format == CUSPARSE_FORMAT_CSC, coordinates = b.format == CUSPARSE_FORMAT_COO;
  const std::int64_t outer = by_columns ? a.cols : a.rows, inner = by_columns ? a.rows : a.cols;
  std::int64_t k = 0;
  for (std::int64_t i = 0; i < outer; ++i) {
    if (!coordinates) b.offsets.set(i, k + b.base);
    for (std::int64_t j = 0; j < inner; ++j) {
      const double v = by_columns ? a.get(j, i) : a.get(i, j);
      if (v == 0) continue;
      if (write) {
        if (coordinates) b.offsets.set(k, i + b.base);
        b.columns.set(k, j + b.base);
        b.values.set(k, v);
      }
      ++k;
    }
  }
  if (!coordinates) b.offsets.set(outer, k + b.base);
  return k;
}

// How many elements of each row (or column) are not 0.
template <class T>
cusparseStatus_t count_elements(cusparseHandle_t handle, cusparseDirection_t by, int m, int n, const T* a, int lda,
                                int* each, int* all) {
  RIDGE_READY(handle);
  if (m < 0 || n < 0 || lda < m || each == nullptr || all == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  const bool rows = by == CUSPARSE_DIRECTION_ROW;
  std::fill_n(each, rows ? m : n, 0);
  *all = 0;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i)
      if (a[j * lda + i] != 0) ++each[rows ? i : j], ++*all;
  return CUSPARSE_STATUS_SUCCESS;
}

// Elements k of `first` and `second`, sorted by both; P, where it is given, goes with them.
void sort_elements(int* first, int* second, int* p, int begin, int end) {
  const auto n = static_cast<std::size_t>(end - begin);
  std::vector<std::array<int, 3>> all(n);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t at = static_cast<std::size_t>(begin) + k;
    all[k] = {first == nullptr ? 0 : first[at], second[at], p == nullptr ? 0 : p[at]};
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1]; });
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t at = static_cast<std::size_t>(begin) + k;
    if (first != nullptr) first[at] = all[k][0];
    second[at] = all[k][1];
    if (p != nullptr) p[at] = all[k][2];
  }
}

}  // namespace

using ridge::simt::sparse::no_buffer;
using ridge::simt::sparse::refused;

namespace {

cusparseStatus_t check_conversion(cusparseHandle_t handle, const cusparseSpMatDescr* sparse,
                                  const cusparseDnMatDescr* dense) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (sparse == nullptr || dense == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  if (sparse->rows != dense->rows || sparse->cols != dense->cols || sparse->values.type != dense->values.type)
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (sparse->format == CUSPARSE_FORMAT_SLICED_ELLPACK) return refused("no dense matrix becomes Sliced-ELL, nor back");
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

#define RIDGE_CONVERSION(handle, sparse, dense)                                                                   \
  if (const cusparseStatus_t status = check_conversion(handle, sparse, dense); status != CUSPARSE_STATUS_SUCCESS) \
  return status

extern "C" {

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t a,
                                                  cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t, size_t* bytes) {
  RIDGE_CONVERSION(handle, a, b);
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b,
                                       cusparseSparseToDenseAlg_t, void*) {
  RIDGE_CONVERSION(handle, a, b);
  RIDGE_READY(handle);
  for (std::int64_t i = 0; i < b->rows; ++i)
    for (std::int64_t j = 0; j < b->cols; ++j) b->values.set(b->place(i, j), 0);
  a->for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) { b->values.set(b->place(i, j), a->values.get(k)); });
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                  cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, size_t* bytes) {
  RIDGE_CONVERSION(handle, b, a);
  return no_buffer(bytes);
}
// The offsets and the number of elements; convert writes the elements. A matrix in blocks has its pattern from the
// program, and takes what lies in its blocks.
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, void*) {
  RIDGE_CONVERSION(handle, b, a);
  RIDGE_READY(handle);
  if (b->transposable()) b->nnz = take_elements(*a, *b, false);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, void*) {
  RIDGE_CONVERSION(handle, b, a);
  RIDGE_READY(handle);
  if (b->transposable())
    take_elements(*a, *b, true);
  else
    b->for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) { b->values.set(k, a->get(i, j)); });
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t, int, int, int, const void*, const int*, const int*,
                                               void*, int*, int*, cudaDataType, cusparseAction_t, cusparseIndexBase_t,
                                               cusparseCsr2CscAlg_t, size_t* bytes) {
  return no_buffer(bytes);
}
cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int m, int n, int nnz, const void* csr_values,
                                    const int* csr_offsets, const int* csr_columns, void* csc_values, int* csc_offsets,
                                    int* csc_rows, cudaDataType type, cusparseAction_t action, cusparseIndexBase_t base,
                                    cusparseCsr2CscAlg_t, void*) {
  RIDGE_READY(handle);
  const Numbers from{const_cast<void*>(csr_values), type}, to{csc_values, type};
  if (!from.known()) return CUSPARSE_STATUS_NOT_SUPPORTED;
  std::vector<int> next(static_cast<std::size_t>(n) + 1);
  for (int k = 0; k < nnz; ++k) ++next[static_cast<std::size_t>(csr_columns[k] - base + 1)];
  for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j) next[j + 1] += next[j];
  for (int j = 0; j <= n; ++j) csc_offsets[j] = next[static_cast<std::size_t>(j)] + base;
  for (int i = 0; i < m; ++i)
    for (int k = csr_offsets[i] - base; k < csr_offsets[i + 1] - base; ++k) {
      const int place = next[static_cast<std::size_t>(csr_columns[k] - base)]++;
      csc_rows[place] = i + base;
      if (action == CUSPARSE_ACTION_NUMERIC) to.set(place, from.get(k));
    }
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSnnz(cusparseHandle_t handle, cusparseDirection_t by, int m, int n, const cusparseMatDescr_t,
                              const float* a, int lda, int* each, int* all) {
  return count_elements(handle, by, m, n, a, lda, each, all);
}
cusparseStatus_t cusparseDnnz(cusparseHandle_t handle, cusparseDirection_t by, int m, int n, const cusparseMatDescr_t,
                              const double* a, int lda, int* each, int* all) {
  return count_elements(handle, by, m, n, a, lda, each, all);
}
cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int* rows, int nnz, int m, int* offsets,
                                  cusparseIndexBase_t base) {
  RIDGE_READY(handle);
  for (int i = 0, k = 0; i <= m; ++i) {
    while (k < nnz && rows[k] - base < i) ++k;
    offsets[i] = k + base;
  }
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int* offsets, int, int m, int* rows,
                                  cusparseIndexBase_t base) {
  RIDGE_READY(handle);
  for (int i = 0; i < m; ++i) std::fill(rows + offsets[i] - base, rows + offsets[i + 1] - base, i + base);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n, int* p) {
  RIDGE_READY(handle);
  std::iota(p, p + n, 0);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseXcsrsort_bufferSizeExt(cusparseHandle_t, int, int, int, const int*, const int*,
                                                size_t* bytes) {
  return no_buffer(bytes);
}
cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int m, int, int, const cusparseMatDescr_t descr,
                                  const int* offsets, int* columns, int* p, void*) {
  RIDGE_READY(handle);
  for (int i = 0; i < m; ++i)
    sort_elements(nullptr, columns, p, offsets[i] - descr->base, offsets[i + 1] - descr->base);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseXcscsort_bufferSizeExt(cusparseHandle_t, int, int, int, const int*, const int*,
                                                size_t* bytes) {
  return no_buffer(bytes);
}
cusparseStatus_t cusparseXcscsort(cusparseHandle_t handle, int, int n, int nnz, const cusparseMatDescr_t descr,
                                  const int* offsets, int* rows, int* p, void* buffer) {
  return cusparseXcsrsort(handle, n, 0, nnz, descr, offsets, rows, p, buffer);
}
cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t, int, int, int, const int*, const int*,
                                                size_t* bytes) {
  return no_buffer(bytes);
}
cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int, int, int nnz, int* rows, int* columns, int* p,
                                       void*) {
  RIDGE_READY(handle);
  sort_elements(rows, columns, p, 0, nnz);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int, int, int nnz, int* rows, int* columns, int* p,
                                          void*) {
  RIDGE_READY(handle);
  sort_elements(columns, rows, p, 0, nnz);
  return CUSPARSE_STATUS_SUCCESS;
}
}
