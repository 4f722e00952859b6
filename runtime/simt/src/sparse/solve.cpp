// Triangular systems: SpSV and SpSM. Elements outside of the triangle that the matrix names are not read.
#include <utility>
#include <vector>

#include "sparse/products.hpp"

namespace ridge::simt::sparse {

// The triangle by rows of op(A), from the analysis.
struct Triangle {
  std::int64_t n = 0;
  bool lower = true, unit = false;
  cudaDataType type = CUDA_R_32F;
  std::vector<std::vector<std::pair<std::int64_t, double>>> rows;  // without the diagonal
  std::vector<std::vector<std::int64_t>> places;                   // of the same elements in the matrix
  std::vector<double> diagonal;
  std::vector<std::int64_t> diagonal_places;

  cusparseStatus_t take(const cusparseSpMatDescr& a, cusparseOperation_t op) {
    if (a.rows != a.cols) return CUSPARSE_STATUS_INVALID_VALUE;
    const bool transposed = op != CUSPARSE_OPERATION_NON_TRANSPOSE, stored_lower = a.fill == CUSPARSE_FILL_MODE_LOWER;
    n = a.rows, lower = stored_lower != transposed, unit = a.diagonal == CUSPARSE_DIAG_TYPE_UNIT, type = a.values.type;
    const auto size = static_cast<std::size_t>(n);
    rows.assign(size, {}), places.assign(size, {});
    diagonal.assign(size, unit ? 1.0 : 0.0), diagonal_places.assign(size, -1);
    a.for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
      if (i == j) {
        if (!unit) diagonal[static_cast<std::size_t>(i)] = a.values.get(k);
        diagonal_places[static_cast<std::size_t>(i)] = k;
      } else if ((j < i) == stored_lower) {
        const auto row = static_cast<std::size_t>(transposed ? j : i);
        rows[row].emplace_back(transposed ? i : j, a.values.get(k));
        places[row].push_back(k);
      }
    });
    return CUSPARSE_STATUS_SUCCESS;
  }

  void update(void* values, bool all) {
    const Numbers from{values, type};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!all) {
        if (!unit) diagonal[i] = from.get(static_cast<std::int64_t>(i));
        continue;
      }
      if (!unit && diagonal_places[i] >= 0) diagonal[i] = from.get(diagonal_places[i]);
      for (std::size_t k = 0; k < rows[i].size(); ++k) rows[i][k].second = from.get(places[i][k]);
    }
  }

  // x in place of the right-hand side.
  void solve(std::vector<double>& x) const {
    for (std::int64_t step = 0; step < n; ++step) {
      const auto i = static_cast<std::size_t>(lower ? step : n - 1 - step);
      double sum = x[i];
      for (const auto& [j, v] : rows[i]) sum -= v * x[static_cast<std::size_t>(j)];
      x[i] = sum / diagonal[i];
    }
  }
};

}  // namespace ridge::simt::sparse

using ridge::simt::sparse::among;
using ridge::simt::sparse::factor;
using ridge::simt::sparse::gone;
using ridge::simt::sparse::made;
using ridge::simt::sparse::no_buffer;
using ridge::simt::sparse::refused;

struct cusparseSpSVDescr {
  ridge::simt::sparse::Triangle triangle;
};
struct cusparseSpSMDescr {
  ridge::simt::sparse::Triangle triangle;
};

