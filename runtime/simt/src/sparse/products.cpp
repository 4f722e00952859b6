// Products of sparse matrices and vectors.
#include <map>
#include <vector>

#include "sparse/descriptors.hpp"

struct cusparseSpGEMMDescr {
  std::vector<std::map<std::int64_t, double>> rows;
};

using ridge::simt::sparse::factor;
using ridge::simt::sparse::no_buffer;

extern "C" {

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t, cusparseOperation_t, const void*, cusparseConstSpMatDescr_t,
                                         cusparseConstDnVecDescr_t, const void*, cusparseDnVecDescr_t, cudaDataType,
                                         cusparseSpMVAlg_t, size_t* bytes) {
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                              cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t, void*) {
  RIDGE_READY(handle);
  const bool transposed = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
  std::vector<double> sums(static_cast<std::size_t>(transposed ? a->cols : a->rows));
  a->for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
    sums[static_cast<std::size_t>(transposed ? j : i)] += a->values.get(k) * x->values.get(transposed ? i : j);
  });
  const double by = factor(alpha, compute), old = factor(beta, compute);
  for (std::size_t n = 0; n < sums.size(); ++n) {
    const auto i = static_cast<std::int64_t>(n);
    y->values.set(i, by * sums[n] + (old == 0 ? 0 : old * y->values.get(i)));
  }
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, const void*,
                                         cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t, size_t* bytes) {
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                              const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpMMAlg_t,
                              void*) {
  RIDGE_READY(handle);
  const bool ta = op_a != CUSPARSE_OPERATION_NON_TRANSPOSE, tb = op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
  std::vector<double> sums(static_cast<std::size_t>(c->rows * c->cols));
  a->for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
    const double v = a->values.get(k);
    const std::int64_t row = ta ? j : i, inner = ta ? i : j;
    for (std::int64_t n = 0; n < c->cols; ++n)
      sums[static_cast<std::size_t>(row * c->cols + n)] += v * b->get(inner, n, tb);
  });
  const double by = factor(alpha, compute), old = factor(beta, compute);
  for (std::int64_t i = 0; i < c->rows; ++i)
    for (std::int64_t j = 0; j < c->cols; ++j)
      c->values.set(c->place(i, j),
                    by * sums[static_cast<std::size_t>(i * c->cols + j)] + (old == 0 ? 0 : old * c->get(i, j)));
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void*,
                                          cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t, const void*,
                                          cusparseSpMatDescr_t, cudaDataType, cusparseSDDMMAlg_t, size_t* bytes) {
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void*,
                                          cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t, const void*,
                                          cusparseSpMatDescr_t, cudaDataType, cusparseSDDMMAlg_t, void*) {
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                               const void* alpha, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                               const void* beta, cusparseSpMatDescr_t c, cudaDataType compute, cusparseSDDMMAlg_t,
                               void*) {
  RIDGE_READY(handle);
  const bool ta = op_a != CUSPARSE_OPERATION_NON_TRANSPOSE, tb = op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
  const double by = factor(alpha, compute), old = factor(beta, compute);
  const std::int64_t inner = ta ? a->rows : a->cols;
  for (int n = 0; n < c->batches; ++n) {
    cusparseDnMatDescr left = *a, right = *b;
    cusparseSpMatDescr out = *c;
    if (a->batches > 1) left.values = a->values.moved(n * a->stride);
    if (b->batches > 1) right.values = b->values.moved(n * b->stride);
    out.offsets = c->offsets.moved(n * c->offsets_stride);
    out.columns = c->columns.moved(n * c->stride);
    out.values = c->values.moved(n * c->stride);
    out.for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
      double sum = 0;
      for (std::int64_t l = 0; l < inner; ++l) sum += left.get(i, l, ta) * right.get(l, j, tb);
      out.values.set(k, by * sum + (old == 0 ? 0 : old * out.values.get(k)));
    });
  }
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* p) { return made(p, cusparseSpGEMMDescr{}); }
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t p) { return gone(p); }
cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void*,
                                               cusparseConstSpMatDescr_t, cusparseConstSpMatDescr_t, const void*,
                                               cusparseSpMatDescr_t, cudaDataType, cusparseSpGEMMAlg_t,
                                               cusparseSpGEMMDescr_t, size_t* bytes, void*) {
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                        const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void*, cusparseSpMatDescr_t c, cudaDataType compute, cusparseSpGEMMAlg_t,
                                        cusparseSpGEMMDescr_t product, size_t* bytes, void* buffer) {
  if (buffer == nullptr) return no_buffer(bytes);
  RIDGE_READY(handle);
  if (op_a != CUSPARSE_OPERATION_NON_TRANSPOSE || op_b != CUSPARSE_OPERATION_NON_TRANSPOSE ||
      b->format != CUSPARSE_FORMAT_CSR)
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  const double by = factor(alpha, compute);
  product->rows.assign(static_cast<std::size_t>(a->rows), {});
  a->for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
    for (std::int64_t l = b->offsets.get(j) - b->base; l < b->offsets.get(j + 1) - b->base; ++l)
      product->rows[static_cast<std::size_t>(i)][b->columns.get(l) - b->base] +=
          by * a->values.get(k) * b->values.get(l);
  });
  c->nnz = 0;
  for (const auto& row : product->rows) c->nnz += static_cast<std::int64_t>(row.size());
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void*,
                                     cusparseConstSpMatDescr_t, cusparseConstSpMatDescr_t, const void*,
                                     cusparseSpMatDescr_t c, cudaDataType, cusparseSpGEMMAlg_t,
                                     cusparseSpGEMMDescr_t product) {
  RIDGE_READY(handle);
  std::int64_t k = 0, i = 0;
  for (const auto& row : product->rows) {
    c->offsets.set(i++, k + c->base);
    for (const auto& [column, value] : row) {
      c->columns.set(k, column + c->base);
      c->values.set(k++, value);
    }
  }
  c->offsets.set(i, k + c->base);
  return CUSPARSE_STATUS_SUCCESS;
}

