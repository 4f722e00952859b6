// Handles and descriptors of cuSPARSE.
#include "sparse/descriptors.hpp"

using ridge::simt::sparse::gone;
using ridge::simt::sparse::made;

extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) { return made(handle, cusparseContext{}); }
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) { return gone(handle); }
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  *stream = handle->stream;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  handle->pointers = mode;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t* mode) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  *mode = handle->pointers;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  *version = CUSPARSE_VERSION;
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
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t m, cusparseMatrixType_t type) {
  if (m == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  m->type = type;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseMatrixType_t cusparseGetMatType(const cusparseMatDescr_t m) { return m->type; }
cusparseIndexBase_t cusparseGetMatIndexBase(const cusparseMatDescr_t m) { return m->base; }
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t m, cusparseFillMode_t fill) {
  if (m == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  m->fill = fill;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseFillMode_t cusparseGetMatFillMode(const cusparseMatDescr_t m) { return m->fill; }
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t m, cusparseDiagType_t diagonal) {
  if (m == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  m->diagonal = diagonal;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseDiagType_t cusparseGetMatDiagType(const cusparseMatDescr_t m) { return m->diagonal; }
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t m, cusparseIndexBase_t base) {
  if (m == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  m->base = base;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* m, int64_t rows, int64_t cols, int64_t nnz, void* offsets,
                                   void* columns, void* values, cusparseIndexType_t offsets_type,
                                   cusparseIndexType_t columns_type, cusparseIndexBase_t base, cudaDataType type) {
  return made(m, cusparseSpMatDescr{rows,
                                    cols,
                                    nnz,
                                    CUSPARSE_FORMAT_CSR,
                                    {offsets, offsets_type},
                                    {columns, columns_type},
                                    {values, type},
                                    base});
}
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* m, int64_t rows, int64_t cols, int64_t nnz, void* row_indices,
                                   void* columns, void* values, cusparseIndexType_t index_type,
                                   cusparseIndexBase_t base, cudaDataType type) {
  return made(m, cusparseSpMatDescr{rows,
                                    cols,
                                    nnz,
                                    CUSPARSE_FORMAT_COO,
                                    {row_indices, index_type},
                                    {columns, index_type},
                                    {values, type},
                                    base});
}
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t* m, int64_t rows, int64_t cols, int64_t nnz, void* offsets,
                                   void* row_indices, void* values, cusparseIndexType_t offsets_type,
                                   cusparseIndexType_t rows_type, cusparseIndexBase_t base, cudaDataType type) {
  return made(m, cusparseSpMatDescr{rows,
                                    cols,
                                    nnz,
                                    CUSPARSE_FORMAT_CSC,
                                    {offsets, offsets_type},
                                    {row_indices, rows_type},
                                    {values, type},
                                    base});
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t m) { return gone(m); }
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t m, int64_t* rows, int64_t* cols, int64_t* nnz) {
  if (m == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *rows = m->rows, *cols = m->cols, *nnz = m->nnz;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t m, cusparseFormat_t* format) {
  if (m == nullptr || format == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *format = m->format;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t m, cusparseIndexBase_t* base) {
  if (m == nullptr || base == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *base = static_cast<cusparseIndexBase_t>(m->base);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t m, void** values) {
  if (m == nullptr || values == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *values = m->values.at;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t m, void* values) {
  if (m == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  m->values.at = values;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t m, cusparseSpMatAttribute_t attribute, void* data,
                                           size_t bytes) {
  if (m == nullptr || data == nullptr || bytes != sizeof(int)) return CUSPARSE_STATUS_INVALID_VALUE;
  if (attribute == CUSPARSE_SPMAT_FILL_MODE)
    m->fill = *static_cast<cusparseFillMode_t*>(data);
  else
    m->diagonal = *static_cast<cusparseDiagType_t*>(data);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t m, cusparseSpMatAttribute_t attribute, void* data,
                                           size_t bytes) {
  if (m == nullptr || data == nullptr || bytes != sizeof(int)) return CUSPARSE_STATUS_INVALID_VALUE;
  if (attribute == CUSPARSE_SPMAT_FILL_MODE)
    *static_cast<cusparseFillMode_t*>(data) = m->fill;
  else
    *static_cast<cusparseDiagType_t*>(data) = m->diagonal;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t m, void* offsets, void* rows, void* values) {
  return cusparseCsrSetPointers(m, offsets, rows, values);
}
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t m, void* rows, void* columns, void* values) {
  return cusparseCsrSetPointers(m, rows, columns, values);
}
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t m, void* offsets, void* columns, void* values) {
  if (m == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  m->offsets.at = offsets, m->columns.at = columns, m->values.at = values;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* m, int64_t rows, int64_t cols, int64_t ld, void* values,
                                     cudaDataType type, cusparseOrder_t order) {
  return made(m, cusparseDnMatDescr{rows, cols, ld, {values, type}, order == CUSPARSE_ORDER_ROW});
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t m) { return gone(m); }
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* v, int64_t size, void* values, cudaDataType type) {
  return made(v, cusparseDnVecDescr{size, {values, type}});
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t v) { return gone(v); }
cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t* v, int64_t size, int64_t nnz, void* indices, void* values,
                                     cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) {
  return made(v, cusparseSpVecDescr{size, nnz, {indices, index_type}, {values, type}, base});
}
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t v) { return gone(v); }
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t v, void* values) {
  if (v == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  v->values.at = values;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t v, void** values) {
  if (v == nullptr || values == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *values = v->values.at;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t m, void* values) {
  if (m == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  m->values.at = values;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t m, void** values) {
  if (m == nullptr || values == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *values = m->values.at;
  return CUSPARSE_STATUS_SUCCESS;
}
}
