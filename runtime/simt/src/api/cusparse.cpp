// cuSPARSE on the CPU (include/cusparse.h).
#include "cusparse.h"

#include <algorithm>
#include <map>
#include <vector>

#include "cuda_bf16.h"
#include "cuda_fp16.h"

struct cusparseContext {
  cudaStream_t stream = nullptr;
};
struct cusparseMatDescr {
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
};

namespace ridge::simt::sparse {

// Memory of the device, one number at a time.
struct Numbers {
  void* at = nullptr;
  cudaDataType type = CUDA_R_32F;

  bool known() const { return bytes() != 0; }
  std::int64_t bytes() const {
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : type == CUDA_R_16F || type == CUDA_R_16BF ? 2 : 0;
  }
  double get(std::int64_t i) const {
    switch (type) {
      case CUDA_R_64F:
        return static_cast<const double*>(at)[i];
      case CUDA_R_16F:
        return static_cast<float>(static_cast<const __half*>(at)[i]);
      case CUDA_R_16BF:
        return static_cast<float>(static_cast<const __nv_bfloat16*>(at)[i]);
      default:
        return static_cast<const float*>(at)[i];
    }
  }
  void set(std::int64_t i, double v) const {
    switch (type) {
      case CUDA_R_64F:
        static_cast<double*>(at)[i] = v;
        break;
      case CUDA_R_16F:
        static_cast<__half*>(at)[i] = __half(v);
        break;
      case CUDA_R_16BF:
        static_cast<__nv_bfloat16*>(at)[i] = __nv_bfloat16(v);
        break;
      default:
        static_cast<float*>(at)[i] = static_cast<float>(v);
    }
  }
  Numbers moved(std::int64_t n) const { return {static_cast<char*>(at) + n * bytes(), type}; }
};

struct Indices {
  void* at = nullptr;
  cusparseIndexType_t type = CUSPARSE_INDEX_32I;

  std::int64_t get(std::int64_t i) const {
    return type == CUSPARSE_INDEX_64I ? static_cast<const std::int64_t*>(at)[i]
                                      : static_cast<const std::int32_t*>(at)[i];
  }
  void set(std::int64_t i, std::int64_t v) const {
    if (type == CUSPARSE_INDEX_64I)
      static_cast<std::int64_t*>(at)[i] = v;
    else
      static_cast<std::int32_t*>(at)[i] = static_cast<std::int32_t>(v);
  }
  Indices moved(std::int64_t n) const {
    return {static_cast<char*>(at) + n * (type == CUSPARSE_INDEX_64I ? 8 : 4), type};
  }
};

}  // namespace ridge::simt::sparse

using ridge::simt::sparse::Indices;
using ridge::simt::sparse::Numbers;

struct cusparseSpVecDescr {
  std::int64_t size, nnz;
  Indices indices;
  Numbers values;
  int base;
};
struct cusparseDnVecDescr {
  std::int64_t size;
  Numbers values;
};
struct cusparseDnMatDescr {
  std::int64_t rows, cols, ld;
  Numbers values;
  bool by_rows;
  int batches = 1;
  std::int64_t stride = 0;

  std::int64_t place(std::int64_t i, std::int64_t j) const { return by_rows ? i * ld + j : j * ld + i; }
  double get(std::int64_t i, std::int64_t j, bool transposed = false) const {
    return values.get(transposed ? place(j, i) : place(i, j));
  }
};
struct cusparseSpMatDescr {
  std::int64_t rows, cols, nnz;
  bool compressed;           // CSR; else COO
  Indices offsets, columns;  // of COO: row indices
  Numbers values;
  int base;
  int batches = 1;
  std::int64_t offsets_stride = 0, stride = 0;

  // f(row, column, place) for each element, in the order of memory.
  template <class F>
  void for_each(F f) const {
    if (!compressed)
      for (std::int64_t k = 0; k < nnz; ++k) f(offsets.get(k) - base, columns.get(k) - base, k);
    else
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t k = offsets.get(i) - base; k < offsets.get(i + 1) - base; ++k) f(i, columns.get(k) - base, k);
  }
};
struct cusparseSpGEMMDescr {
  std::vector<std::map<std::int64_t, double>> rows;
};

namespace {

cusparseStatus_t ready(cusparseHandle_t handle) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  return cudaStreamSynchronize(handle->stream) == cudaSuccess ? CUSPARSE_STATUS_SUCCESS
                                                              : CUSPARSE_STATUS_EXECUTION_FAILED;
}
#define RIDGE_READY(handle) \
  if (cusparseStatus_t status = ready(handle); status != CUSPARSE_STATUS_SUCCESS) return status

// A factor in host memory.
double factor(const void* p, cudaDataType type) { return Numbers{const_cast<void*>(p), type}.get(0); }