// y = alpha x + beta y
cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void* alpha, cusparseConstSpVecDescr_t x,
                               const void* beta, cusparseDnVecDescr_t y) {
  RIDGE_READY(handle);
  const double by = factor(alpha, y->values.type), old = factor(beta, y->values.type);
  std::vector<double> sums(static_cast<std::size_t>(y->size));
  for (std::int64_t i = 0; i < y->size; ++i) sums[static_cast<std::size_t>(i)] = old == 0 ? 0 : old * y->values.get(i);
  for (std::int64_t k = 0; k < x->nnz; ++k)
    sums[static_cast<std::size_t>(x->indices.get(k) - x->base)] += by * x->values.get(k);
  for (std::int64_t i = 0; i < y->size; ++i) y->values.set(i, sums[static_cast<std::size_t>(i)]);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x) {
  RIDGE_READY(handle);
  for (std::int64_t k = 0; k < x->nnz; ++k) x->values.set(k, y->values.get(x->indices.get(k) - x->base));
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x, cusparseDnVecDescr_t y) {
  RIDGE_READY(handle);
  for (std::int64_t k = 0; k < x->nnz; ++k) y->values.set(x->indices.get(k) - x->base, x->values.get(k));
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t, cusparseOperation_t, cusparseConstSpVecDescr_t,
                                         cusparseConstDnVecDescr_t, const void*, cudaDataType, size_t* bytes) {
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t, cusparseConstSpVecDescr_t x,
                              cusparseConstDnVecDescr_t y, void* result, cudaDataType compute, void*) {
  RIDGE_READY(handle);
  const ridge::simt::sparse::Numbers out{result, compute};
  if (!out.known()) return CUSPARSE_STATUS_NOT_SUPPORTED;
  double sum = 0;
  for (std::int64_t k = 0; k < x->nnz; ++k) sum += x->values.get(k) * y->values.get(x->indices.get(k) - x->base);
  out.set(0, sum);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t, cusparseOperation_t, const void*, cusparseConstSpMatDescr_t,
                                         cusparseConstDnVecDescr_t, const void*, cusparseDnVecDescr_t, cudaDataType,
                                         cusparseSpMVAlg_t, void*) {
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, const void*,
                                         cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t, void*) {
  return CUSPARSE_STATUS_SUCCESS;
}
}
