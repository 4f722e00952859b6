// Sparse vectors beside dense ones: sums, products, rotations, gathers, scatters.
#include <vector>

#include "sparse/products.hpp"

using ridge::simt::sparse::Factor;
using ridge::simt::sparse::no_buffer;
using ridge::simt::sparse::perform;

namespace {

bool fit(const cusparseSpVecDescr* x, const cusparseDnVecDescr* y) {
  return x != nullptr && y != nullptr && x->size == y->size && x->values.type == y->values.type;
}

}  // namespace

extern "C" {

// y = alpha x + beta y
cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void* alpha, cusparseConstSpVecDescr_t x,
                               const void* beta, cusparseDnVecDescr_t y) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!fit(x, y) || alpha == nullptr || beta == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  return perform(handle, [x = *x, y = *y, alpha = Factor(handle, alpha, y->values.type),
                          beta = Factor(handle, beta, y->values.type)] {
    const double by = alpha.value(), old = beta.value();
    std::vector<double> sums(static_cast<std::size_t>(y.size));
    for (std::int64_t i = 0; i < y.size; ++i) sums[static_cast<std::size_t>(i)] = old == 0 ? 0 : old * y.values.get(i);
    for (std::int64_t k = 0; k < x.nnz; ++k)
      sums[static_cast<std::size_t>(x.indices.get(k) - x.base)] += by * x.values.get(k);
    for (std::int64_t i = 0; i < y.size; ++i) y.values.set(i, sums[static_cast<std::size_t>(i)]);
  });
}
cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x) {
  if (!fit(x, y)) return CUSPARSE_STATUS_INVALID_VALUE;
  return perform(handle, [x = *x, y = *y] {
    for (std::int64_t k = 0; k < x.nnz; ++k) x.values.set(k, y.values.get(x.indices.get(k) - x.base));
  });
}
cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x, cusparseDnVecDescr_t y) {
  if (!fit(x, y)) return CUSPARSE_STATUS_INVALID_VALUE;
  return perform(handle, [x = *x, y = *y] {
    for (std::int64_t k = 0; k < x.nnz; ++k) y.values.set(x.indices.get(k) - x.base, x.values.get(k));
  });
}
// x = c x + s y and y = c y - s x, where x has elements.
cusparseStatus_t cusparseRot(cusparseHandle_t handle, const void* c_coeff, const void* s_coeff, cusparseSpVecDescr_t x,
                             cusparseDnVecDescr_t y) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!fit(x, y) || c_coeff == nullptr || s_coeff == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  return perform(handle, [x = *x, y = *y, cosine = Factor(handle, c_coeff, y->values.type),
                          sine = Factor(handle, s_coeff, y->values.type)] {
    const double c = cosine.value(), s = sine.value();
    for (std::int64_t k = 0; k < x.nnz; ++k) {
      const std::int64_t i = x.indices.get(k) - x.base;
      const double in_x = x.values.get(k), in_y = y.values.get(i);
      x.values.set(k, c * in_x + s * in_y);
      y.values.set(i, c * in_y - s * in_x);
    }
  });
}
cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t, cusparseOperation_t, cusparseConstSpVecDescr_t,
                                         cusparseConstDnVecDescr_t, const void*, cudaDataType, size_t* bytes) {
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t, cusparseConstSpVecDescr_t x,
                              cusparseConstDnVecDescr_t y, void* result, cudaDataType compute, void*) {
  const Numbers out{result, compute};
  if (!fit(x, y) || result == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  if (!out.known()) return CUSPARSE_STATUS_NOT_SUPPORTED;
  return perform(handle, [x = *x, y = *y, out] {
    double sum = 0;
    for (std::int64_t k = 0; k < x.nnz; ++k) sum += x.values.get(k) * y.values.get(x.indices.get(k) - x.base);
    out.set(0, sum);
  });
}
}
