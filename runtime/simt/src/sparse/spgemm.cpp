// C = alpha A B + beta C of CSR matrices, where C has the elements of the product. Its size is known first, then the
// program gives C its memory. SpGEMM does one product in steps, SpGEMMreuse several in one pattern.
#include <map>
#include <vector>

#include "sparse/products.hpp"

struct cusparseSpGEMMDescr {
  std::vector<std::map<std::int64_t, double>> rows;  // of the product without its factor
  std::int64_t products = 0;                         // multiplications that it takes
};

using ridge::simt::sparse::Factor;
using ridge::simt::sparse::Factors;
using ridge::simt::sparse::gone;
using ridge::simt::sparse::made;
using ridge::simt::sparse::no_buffer;
using ridge::simt::sparse::refused;
using ridge::simt::sparse::types_fit;

namespace {

cusparseStatus_t check_spgemm(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                              const cusparseSpMatDescr* a, const cusparseSpMatDescr* b, const cusparseSpMatDescr* c,
                              const cusparseSpGEMMDescr* product) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (a == nullptr || b == nullptr || c == nullptr || product == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  if (a->cols != b->rows || c->rows != a->rows || c->cols != b->cols) return CUSPARSE_STATUS_INVALID_VALUE;
  if (op_a != CUSPARSE_OPERATION_NON_TRANSPOSE || op_b != CUSPARSE_OPERATION_NON_TRANSPOSE)
    return refused("SpGEMM has no transposes");
  for (const cusparseSpMatDescr* m : {a, b, c})
    if (m->format != CUSPARSE_FORMAT_CSR) return refused("SpGEMM has CSR matrices alone");
  if (a->values.type != b->values.type || a->values.type != c->values.type)
    return refused("SpGEMM has matrices of one type alone");
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t check_types(const cusparseSpMatDescr& a, cudaDataType compute) {
  return types_fit(a.values.type, a.values.type, a.values.type, compute)
             ? CUSPARSE_STATUS_SUCCESS
             : refused("SpGEMM has no such combination of types");
}

// f(row of A, element of A, column of B, element of B)
template <class F>
void each_product(const cusparseSpMatDescr& a, const cusparseSpMatDescr& b, F f) {
  a.for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
    for (std::int64_t l = b.offsets.get(j) - b.base; l < b.offsets.get(j + 1) - b.base; ++l)
      f(static_cast<std::size_t>(i), k, b.columns.get(l) - b.base, l);
  });
}

void compute_rows(cusparseSpGEMMDescr& product, const cusparseSpMatDescr& a, const cusparseSpMatDescr& b) {
  product.rows.assign(static_cast<std::size_t>(a.rows), {});
  each_product(a, b, [&](std::size_t i, std::int64_t k, std::int64_t j, std::int64_t l) {
    product.rows[i][j] += a.values.get(k) * b.values.get(l);
  });
}

void find_pattern(cusparseSpGEMMDescr& product, const cusparseSpMatDescr& a, const cusparseSpMatDescr& b) {
  product.rows.assign(static_cast<std::size_t>(a.rows), {});
  each_product(a, b, [&](std::size_t i, std::int64_t, std::int64_t j, std::int64_t) { product.rows[i][j] = 0; });
}

std::int64_t elements(const cusparseSpGEMMDescr& product) {
  std::int64_t n = 0;
  for (const auto& row : product.rows) n += static_cast<std::int64_t>(row.size());
  return n;
}

void write_pattern(const cusparseSpGEMMDescr& product, const cusparseSpMatDescr& c) {
  std::int64_t k = 0, i = 0;
  for (const auto& row : product.rows) {
    c.offsets.set(i++, k + c.base);
    for (const auto& element : row) c.columns.set(k++, element.first + c.base);
  }
  c.offsets.set(i, k + c.base);
}

void write_values(const cusparseSpGEMMDescr& product, const cusparseSpMatDescr& c, const Factors& factors) {
  std::int64_t k = 0;
  for (const auto& row : product.rows)
    for (const auto& element : row) {
      c.values.set(k, factors(element.second, [&] { return c.values.get(k); }));
      ++k;
    }
}

// Whether C is as large as the product that the descriptor holds.
bool has_room(const cusparseSpMatDescr& c, const cusparseSpGEMMDescr& product) {
  return product.rows.size() == static_cast<std::size_t>(c.rows) && c.nnz == elements(product) &&
         (c.nnz == 0 || (c.columns.at != nullptr && c.values.at != nullptr));
}

}  // namespace

#define RIDGE_SPGEMM(op_a, op_b, a, b, c, product)                                        \
  if (const cusparseStatus_t status = check_spgemm(handle, op_a, op_b, a, b, c, product); \
      status != CUSPARSE_STATUS_SUCCESS)                                                  \
  return status

extern "C" {

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* p) { return made(p, cusparseSpGEMMDescr{}); }
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t p) { return gone(p); }

cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t handle, cusparseOperation_t op_a,
                                               cusparseOperation_t op_b, const void*, cusparseConstSpMatDescr_t a,
                                               cusparseConstSpMatDescr_t b, const void*, cusparseSpMatDescr_t c,
                                               cudaDataType, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t product,
                                               size_t* bytes, void* buffer) {
  RIDGE_SPGEMM(op_a, op_b, a, b, c, product);
  if (buffer == nullptr) return no_buffer(bytes);
  RIDGE_READY(handle);
  product->products = 0;
  each_product(*a, *b, [&](std::size_t, std::int64_t, std::int64_t, std::int64_t) { ++product->products; });
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t product, int64_t* products) {
  if (product == nullptr || products == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *products = product->products;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMM_estimateMemory(cusparseHandle_t handle, cusparseOperation_t op_a,
                                               cusparseOperation_t op_b, const void*, cusparseConstSpMatDescr_t a,
                                               cusparseConstSpMatDescr_t b, const void*, cusparseSpMatDescr_t c,
                                               cudaDataType, cusparseSpGEMMAlg_t algorithm,
                                               cusparseSpGEMMDescr_t product, float chunk, size_t* estimate_bytes,
                                               void* estimate_buffer, size_t* compute_bytes) {
  RIDGE_SPGEMM(op_a, op_b, a, b, c, product);
  if (algorithm != CUSPARSE_SPGEMM_ALG2 && algorithm != CUSPARSE_SPGEMM_ALG3)
    return refused("SpGEMM_estimateMemory is for CUSPARSE_SPGEMM_ALG2 and ALG3");
  if (!(chunk > 0 && chunk <= 1)) return CUSPARSE_STATUS_INVALID_VALUE;
  return no_buffer(estimate_buffer == nullptr ? estimate_bytes : compute_bytes);
}
cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                        const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                        cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t product, size_t* bytes,
                                        void* buffer) {
  RIDGE_SPGEMM(op_a, op_b, a, b, c, product);
  if (alpha == nullptr || beta == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  if (const cusparseStatus_t status = check_types(*a, compute); status != CUSPARSE_STATUS_SUCCESS) return status;
  if (buffer == nullptr) return no_buffer(bytes);
  RIDGE_READY(handle);
  compute_rows(*product, *a, *b);
  c->nnz = elements(*product);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                     const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                     const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                     cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t product) {
  RIDGE_SPGEMM(op_a, op_b, a, b, c, product);
  if (alpha == nullptr || beta == nullptr || !has_room(*c, *product)) return CUSPARSE_STATUS_INVALID_VALUE;
  RIDGE_READY(handle);
  write_pattern(*product, *c);
  write_values(*product, *c, Factors{{handle, alpha, compute}, {handle, beta, compute}});
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpGEMMreuse_workEstimation(cusparseHandle_t handle, cusparseOperation_t op_a,
                                                    cusparseOperation_t op_b, cusparseConstSpMatDescr_t a,
                                                    cusparseConstSpMatDescr_t b, cusparseSpMatDescr_t c,
                                                    cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t product, size_t* bytes,
                                                    void*) {
  RIDGE_SPGEMM(op_a, op_b, a, b, c, product);
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSpGEMMreuse_nnz(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                         cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                         cusparseSpMatDescr_t c, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t product,
                                         size_t* bytes2, void* buffer2, size_t* bytes3, void* buffer3, size_t* bytes4,
                                         void* buffer4) {
  RIDGE_SPGEMM(op_a, op_b, a, b, c, product);
  if (buffer2 == nullptr && buffer3 == nullptr && buffer4 == nullptr) {
    for (size_t* bytes : {bytes2, bytes3, bytes4})
      if (no_buffer(bytes) != CUSPARSE_STATUS_SUCCESS) return CUSPARSE_STATUS_INVALID_VALUE;
    return CUSPARSE_STATUS_SUCCESS;
  }
  RIDGE_READY(handle);
  find_pattern(*product, *a, *b);
  c->nnz = elements(*product);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMMreuse_copy(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                          cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                          cusparseSpMatDescr_t c, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t product,
                                          size_t* bytes, void* buffer) {
  RIDGE_SPGEMM(op_a, op_b, a, b, c, product);
  if (buffer == nullptr) return no_buffer(bytes);
  if (!has_room(*c, *product)) return CUSPARSE_STATUS_INVALID_VALUE;
  RIDGE_READY(handle);
  write_pattern(*product, *c);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMMreuse_compute(cusparseHandle_t handle, cusparseOperation_t op_a,
                                             cusparseOperation_t op_b, const void* alpha, cusparseConstSpMatDescr_t a,
                                             cusparseConstSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c,
                                             cudaDataType compute, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t product) {
  RIDGE_SPGEMM(op_a, op_b, a, b, c, product);
  if (alpha == nullptr || beta == nullptr || !has_room(*c, *product)) return CUSPARSE_STATUS_INVALID_VALUE;
  if (const cusparseStatus_t status = check_types(*a, compute); status != CUSPARSE_STATUS_SUCCESS) return status;
  RIDGE_READY(handle);
  compute_rows(*product, *a, *b);
  write_values(*product, *c, Factors{{handle, alpha, compute}, {handle, beta, compute}});
  return CUSPARSE_STATUS_SUCCESS;
}
}