template <class T>
cusparseStatus_t made(T** out, T descriptor) {
  if (out == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  if constexpr (requires { descriptor.values.known(); })
    if (!descriptor.values.known()) return CUSPARSE_STATUS_NOT_SUPPORTED;
  *out = new T(descriptor);
  return CUSPARSE_STATUS_SUCCESS;
}
template <class T>
cusparseStatus_t gone(const T* descriptor) {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t no_buffer(std::size_t* bytes) {
  if (bytes == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *bytes = 256;  // programs allocate it
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) { return made(handle, cusparseContext{}); }
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) { return gone(handle); }
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUSPARSE_STATUS_SUCCESS;
}
const char* cusparseGetErrorName(cusparseStatus_t s) {
  static constexpr const char* kNames[] = {"CUSPARSE_STATUS_SUCCESS",
                                           "CUSPARSE_STATUS_NOT_INITIALIZED",
                                           "CUSPARSE_STATUS_ALLOC_FAILED",
                                           "CUSPARSE_STATUS_INVALID_VALUE",
                                           "CUSPARSE_STATUS_ARCH_MISMATCH",
                                           "CUSPARSE_STATUS_MAPPING_ERROR",
                                           "CUSPARSE_STATUS_EXECUTION_FAILED",
                                           "CUSPARSE_STATUS_INTERNAL_ERROR",
                                           "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
                                           "CUSPARSE_STATUS_ZERO_PIVOT",
                                           "CUSPARSE_STATUS_NOT_SUPPORTED",
                                           "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"};
  return s < 0 || s > CUSPARSE_STATUS_INSUFFICIENT_RESOURCES ? "unrecognized error code" : kNames[s];
}
const char* cusparseGetErrorString(cusparseStatus_t s) { return cusparseGetErrorName(s); }

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* m) { return made(m, cusparseMatDescr{}); }
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t m) { return gone(m); }
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t, cusparseMatrixType_t) { return CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t m, cusparseIndexBase_t base) {
  if (m == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  m->base = base;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* m, int64_t rows, int64_t cols, int64_t nnz, void* offsets,
                                   void* columns, void* values, cusparseIndexType_t offsets_type,
                                   cusparseIndexType_t columns_type, cusparseIndexBase_t base, cudaDataType type) {
  return made(m, cusparseSpMatDescr{
                     rows, cols, nnz, true, {offsets, offsets_type}, {columns, columns_type}, {values, type}, base});
}
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* m, int64_t rows, int64_t cols, int64_t nnz, void* row_indices,
                                   void* columns, void* values, cusparseIndexType_t index_type,
                                   cusparseIndexBase_t base, cudaDataType type) {
  return made(m, cusparseSpMatDescr{
                     rows, cols, nnz, false, {row_indices, index_type}, {columns, index_type}, {values, type}, base});
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t m) { return gone(m); }
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t m, int64_t* rows, int64_t* cols, int64_t* nnz) {
  if (m == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *rows = m->rows, *cols = m->cols, *nnz = m->nnz;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t m, void* offsets, void* columns, void* values) {
  if (m == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  m->offsets.at = offsets, m->columns.at = columns, m->values.at = values;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t m, int count, int64_t offsets_stride, int64_t stride) {
  if (m == nullptr || count < 1) return CUSPARSE_STATUS_INVALID_VALUE;
  m->batches = count, m->offsets_stride = offsets_stride, m->stride = stride;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* m, int64_t rows, int64_t cols, int64_t ld, void* values,
                                     cudaDataType type, cusparseOrder_t order) {
  return made(m, cusparseDnMatDescr{rows, cols, ld, {values, type}, order == CUSPARSE_ORDER_ROW});
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t m) { return gone(m); }
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t m, int count, int64_t stride) {
  if (m == nullptr || count < 1) return CUSPARSE_STATUS_INVALID_VALUE;
  m->batches = count, m->stride = stride;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* v, int64_t size, void* values, cudaDataType type) {
  return made(v, cusparseDnVecDescr{size, {values, type}});
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t v) { return gone(v); }
cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t* v, int64_t size, int64_t nnz, void* indices, void* values,
                                     cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) {
  return made(v, cusparseSpVecDescr{size, nnz, {indices, index_type}, {values, type}, base});
}
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t v) { return gone(v); }

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
  if (op_a != CUSPARSE_OPERATION_NON_TRANSPOSE || op_b != CUSPARSE_OPERATION_NON_TRANSPOSE || !b->compressed)
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

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t, cusparseConstSpMatDescr_t, cusparseDnMatDescr_t,
                                                  cusparseSparseToDenseAlg_t, size_t* bytes) {
  return no_buffer(bytes);
}
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b,
                                       cusparseSparseToDenseAlg_t, void*) {
  RIDGE_READY(handle);
  for (std::int64_t i = 0; i < b->rows; ++i)
    for (std::int64_t j = 0; j < b->cols; ++j) b->values.set(b->place(i, j), 0);
  a->for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) { b->values.set(b->place(i, j), a->values.get(k)); });
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t, cusparseConstDnMatDescr_t, cusparseSpMatDescr_t,
                                                  cusparseDenseToSparseAlg_t, size_t* bytes) {
  return no_buffer(bytes);
}
// The offsets and the number of elements; convert writes the elements.
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, void*) {
  RIDGE_READY(handle);
  b->nnz = 0;
  for (std::int64_t i = 0; i < a->rows; ++i) {
    if (b->compressed) b->offsets.set(i, b->nnz + b->base);
    for (std::int64_t j = 0; j < a->cols; ++j) b->nnz += a->get(i, j) != 0;
  }
  if (b->compressed) b->offsets.set(a->rows, b->nnz + b->base);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, void*) {
  RIDGE_READY(handle);
  std::int64_t k = 0;
  for (std::int64_t i = 0; i < a->rows; ++i) {
    if (b->compressed) b->offsets.set(i, k + b->base);
    for (std::int64_t j = 0; j < a->cols; ++j) {
      const double v = a->get(i, j);
      if (v == 0) continue;
      if (!b->compressed) b->offsets.set(k, i + b->base);
      b->columns.set(k, j + b->base);
      b->values.set(k++, v);
    }
  }
  if (b->compressed) b->offsets.set(a->rows, k + b->base);
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
}
