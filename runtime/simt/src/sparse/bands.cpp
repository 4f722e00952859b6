// Systems with three diagonals (gtsv2 and its batches) and with five (gpsv), by elimination with pivots of the band, in
// double.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sparse/products.hpp"

namespace ridge::simt::sparse {

// One system of n equations. Diagonal d of Diagonals holds element (i, i + d - Diagonals / 2) at i.
template <int Diagonals>
struct Band {
  static constexpr int kBelow = Diagonals / 2, kWidth = Diagonals + kBelow;  // a pivot's row may reach further right
  struct Row {
    std::array<double, kWidth> from_pivot = {};  // columns i, i + 1, ... in step i
    double right = 0;
  };
  std::vector<Row> rows;

  explicit Band(int n) : rows(static_cast<std::size_t>(n)) {}

  void set(int i, int diagonal, double v) {
    const int column = i + diagonal - kBelow;
    if (column < 0 || column >= static_cast<int>(rows.size())) return;
    rows[static_cast<std::size_t>(i)].from_pivot[static_cast<std::size_t>(column - std::max(0, i - kBelow))] = v;
  }

  // The solution in each row's right-hand side.
  void solve() {
    const int n = static_cast<int>(rows.size());
    const auto row = [&](int i) -> Row& { return rows[static_cast<std::size_t>(i)]; };
    for (int i = 0; i < n; ++i) {
      const int last = std::min(n - 1, i + kBelow);
      int best = i;
      for (int r = i + 1; r <= last; ++r)
        if (std::fabs(row(r).from_pivot[0]) > std::fabs(row(best).from_pivot[0])) best = r;
      std::swap(row(i), row(best));
      for (int r = i + 1; r <= last; ++r) {
        Row& next = row(r);
        const double by = next.from_pivot[0] / row(i).from_pivot[0];
        for (std::size_t c = 1; c < kWidth; ++c)
          next.from_pivot[c - 1] = next.from_pivot[c] - by * row(i).from_pivot[c];
        next.from_pivot[kWidth - 1] = 0;
        next.right -= by * row(i).right;
      }
    }
    for (int i = n - 1; i >= 0; --i) {
      for (int c = 1; c < kWidth && i + c < n; ++c)
        row(i).right -= row(i).from_pivot[static_cast<std::size_t>(c)] * row(i + c).right;
      row(i).right /= row(i).from_pivot[0];
    }
  }
};

// `count` systems, the elements of each `step` apart, and one system `apart` from the next; x comes in place of the
// right-hand sides.
template <class T, std::size_t Diagonals>
cusparseStatus_t solve_bands(cusparseHandle_t handle, int n, const std::array<const T*, Diagonals>& diagonals, T* x,
                             int count, std::int64_t step, std::int64_t apart, std::int64_t x_apart) {
  RIDGE_READY(handle);
  for (int s = 0; s < count; ++s) {
    Band<static_cast<int>(Diagonals)> band(n);
    for (int i = 0; i < n; ++i) {
      for (std::size_t d = 0; d < Diagonals; ++d)
        band.set(i, static_cast<int>(d), static_cast<double>(diagonals[d][i * step + s * apart]));
      band.rows[static_cast<std::size_t>(i)].right = static_cast<double>(x[i * step + s * x_apart]);
    }
    band.solve();
    for (int i = 0; i < n; ++i)
      x[i * step + s * x_apart] = static_cast<T>(band.rows[static_cast<std::size_t>(i)].right);
  }
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace ridge::simt::sparse

using ridge::simt::sparse::no_buffer;
using ridge::simt::sparse::refused;
using ridge::simt::sparse::solve_bands;

#define RIDGE_BANDS(X, T)                                                                                             \
  cusparseStatus_t cusparse##X##gtsv2_bufferSizeExt(cusparseHandle_t, int, int, const T*, const T*, const T*,         \
                                                    const T*, int, size_t* bytes) {                                   \
    return no_buffer(bytes);                                                                                          \
  }                                                                                                                   \
  cusparseStatus_t cusparse##X##gtsv2(cusparseHandle_t handle, int m, int n, const T* dl, const T* d, const T* du,    \
                                      T* b, int ldb, void*) {                                                         \
    if (m < 3 || n < 0 || ldb < m) return CUSPARSE_STATUS_INVALID_VALUE;                                              \
    return solve_bands(handle, m, std::array{dl, d, du}, b, n, 1, 0, ldb);                                            \
  }                                                                                                                   \
  cusparseStatus_t cusparse##X##gtsv2_nopivot_bufferSizeExt(cusparseHandle_t, int, int, const T*, const T*, const T*, \
                                                            const T*, int, size_t* bytes) {                           \
    return no_buffer(bytes);                                                                                          \
  }                                                                                                                   \
  cusparseStatus_t cusparse##X##gtsv2_nopivot(cusparseHandle_t handle, int m, int n, const T* dl, const T* d,         \
                                              const T* du, T* b, int ldb, void* buffer) {                             \
    return cusparse##X##gtsv2(handle, m, n, dl, d, du, b, ldb, buffer);                                               \
  }                                                                                                                   \
  cusparseStatus_t cusparse##X##gtsv2StridedBatch_bufferSizeExt(cusparseHandle_t, int, const T*, const T*, const T*,  \
                                                                const T*, int, int, size_t* bytes) {                  \
    return no_buffer(bytes);                                                                                          \
  }                                                                                                                   \
  cusparseStatus_t cusparse##X##gtsv2StridedBatch(cusparseHandle_t handle, int m, const T* dl, const T* d,            \
                                                  const T* du, T* x, int count, int stride, void*) {                  \
    if (m < 1 || count < 1 || stride < m) return CUSPARSE_STATUS_INVALID_VALUE;                                       \
    return solve_bands(handle, m, std::array{dl, d, du}, x, count, 1, stride, stride);                                \
  }                                                                                                                   \
  cusparseStatus_t cusparse##X##gtsvInterleavedBatch_bufferSizeExt(cusparseHandle_t, int, int, const T*, const T*,    \
                                                                   const T*, const T*, int, size_t* bytes) {          \
    return no_buffer(bytes);                                                                                          \
  }                                                                                                                   \
  cusparseStatus_t cusparse##X##gtsvInterleavedBatch(cusparseHandle_t handle, int algo, int m, T* dl, T* d, T* du,    \
                                                     T* x, int count, void*) {                                        \
    if (algo < 0 || algo > 2 || m < 1 || count < 1) return CUSPARSE_STATUS_INVALID_VALUE;                             \
    return solve_bands(handle, m, std::array<const T*, 3>{dl, d, du}, x, count, count, 1, 1);                         \
  }                                                                                                                   \
  cusparseStatus_t cusparse##X##gpsvInterleavedBatch_bufferSizeExt(                                                   \
      cusparseHandle_t, int, int, const T*, const T*, const T*, const T*, const T*, const T*, int, size_t* bytes) {   \
    return no_buffer(bytes);                                                                                          \
  }                                                                                                                   \
  cusparseStatus_t cusparse##X##gpsvInterleavedBatch(cusparseHandle_t handle, int algo, int m, T* ds, T* dl, T* d,    \
                                                     T* du, T* dw, T* x, int count, void*) {                          \
    if (algo != 0 || m < 1 || count < 1) return CUSPARSE_STATUS_INVALID_VALUE;                                        \
    return solve_bands(handle, m, std::array<const T*, 5>{ds, dl, d, du, dw}, x, count, count, 1, 1);                 \
  }

extern "C" {
RIDGE_BANDS(S, float)
RIDGE_BANDS(D, double)
}
