// C = alpha A + beta B of CSR matrices.
#include <map>

#include "sparse/descriptors.hpp"

namespace ridge::simt::sparse {

template <class T>
struct Csr {
  const T* values;
  const int *offsets, *columns;
  int base;

  void add(int row, T by, std::map<int, T>& to) const {
    for (int k = offsets[row] - base; k < offsets[row + 1] - base; ++k)
      to[columns[k] - base] += values == nullptr ? T(0) : by * values[k];
  }
};

// The offsets; the elements too where there is room for them.
template <class T>
int sum(int m, const Csr<T>& a, T alpha, const Csr<T>& b, T beta, int base, T* values, int* offsets, int* columns) {
  int k = 0;
  for (int i = 0; i < m; ++i) {
    std::map<int, T> row;
    a.add(i, alpha, row);
    b.add(i, beta, row);
    offsets[i] = k + base;
    for (const auto& [column, value] : row) {
      if (columns != nullptr) columns[k] = column + base, values[k] = value;
      ++k;
    }
  }
  offsets[m] = k + base;
  return k;
}

}  // namespace ridge::simt::sparse

using ridge::simt::sparse::Csr;
using ridge::simt::sparse::no_buffer;

#define RIDGE_GEAM(X, T)                                                                                               \
  cusparseStatus_t cusparse##X##csrgeam2_bufferSizeExt(                                                                \
      cusparseHandle_t, int, int, const T*, const cusparseMatDescr_t, int, const T*, const int*, const int*, const T*, \
      const cusparseMatDescr_t, int, const T*, const int*, const int*, const cusparseMatDescr_t, const T*, const int*, \
      const int*, size_t* bytes) {                                                                                     \
    return no_buffer(bytes);                                                                                           \
  }                                                                                                                    \
  cusparseStatus_t cusparse##X##csrgeam2(cusparseHandle_t handle, int m, int, const T* alpha,                          \
                                         const cusparseMatDescr_t a, int, const T* a_values, const int* a_offsets,     \
                                         const int* a_columns, const T* beta, const cusparseMatDescr_t b, int,         \
                                         const T* b_values, const int* b_offsets, const int* b_columns,                \
                                         const cusparseMatDescr_t c, T* values, int* offsets, int* columns, void*) {   \
    RIDGE_READY(handle);                                                                                               \
    ridge::simt::sparse::sum(m, Csr<T>{a_values, a_offsets, a_columns, a->base}, *alpha,                               \
                             Csr<T>{b_values, b_offsets, b_columns, b->base}, *beta, c->base, values, offsets,         \
                             columns);                                                                                 \
    return CUSPARSE_STATUS_SUCCESS;                                                                                    \
  }

extern "C" {
RIDGE_GEAM(S, float)
RIDGE_GEAM(D, double)

cusparseStatus_t cusparseXcsrgeam2Nnz(cusparseHandle_t handle, int m, int, const cusparseMatDescr_t a, int,
                                      const int* a_offsets, const int* a_columns, const cusparseMatDescr_t b, int,
                                      const int* b_offsets, const int* b_columns, const cusparseMatDescr_t c,
                                      int* offsets, int* total, void*) {
  RIDGE_READY(handle);
  const int n = ridge::simt::sparse::sum<float>(m, Csr<float>{nullptr, a_offsets, a_columns, a->base}, 0,
                                                Csr<float>{nullptr, b_offsets, b_columns, b->base}, 0, c->base, nullptr,
                                                offsets, nullptr);
  if (total != nullptr) *total = n;
  return CUSPARSE_STATUS_SUCCESS;
}
}
