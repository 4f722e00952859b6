// Matrices in blocks and slices (BSR, Blocked-ELL, Sliced-ELL), and batches of matrices.
#include "sparse/descriptors.hpp"

using ridge::simt::sparse::made;

namespace {

bool good_base(cusparseIndexBase_t base) { return base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE; }

cusparseStatus_t set_batch(cusparseSpMatDescr_t m, cusparseFormat_t format, int count, std::int64_t offsets_stride,
                           std::int64_t columns_stride, std::int64_t values_stride) {
  if (m == nullptr || m->format != format || count < 1) return CUSPARSE_STATUS_INVALID_VALUE;
  if (offsets_stride < 0 || columns_stride < 0 || values_stride < 0) return CUSPARSE_STATUS_INVALID_VALUE;
  m->batches = count;
  m->offsets_stride = offsets_stride, m->columns_stride = columns_stride, m->values_stride = values_stride;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseCreateBsr(cusparseSpMatDescr_t* m, int64_t block_rows, int64_t block_cols, int64_t blocks,
                                   int64_t row_block_size, int64_t col_block_size, void* offsets, void* columns,
                                   void* values, cusparseIndexType_t offsets_type, cusparseIndexType_t columns_type,
                                   cusparseIndexBase_t base, cudaDataType type, cusparseOrder_t order) {
  if (block_rows < 0 || block_cols < 0 || blocks < 0 || row_block_size < 1 || col_block_size < 1 || !good_base(base) ||
      (blocks > 0 && block_rows * block_cols < blocks))
    return CUSPARSE_STATUS_INVALID_VALUE;
  cusparseSpMatDescr made_of{block_rows * row_block_size,
                             block_cols * col_block_size,
                             blocks * row_block_size * col_block_size,
                             CUSPARSE_FORMAT_BSR,
                             {offsets, offsets_type},
                             {columns, columns_type},
                             {values, type},
                             base};
  made_of.block_rows = row_block_size, made_of.block_cols = col_block_size;
  made_of.blocks_by_rows = order == CUSPARSE_ORDER_ROW;
  return made(m, made_of);
}
// Column indices: rows / block x ell_cols / block; values: rows x ell_cols.
cusparseStatus_t cusparseCreateBlockedEll(cusparseSpMatDescr_t* m, int64_t rows, int64_t cols, int64_t block_size,
                                          int64_t ell_cols, void* columns, void* values, cusparseIndexType_t index_type,
                                          cusparseIndexBase_t base, cudaDataType type) {
  if (rows < 0 || cols < 0 || block_size < 1 || ell_cols < 0 || ell_cols > cols || !good_base(base))
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (rows % block_size != 0 || cols % block_size != 0 || ell_cols % block_size != 0)
    return CUSPARSE_STATUS_INVALID_VALUE;
  cusparseSpMatDescr made_of{
      rows,           cols, rows * ell_cols, CUSPARSE_FORMAT_BLOCKED_ELL, {nullptr, index_type}, {columns, index_type},
      {values, type}, base};
  made_of.block_rows = made_of.block_cols = block_size, made_of.ell_cols = ell_cols;
  return made(m, made_of);
}
cusparseStatus_t cusparseBlockedEllGet(cusparseSpMatDescr_t m, int64_t* rows, int64_t* cols, int64_t* block_size,
                                       int64_t* ell_cols, void** columns, void** values,
                                       cusparseIndexType_t* index_type, cusparseIndexBase_t* base, cudaDataType* type) {
  if (m == nullptr || m->format != CUSPARSE_FORMAT_BLOCKED_ELL || rows == nullptr || cols == nullptr ||
      block_size == nullptr || ell_cols == nullptr || columns == nullptr || values == nullptr ||
      index_type == nullptr || base == nullptr || type == nullptr)
    return CUSPARSE_STATUS_INVALID_VALUE;
  *rows = m->rows, *cols = m->cols, *block_size = m->block_cols, *ell_cols = m->ell_cols;
  *columns = m->columns.at, *values = m->values.at;
  *index_type = m->columns.type, *base = static_cast<cusparseIndexBase_t>(m->base), *type = m->values.type;
  return CUSPARSE_STATUS_SUCCESS;
}
// Offsets of ceil(rows / slice_size) slices into the arrays of values_size elements, padding counted.
cusparseStatus_t cusparseCreateSlicedEll(cusparseSpMatDescr_t* m, int64_t rows, int64_t cols, int64_t nnz,
                                         int64_t values_size, int64_t slice_size, void* offsets, void* columns,
                                         void* values, cusparseIndexType_t offsets_type,
                                         cusparseIndexType_t columns_type, cusparseIndexBase_t base,
                                         cudaDataType type) {
  if (rows < 0 || cols < 0 || nnz < 0 || values_size < nnz || slice_size < 1 || !good_base(base))
    return CUSPARSE_STATUS_INVALID_VALUE;
  cusparseSpMatDescr made_of{
      rows,           cols, nnz, CUSPARSE_FORMAT_SLICED_ELLPACK, {offsets, offsets_type}, {columns, columns_type},
      {values, type}, base};
  made_of.slice_rows = slice_size;
  return made(m, made_of);
}

cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t m, int count, int64_t offsets_stride, int64_t stride) {
  return set_batch(m, CUSPARSE_FORMAT_CSR, count, offsets_stride, stride, stride);
}
cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t m, int count, int64_t stride) {
  return set_batch(m, CUSPARSE_FORMAT_COO, count, stride, stride, stride);
}
cusparseStatus_t cusparseBsrSetStridedBatch(cusparseSpMatDescr_t m, int count, int64_t offsets_stride,
                                            int64_t columns_stride, int64_t values_stride) {
  return set_batch(m, CUSPARSE_FORMAT_BSR, count, offsets_stride, columns_stride, values_stride);
}
cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t m, int* count) {
  if (m == nullptr || count == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *count = m->batches;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t m, int count, int64_t stride) {
  if (m == nullptr || count < 1) return CUSPARSE_STATUS_INVALID_VALUE;
  m->batches = count, m->stride = stride;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t m, int* count, int64_t* stride) {
  if (m == nullptr || count == nullptr || stride == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *count = m->batches, *stride = m->stride;
  return CUSPARSE_STATUS_SUCCESS;
}
}
