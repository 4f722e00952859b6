// Factorisations in the pattern of A: incomplete LU and Cholesky of CSR matrices, in place.
#include <algorithm>
#include <cmath>
#include <vector>

#include "sparse/descriptors.hpp"

struct csrilu02Info {
  int zero_pivot = -1;  // a row, with the base of the matrix
};
struct csric02Info {
  int zero_pivot = -1;
};

namespace ridge::simt::sparse {

// Columns of a row need not be sorted.
template <class T>
struct Rows {
  T* values;
  const int *offsets, *columns;
  int base;

  int begin(int i) const { return offsets[i] - base; }
  int end(int i) const { return offsets[i + 1] - base; }
  int column(int k) const { return columns[k] - base; }
  int find(int i, int j) const {
    for (int k = begin(i); k < end(i); ++k)
      if (column(k) == j) return k;
    return -1;
  }
  std::vector<int> sorted(int i) const {
    std::vector<int> all;
    for (int k = begin(i); k < end(i); ++k) all.push_back(k);
    std::sort(all.begin(), all.end(), [&](int a, int b) { return column(a) < column(b); });
    return all;
  }
};

template <class Info>
cusparseStatus_t first_missing(cusparseHandle_t handle, int m, const cusparseMatDescr_t a, const int* offsets,
                               const int* columns, Info* info) {
  RIDGE_READY(handle);
  const Rows<const float> rows{nullptr, offsets, columns, a->base};
  info->zero_pivot = -1;
  for (int i = 0; i < m && info->zero_pivot < 0; ++i)
    if (rows.find(i, i) < 0) info->zero_pivot = i + a->base;
  return CUSPARSE_STATUS_SUCCESS;
}

template <class T>
cusparseStatus_t lu(cusparseHandle_t handle, int m, const cusparseMatDescr_t a, T* values, const int* offsets,
                    const int* columns, csrilu02Info* info) {
  RIDGE_READY(handle);
  const Rows<T> rows{values, offsets, columns, a->base};
  std::vector<int> diagonal(static_cast<std::size_t>(m)), place(static_cast<std::size_t>(m), -1);
  for (int i = 0; i < m; ++i) diagonal[static_cast<std::size_t>(i)] = rows.find(i, i);
  const auto pivot = [&](int i) {
    const int d = diagonal[static_cast<std::size_t>(i)];
    return d < 0 ? T(0) : values[d];
  };
  for (int i = 0; i < m; ++i) {
    for (int k = rows.begin(i); k < rows.end(i); ++k) place[static_cast<std::size_t>(rows.column(k))] = k;
    for (const int k : rows.sorted(i)) {
      const int above = rows.column(k);
      if (above >= i) break;
      values[k] /= pivot(above);
      for (int l = rows.begin(above); l < rows.end(above); ++l)
        if (rows.column(l) > above)
          if (const int at = place[static_cast<std::size_t>(rows.column(l))]; at >= 0)
            values[at] -= values[k] * values[l];
    }
    for (int k = rows.begin(i); k < rows.end(i); ++k) place[static_cast<std::size_t>(rows.column(k))] = -1;
    if (pivot(i) == 0 && info->zero_pivot < 0) info->zero_pivot = i + a->base;
  }
  return CUSPARSE_STATUS_SUCCESS;
}

// L of L L^T, in the lower triangle; the upper one stays.
template <class T>
cusparseStatus_t cholesky(cusparseHandle_t handle, int m, const cusparseMatDescr_t a, T* values, const int* offsets,
                          const int* columns, csric02Info* info) {
  RIDGE_READY(handle);
  const Rows<T> rows{values, offsets, columns, a->base};
  std::vector<T> row(static_cast<std::size_t>(m));
  for (int i = 0; i < m; ++i) {
    for (const int k : rows.sorted(i)) {
      const int j = rows.column(k);
      if (j > i) break;
      T sum = values[k];
      if (j < i)
        for (int l = rows.begin(j); l < rows.end(j); ++l)
          if (rows.column(l) < j) sum -= row[static_cast<std::size_t>(rows.column(l))] * values[l];
      if (j < i) {
        const int d = rows.find(j, j);
        sum /= d < 0 ? T(0) : values[d];
        row[static_cast<std::size_t>(j)] = sum;
      } else {
        for (int l = rows.begin(i); l < rows.end(i); ++l)
          if (rows.column(l) < i) sum -= values[l] * values[l];
        if (sum <= 0 && info->zero_pivot < 0) info->zero_pivot = i + a->base;
        sum = std::sqrt(sum);
      }
      values[k] = sum;
    }
    for (int k = rows.begin(i); k < rows.end(i); ++k) row[static_cast<std::size_t>(rows.column(k))] = 0;
  }
  return CUSPARSE_STATUS_SUCCESS;
}

template <class Info>
cusparseStatus_t zero_pivot(cusparseHandle_t handle, const Info* info, int* position) {
  RIDGE_READY(handle);
  if (info == nullptr || position == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *position = info->zero_pivot;
  return *position < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT;
}

inline cusparseStatus_t no_buffer(int* bytes) {
  if (bytes == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *bytes = 256;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace ridge::simt::sparse

using ridge::simt::sparse::gone;
using ridge::simt::sparse::made;

#define RIDGE_INCOMPLETE(X, T, kind, info_t, factorise)                                                          \
  cusparseStatus_t cusparse##X##kind##_bufferSize(cusparseHandle_t, int, int, const cusparseMatDescr_t, T*,      \
                                                  const int*, const int*, info_t, int* bytes) {                  \
    return ridge::simt::sparse::no_buffer(bytes);                                                                \
  }                                                                                                              \
  cusparseStatus_t cusparse##X##kind##_analysis(cusparseHandle_t handle, int m, int, const cusparseMatDescr_t a, \
                                                const T*, const int* offsets, const int* columns, info_t info,   \
                                                cusparseSolvePolicy_t, void*) {                                  \
    return ridge::simt::sparse::first_missing(handle, m, a, offsets, columns, info);                             \
  }                                                                                                              \
  cusparseStatus_t cusparse##X##kind(cusparseHandle_t handle, int m, int, const cusparseMatDescr_t a, T* values, \
                                     const int* offsets, const int* columns, info_t info, cusparseSolvePolicy_t, \
                                     void*) {                                                                    \
    return ridge::simt::sparse::factorise(handle, m, a, values, offsets, columns, info);                         \
  }

extern "C" {
cusparseStatus_t cusparseCreateCsrilu02Info(csrilu02Info_t* info) { return made(info, csrilu02Info{}); }
cusparseStatus_t cusparseDestroyCsrilu02Info(csrilu02Info_t info) { return gone(info); }
cusparseStatus_t cusparseXcsrilu02_zeroPivot(cusparseHandle_t handle, csrilu02Info_t info, int* position) {
  return ridge::simt::sparse::zero_pivot(handle, info, position);
}
RIDGE_INCOMPLETE(S, float, csrilu02, csrilu02Info_t, lu)
RIDGE_INCOMPLETE(D, double, csrilu02, csrilu02Info_t, lu)

cusparseStatus_t cusparseCreateCsric02Info(csric02Info_t* info) { return made(info, csric02Info{}); }
cusparseStatus_t cusparseDestroyCsric02Info(csric02Info_t info) { return gone(info); }
cusparseStatus_t cusparseXcsric02_zeroPivot(cusparseHandle_t handle, csric02Info_t info, int* position) {
  return ridge::simt::sparse::zero_pivot(handle, info, position);
}
RIDGE_INCOMPLETE(S, float, csric02, csric02Info_t, cholesky)
RIDGE_INCOMPLETE(D, double, csric02, csric02Info_t, cholesky)
}
