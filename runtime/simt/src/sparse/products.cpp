// Products of a sparse matrix with dense ones: SpMV, SpMM, and SDDMM, whose result is sparse.
#include "sparse/products.hpp"

#include <vector>

using ridge::simt::sparse::among;
using ridge::simt::sparse::Factors;
using ridge::simt::sparse::no_buffer;
using ridge::simt::sparse::perform;
using ridge::simt::sparse::refused;
using ridge::simt::sparse::types_fit;

namespace {

bool transposes(cusparseOperation_t op) { return op != CUSPARSE_OPERATION_NON_TRANSPOSE; }

// Batches of an operand: as many as the result has, or one for all.
bool batches_fit(int operand, int result) { return operand == 1 || operand == result; }

cusparseStatus_t check(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha, const cusparseSpMatDescr* a,
                       const cusparseDnVecDescr* x, const void* beta, const cusparseDnVecDescr* y,
                       cudaDataType compute) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (alpha == nullptr || a == nullptr || x == nullptr || beta == nullptr || y == nullptr)
    return CUSPARSE_STATUS_INVALID_VALUE;
  const bool t = transposes(op);
  if (x->size != (t ? a->rows : a->cols) || y->size != (t ? a->cols : a->rows)) return CUSPARSE_STATUS_INVALID_VALUE;
  if (a->format == CUSPARSE_FORMAT_BLOCKED_ELL) return refused("SpMV has no Blocked-ELL: SpMM has");
  if (t && !a->transposable()) return refused("SpMV has no transpose of BSR and Sliced-ELL");
  if (!types_fit(a->values.type, x->values.type, y->values.type, compute))
    return refused("SpMV has no such combination of types");
  return CUSPARSE_STATUS_SUCCESS;
}

// c[m][n] = alpha op(a)[m][k] op(b)[k][n] + beta c: one of the three is sparse.
template <class A, class C>
cusparseStatus_t shapes_fit(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                            const void* alpha, const A* a, const cusparseDnMatDescr* b, const void* beta, const C* c) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (alpha == nullptr || a == nullptr || b == nullptr || beta == nullptr || c == nullptr)
    return CUSPARSE_STATUS_INVALID_VALUE;
  const bool ta = transposes(op_a), tb = transposes(op_b);
  if (c->rows != (ta ? a->cols : a->rows) || c->cols != (tb ? b->rows : b->cols) ||
      (ta ? a->rows : a->cols) != (tb ? b->cols : b->rows))
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (!batches_fit(a->batches, c->batches) || !batches_fit(b->batches, c->batches))
    return CUSPARSE_STATUS_INVALID_VALUE;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t check(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
                       const cusparseSpMatDescr* a, const cusparseDnMatDescr* b, const void* beta,
                       const cusparseDnMatDescr* c, cudaDataType compute) {
  if (const cusparseStatus_t s = shapes_fit(handle, op_a, op_b, alpha, a, b, beta, c); s != CUSPARSE_STATUS_SUCCESS)
    return s;
  if (a->format == CUSPARSE_FORMAT_SLICED_ELLPACK) return refused("SpMM has no Sliced-ELL: SpMV has");
  if (transposes(op_a) && !a->transposable()) return refused("SpMM has no transpose of BSR and Blocked-ELL");
  if (!types_fit(a->values.type, b->values.type, c->values.type, compute))
    return refused("SpMM has no such combination of types");
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t check(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
                       const cusparseDnMatDescr* a, const cusparseDnMatDescr* b, const void* beta,
                       const cusparseSpMatDescr* c, cudaDataType compute) {
  if (const cusparseStatus_t s = shapes_fit(handle, op_a, op_b, alpha, a, b, beta, c); s != CUSPARSE_STATUS_SUCCESS)
    return s;
  if (!among(c->format, {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_BSR})) return refused("SDDMM has CSR and BSR alone");
  if (!types_fit(a->values.type, b->values.type, c->values.type, compute))
    return refused("SDDMM has no such combination of types");
  return CUSPARSE_STATUS_SUCCESS;
}

Factors factors_of(cusparseHandle_t handle, const void* alpha, const void* beta, cudaDataType compute) {
  return {{handle, alpha, compute}, {handle, beta, compute}};
}

void multiply(const cusparseSpMatDescr& a, bool ta, const cusparseDnMatDescr& b, bool tb, const cusparseDnMatDescr& c,
              const Factors& factors) {
  std::vector<double> sums(static_cast<std::size_t>(c.rows * c.cols));
  a.for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
    const double v = a.values.get(k);
    const std::int64_t row = ta ? j : i, inner = ta ? i : j;
    for (std::int64_t n = 0; n < c.cols; ++n)
      sums[static_cast<std::size_t>(row * c.cols + n)] += v * b.get(inner, n, tb);
  });
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < c.cols; ++j)
      c.values.set(c.place(i, j), factors(sums[static_cast<std::size_t>(i * c.cols + j)], [&] { return c.get(i, j); }));
}