namespace {

cusparseStatus_t check_system(cusparseHandle_t handle, const cusparseSpMatDescr* a, const cusparseDnVecDescr* x,
                              const cusparseDnVecDescr* y, cudaDataType compute) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (a == nullptr || x == nullptr || y == nullptr || a->rows != a->cols) return CUSPARSE_STATUS_INVALID_VALUE;
  if (x->size != a->rows || y->size != a->rows) return CUSPARSE_STATUS_INVALID_VALUE;
  if (!among(a->format, {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_COO, CUSPARSE_FORMAT_SLICED_ELLPACK}))
    return refused("SpSV has CSR, COO and Sliced-ELL alone");
  for (const cudaDataType type : {a->values.type, x->values.type, y->values.type})
    if (type != compute || (type != CUDA_R_32F && type != CUDA_R_64F))
      return refused("SpSV has float and double alone, all of one type");
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t check_systems(cusparseHandle_t handle, cusparseOperation_t op_b, const cusparseSpMatDescr* a,
                               const cusparseDnMatDescr* b, const cusparseDnMatDescr* c, cudaDataType compute) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (a == nullptr || b == nullptr || c == nullptr || a->rows != a->cols) return CUSPARSE_STATUS_INVALID_VALUE;
  const bool t = op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
  if (c->rows != a->rows || c->rows != (t ? b->cols : b->rows) || c->cols != (t ? b->rows : b->cols))
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (!among(a->format, {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_COO})) return refused("SpSM has CSR and COO alone");
  for (const cudaDataType type : {a->values.type, b->values.type, c->values.type})
    if (type != compute || (type != CUDA_R_32F && type != CUDA_R_64F))
      return refused("SpSM has float and double alone, all of one type");
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

#define RIDGE_SYSTEM(check, ...) \
  if (const cusparseStatus_t status = check(__VA_ARGS__); status != CUSPARSE_STATUS_SUCCESS) return status

extern "C" {

cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* d) { return made(d, cusparseSpSVDescr{}); }
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t d) { return gone(d); }
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t, cusparseOperation_t, const void*, cusparseConstSpMatDescr_t,
                                         cusparseConstDnVecDescr_t, cusparseDnVecDescr_t, cudaDataType,
                                         cusparseSpSVAlg_t, cusparseSpSVDescr_t, size_t* bytes) {
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t op, const void*,
                                       cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                       cudaDataType compute, cusparseSpSVAlg_t, cusparseSpSVDescr_t d, void*) {
  RIDGE_SYSTEM(check_system, handle, a, x, y, compute);
  RIDGE_READY(handle);
  return d->triangle.take(*a, op);
}
cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t, const void* alpha,
                                    cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType compute, cusparseSpSVAlg_t, cusparseSpSVDescr_t d) {
  RIDGE_SYSTEM(check_system, handle, a, x, y, compute);
  RIDGE_READY(handle);
  if (d->triangle.n != a->rows) return CUSPARSE_STATUS_INVALID_VALUE;  // no analysis of this matrix
  const double by = factor(alpha, compute);
  std::vector<double> all(static_cast<std::size_t>(d->triangle.n));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = by * x->values.get(static_cast<std::int64_t>(i));
  d->triangle.solve(all);
  for (std::size_t i = 0; i < all.size(); ++i) y->values.set(static_cast<std::int64_t>(i), all[i]);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle, cusparseSpSVDescr_t d, void* values,
                                           cusparseSpSVUpdate_t part) {
  RIDGE_READY(handle);
  d->triangle.update(values, part == CUSPARSE_SPSV_UPDATE_GENERAL);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t* d) { return made(d, cusparseSpSMDescr{}); }
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t d) { return gone(d); }
cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, cusparseDnMatDescr_t,
                                         cudaDataType, cusparseSpSMAlg_t, cusparseSpSMDescr_t, size_t* bytes) {
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t op, cusparseOperation_t op_b,
                                       const void*, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                       cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMAlg_t,
                                       cusparseSpSMDescr_t d, void*) {
  RIDGE_SYSTEM(check_systems, handle, op_b, a, b, c, compute);
  RIDGE_READY(handle);
  return d->triangle.take(*a, op);
}
cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t op_b,
                                    const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                    cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMAlg_t,
                                    cusparseSpSMDescr_t d) {
  RIDGE_SYSTEM(check_systems, handle, op_b, a, b, c, compute);
  RIDGE_READY(handle);
  if (d->triangle.n != a->rows) return CUSPARSE_STATUS_INVALID_VALUE;
  const double by = factor(alpha, compute);
  const bool transposed = op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
  std::vector<double> all(static_cast<std::size_t>(d->triangle.n));
  std::vector<double> out(all.size() * static_cast<std::size_t>(c->cols));  // C may be B
  for (std::int64_t j = 0; j < c->cols; ++j) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = by * b->get(static_cast<std::int64_t>(i), j, transposed);
    d->triangle.solve(all);
    std::copy(all.begin(), all.end(), out.begin() + static_cast<std::ptrdiff_t>(all.size()) * j);
  }
  for (std::int64_t j = 0; j < c->cols; ++j)
    for (std::int64_t i = 0; i < d->triangle.n; ++i)
      c->values.set(c->place(i, j), out[static_cast<std::size_t>(j * d->triangle.n + i)]);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpSM_updateMatrix(cusparseHandle_t handle, cusparseSpSMDescr_t d, void* values,
                                           cusparseSpSMUpdate_t part) {
  RIDGE_READY(handle);
  d->triangle.update(values, part == CUSPARSE_SPSM_UPDATE_GENERAL);
  return CUSPARSE_STATUS_SUCCESS;
}
}
