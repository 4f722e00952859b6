// Products whose operations are functions of the program, from what nvrtcGetLTOIR gave: SpMMOp, and SpMVOp with an
// epilogue.
#include <cstring>
#include <string>
#include <vector>

#include "device/functions.hpp"
#include "sparse/products.hpp"

struct cusparseSpMMOpPlan {
  cusparseHandle_t handle;
  bool transposed;
  cusparseSpMatDescr a;
  cusparseDnMatDescr b, c;
  void *add, *mul, *epilogue;
};
struct cusparseSpMVOpDescr {
  cusparseSpMatDescr a;
  cudaDataType compute;
};
struct cusparseSpMVOpPlan {
  cusparseSpMVOpDescr product;
  std::vector<char> code;
  void* epilogue;  // null: none
};

using ridge::simt::device_function;
using ridge::simt::DeviceFunctions;
using ridge::simt::sparse::Factor;
using ridge::simt::sparse::Factors;
using ridge::simt::sparse::gone;
using ridge::simt::sparse::made;
using ridge::simt::sparse::no_buffer;
using ridge::simt::sparse::perform;
using ridge::simt::sparse::refused;

namespace {

bool of_one_type(cudaDataType type, cudaDataType a, cudaDataType b, cudaDataType c) {
  return (type == CUDA_R_32F || type == CUDA_R_64F) && a == type && b == type && c == type;
}

// C(i, j) = epilogue(A(i, 0) mul B(0, j) add A(i, 1) mul B(1, j) add ..., C(i, j)) over the elements of A.
template <class T>
void multiply_with(const cusparseSpMMOpPlan& p) {
  using Operation = T (*)(T, T);
  const auto add = reinterpret_cast<Operation>(p.add), mul = reinterpret_cast<Operation>(p.mul);
  const auto epilogue = reinterpret_cast<Operation>(p.epilogue);
  const auto value = [](double v) { return static_cast<T>(v); };
  std::vector<T> sums(static_cast<std::size_t>(p.c.rows * p.c.cols));
  std::vector<bool> begun(sums.size());
  p.a.for_each([&](std::int64_t i, std::int64_t k, std::int64_t place) {
    for (std::int64_t j = 0; j < p.c.cols; ++j) {
      const auto at = static_cast<std::size_t>(i * p.c.cols + j);
      const T product = mul(value(p.a.values.get(place)), value(p.b.get(k, j, p.transposed)));
      sums[at] = begun[at] ? add(sums[at], product) : product;
      begun[at] = true;
    }
  });
  for (std::int64_t i = 0; i < p.c.rows; ++i)
    for (std::int64_t j = 0; j < p.c.cols; ++j)
      p.c.values.set(p.c.place(i, j), epilogue(sums[static_cast<std::size_t>(i * p.c.cols + j)], value(p.c.get(i, j))));
}

// z = epilogue(row, alpha A x + beta y)
template <class T>
void multiply_vector_with(const cusparseSpMVOpPlan& p, const cusparseDnVecDescr& x, const cusparseDnVecDescr& y,
                          const cusparseDnVecDescr& z, const Factors& factors) {
  const auto epilogue = reinterpret_cast<T (*)(std::int64_t, T)>(p.epilogue);
  const cusparseSpMatDescr& a = p.product.a;
  std::vector<double> sums(static_cast<std::size_t>(a.rows));
  a.for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
    sums[static_cast<std::size_t>(i)] += a.values.get(k) * x.values.get(j);
  });
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto sum = static_cast<T>(factors(sums[static_cast<std::size_t>(i)], [&] { return y.values.get(i); }));
    z.values.set(i, epilogue == nullptr ? sum : epilogue(i, sum));
  }
}