void sample(const cusparseDnMatDescr& a, bool ta, const cusparseDnMatDescr& b, bool tb, const cusparseSpMatDescr& c,
            const Factors& factors) {
  const std::int64_t inner = ta ? a.rows : a.cols;
  c.for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
    double sum = 0;
    for (std::int64_t l = 0; l < inner; ++l) sum += a.get(i, l, ta) * b.get(l, j, tb);
    c.values.set(k, factors(sum, [&] { return c.values.get(k); }));
  });
}

}  // namespace

#define RIDGE_CHECK(...) \
  if (const cusparseStatus_t status = check(__VA_ARGS__); status != CUSPARSE_STATUS_SUCCESS) return status

extern "C" {

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t,
                                         size_t* bytes) {
  RIDGE_CHECK(handle, op, alpha, a, x, beta, y, compute);
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t, void*) {
  return check(handle, op, alpha, a, x, beta, y, compute);
}
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                              cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t, void*) {
  RIDGE_CHECK(handle, op, alpha, a, x, beta, y, compute);
  return perform(
      handle, [t = transposes(op), a = *a, x = *x, y = *y, factors = factors_of(handle, alpha, beta, compute)] {
        const cusparseDnMatDescr in{x.size, 1, x.size, x.values, false}, out{y.size, 1, y.size, y.values, false};
        multiply(a, t, in, false, out, factors);
      });
}
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                         const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpMMAlg_t, size_t* bytes) {
  RIDGE_CHECK(handle, op_a, op_b, alpha, a, b, beta, c, compute);
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                         const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpMMAlg_t, void*) {
  return check(handle, op_a, op_b, alpha, a, b, beta, c, compute);
}
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                              const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpMMAlg_t,
                              void*) {
  RIDGE_CHECK(handle, op_a, op_b, alpha, a, b, beta, c, compute);
  return perform(handle, [ta = transposes(op_a), tb = transposes(op_b), a = *a, b = *b, c = *c,
                          factors = factors_of(handle, alpha, beta, compute)] {
    for (int n = 0; n < c.batches; ++n) multiply(a.of_batch(n), ta, b.of_batch(n), tb, c.of_batch(n), factors);
  });
}
cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                          const void* alpha, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                          cusparseSDDMMAlg_t, size_t* bytes) {
  RIDGE_CHECK(handle, op_a, op_b, alpha, a, b, beta, c, compute);
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                          const void* alpha, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                          cusparseSDDMMAlg_t, void*) {
  return check(handle, op_a, op_b, alpha, a, b, beta, c, compute);
}
cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                               const void* alpha, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                               const void* beta, cusparseSpMatDescr_t c, cudaDataType compute, cusparseSDDMMAlg_t,
                               void*) {
  RIDGE_CHECK(handle, op_a, op_b, alpha, a, b, beta, c, compute);
  return perform(handle, [ta = transposes(op_a), tb = transposes(op_b), a = *a, b = *b, c = *c,
                          factors = factors_of(handle, alpha, beta, compute)] {
    for (int n = 0; n < c.batches; ++n) sample(a.of_batch(n), ta, b.of_batch(n), tb, c.of_batch(n), factors);
  });
}
}