cusparseStatus_t check_vectors(cusparseHandle_t handle, const cusparseSpMatDescr& a, const cusparseDnVecDescr* x,
                               const cusparseDnVecDescr* y, const cusparseDnVecDescr* z, cudaDataType compute) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (x == nullptr || y == nullptr || z == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  if (x->size != a.cols || y->size != a.rows || z->size != a.rows) return CUSPARSE_STATUS_INVALID_VALUE;
  if (a.format != CUSPARSE_FORMAT_CSR) return refused("SpMVOp has CSR matrices alone");
  if (!of_one_type(compute, a.values.type, x->values.type, y->values.type) || z->values.type != compute)
    return refused("SpMVOp has float and double alone, all of one type");
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

#define RIDGE_VECTORS(handle, a, x, y, z, compute)                                                                   \
  if (const cusparseStatus_t status = check_vectors(handle, a, x, y, z, compute); status != CUSPARSE_STATUS_SUCCESS) \
  return status

extern "C" {

cusparseStatus_t cusparseSpMMOp_createPlan(cusparseHandle_t handle, cusparseSpMMOpPlan_t* plan,
                                           cusparseOperation_t op_a, cusparseOperation_t op_b,
                                           cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                           cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpMMOpAlg_t,
                                           const void* add, size_t add_bytes, const void* mul, size_t mul_bytes,
                                           const void* epilogue, size_t epilogue_bytes, size_t* bytes) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (plan == nullptr || a == nullptr || b == nullptr || c == nullptr || add == nullptr || mul == nullptr ||
      epilogue == nullptr || bytes == nullptr)
    return CUSPARSE_STATUS_INVALID_VALUE;
  const bool t = op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
  if (op_a != CUSPARSE_OPERATION_NON_TRANSPOSE) return refused("SpMMOp has no transpose of A");
  if (c->rows != a->rows || c->cols != (t ? b->rows : b->cols) || a->cols != (t ? b->cols : b->rows))
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (a->format != CUSPARSE_FORMAT_CSR) return refused("SpMMOp has CSR matrices alone");
  if (!of_one_type(compute, a->values.type, b->values.type, c->values.type))
    return refused("SpMMOp has float and double alone, all of one type");
  cusparseSpMMOpPlan p{handle, t, *a, *b, *c, nullptr, nullptr, nullptr};
  p.add = device_function("cuSPARSE", add, add_bytes, "add_op");
  p.mul = device_function("cuSPARSE", mul, mul_bytes, "mul_op");
  p.epilogue = device_function("cuSPARSE", epilogue, epilogue_bytes, "epilogue");
  if (p.add == nullptr || p.mul == nullptr || p.epilogue == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *plan = new cusparseSpMMOpPlan(p);
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSpMMOp(cusparseSpMMOpPlan_t plan, void*) {
  if (plan == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  return perform(plan->handle,
                 [p = *plan] { p.c.values.type == CUDA_R_64F ? multiply_with<double>(p) : multiply_with<float>(p); });
}
cusparseStatus_t cusparseSpMMOp_destroyPlan(cusparseSpMMOpPlan_t plan) { return gone(plan); }

cusparseStatus_t cusparseSpMVOp_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, cusparseConstSpMatDescr_t a,
                                           cusparseConstDnVecDescr_t x, cusparseConstDnVecDescr_t y,
                                           cusparseDnVecDescr_t z, cudaDataType compute, cusparseSpMVOpAlg_t,
                                           size_t* bytes) {
  if (a == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  RIDGE_VECTORS(handle, *a, x, y, z, compute);
  if (op != CUSPARSE_OPERATION_NON_TRANSPOSE) return refused("SpMVOp has no transpose of A");
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSpMVOp_createDescr(cusparseHandle_t handle, cusparseSpMVOpDescr_t* descr,
                                            cusparseOperation_t op, cusparseConstSpMatDescr_t a,
                                            cusparseConstDnVecDescr_t x, cusparseConstDnVecDescr_t y,
                                            cusparseDnVecDescr_t z, cudaDataType compute, cusparseSpMVOpAlg_t, void*) {
  if (a == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  RIDGE_VECTORS(handle, *a, x, y, z, compute);
  if (op != CUSPARSE_OPERATION_NON_TRANSPOSE) return refused("SpMVOp has no transpose of A");
  return made(descr, cusparseSpMVOpDescr{*a, compute});
}
cusparseStatus_t cusparseSpMVOp_destroyDescr(cusparseSpMVOpDescr_t descr) { return gone(descr); }
cusparseStatus_t cusparseSpMVOp_createPlan(cusparseHandle_t handle, cusparseSpMVOpDescr_t descr,
                                           cusparseSpMVOpPlan_t* plan, const void* code, size_t bytes) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (descr == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  cusparseSpMVOpPlan p{*descr, {}, nullptr};
  if (code != nullptr) {
    p.code.assign(static_cast<const char*>(code), static_cast<const char*>(code) + bytes);
    p.epilogue = device_function("cuSPARSE", code, bytes, "spmvop_epilogue");
    if (p.epilogue == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  }
  return made(plan, std::move(p));
}
cusparseStatus_t cusparseSpMVOp_destroyPlan(cusparseSpMVOpPlan_t plan) { return gone(plan); }
cusparseStatus_t cusparseSpMVOp_setGlobalUserData(cusparseHandle_t handle, cusparseSpMVOpPlan_t plan, const char* name,
                                                  const void* data, size_t bytes) {
  if (plan == nullptr || name == nullptr || data == nullptr || plan->code.empty()) return CUSPARSE_STATUS_INVALID_VALUE;
  RIDGE_READY(handle);
  void* place = device_function("cuSPARSE", plan->code.data(), plan->code.size(), name);
  if (place == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  std::memcpy(place, data, bytes);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMVOp(cusparseHandle_t handle, cusparseSpMVOpPlan_t plan, const void* alpha, const void* beta,
                                cusparseConstDnVecDescr_t x, cusparseConstDnVecDescr_t y, cusparseDnVecDescr_t z) {
  if (plan == nullptr || alpha == nullptr || beta == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  const cudaDataType compute = plan->product.compute;
  RIDGE_VECTORS(handle, plan->product.a, x, y, z, compute);
  const Factors factors{{handle, alpha, compute}, {handle, beta, compute}};
  return perform(handle, [p = *plan, x = *x, y = *y, z = *z, factors] {
    const DeviceFunctions running;
    p.product.compute == CUDA_R_64F ? multiply_vector_with<double>(p, x, y, z, factors)
                                    : multiply_vector_with<float>(p, x, y, z, factors);
  });
}
}
