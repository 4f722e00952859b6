// What the descriptors of cuSPARSE stand for (include/cusparse.h).
#pragma once
#include <cstdint>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cusparse.h"

struct cusparseContext {
  cudaStream_t stream = nullptr;
  cusparsePointerMode_t pointers = CUSPARSE_POINTER_MODE_HOST;  // the host reads device memory, so both are one
};
struct cusparseMatDescr {
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
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
  cusparseDnMatDescr of_batch(int n) const {
    cusparseDnMatDescr one = *this;
    if (batches > 1) one.values = values.moved(n * stride);
    return one;
  }
};
struct cusparseSpMatDescr {
  std::int64_t rows, cols, nnz;  // in elements, whatever the format
  cusparseFormat_t format;
  Indices offsets, columns;  // of COO: row indices and columns; of CSC: a column's offsets, and rows
  Numbers values;
  int base;
  std::int64_t block_rows = 1, block_cols = 1;  // of BSR and Blocked-ELL
  bool blocks_by_rows = true;                   // of BSR: the elements of a block
  std::int64_t ell_cols = 0;                    // of Blocked-ELL: stored columns, those of empty blocks too
  std::int64_t slice_rows = 0;                  // of Sliced-ELL
  int batches = 1;
  std::int64_t offsets_stride = 0, columns_stride = 0, values_stride = 0;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;

  bool transposable() const {
    return format == CUSPARSE_FORMAT_CSR || format == CUSPARSE_FORMAT_CSC || format == CUSPARSE_FORMAT_COO;
  }
  cusparseSpMatDescr of_batch(int n) const {
    cusparseSpMatDescr one = *this;
    if (batches == 1) return one;
    one.offsets = offsets.moved(n * offsets_stride);
    one.columns = columns.moved(n * columns_stride);
    one.values = values.moved(n * values_stride);
    return one;
  }

  // f(row, column, place) for each element, in the order of memory. Padding of the ELL formats, whose column is -1, is
  // no element.
  template <class F>
  void for_each(F f) const {
    if (format == CUSPARSE_FORMAT_COO)
      for (std::int64_t k = 0; k < nnz; ++k) f(offsets.get(k) - base, columns.get(k) - base, k);
    else if (format == CUSPARSE_FORMAT_BSR)
      of_blocks(f);
    else if (format == CUSPARSE_FORMAT_BLOCKED_ELL)
      of_ell_blocks(f);
    else if (format == CUSPARSE_FORMAT_SLICED_ELLPACK)
      of_slices(f);
    else
      of_compressed(f);
  }

 private:
  template <class F>
  void of_compressed(F f) const {
    const bool by_columns = format == CUSPARSE_FORMAT_CSC;
    for (std::int64_t i = 0; i < (by_columns ? cols : rows); ++i)
      for (std::int64_t k = offsets.get(i) - base; k < offsets.get(i + 1) - base; ++k) {
        const std::int64_t j = columns.get(k) - base;
        by_columns ? f(j, i, k) : f(i, j, k);
      }
  }
  template <class F>
  void of_blocks(F f) const {
    const std::int64_t m = block_rows, n = block_cols;
    for (std::int64_t i = 0; i < rows / m; ++i)
      for (std::int64_t k = offsets.get(i) - base; k < offsets.get(i + 1) - base; ++k) {
        const std::int64_t j = columns.get(k) - base;
        for (std::int64_t e = 0; e < m * n; ++e) {
          const std::int64_t r = blocks_by_rows ? e / n : e % m, c = blocks_by_rows ? e % n : e / m;
          f(i * m + r, j * n + c, k * m * n + e);
        }
      }
  }
  // Values are a dense array of rows x ell_cols, by rows.
  template <class F>
  void of_ell_blocks(F f) const {
    const std::int64_t n = block_cols, slots = ell_cols / n;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t slot = 0; slot < slots; ++slot) {
        const std::int64_t j = columns.get(i / n * slots + slot);
        for (std::int64_t c = 0; j >= 0 && c < n; ++c) f(i, (j - base) * n + c, i * ell_cols + slot * n + c);
      }
  }
  // Of a slice: the first element of each row, then the second of each, and so on.
  template <class F>
  void of_slices(F f) const {
    for (std::int64_t first = 0; first < rows; first += slice_rows) {
      const std::int64_t slice = first / slice_rows, begin = offsets.get(slice) - base;
      for (std::int64_t k = begin; k < offsets.get(slice + 1) - base; ++k) {
        const std::int64_t i = first + (k - begin) % slice_rows, j = columns.get(k);
        if (i < rows && j >= 0) f(i, j - base, k);
      }
    }
  }
};

namespace ridge::simt::sparse {

inline cusparseStatus_t ready(cusparseHandle_t handle) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  return cudaStreamSynchronize(handle->stream) == cudaSuccess ? CUSPARSE_STATUS_SUCCESS
                                                              : CUSPARSE_STATUS_EXECUTION_FAILED;
}
#define RIDGE_READY(handle) \
  if (cusparseStatus_t status = ridge::simt::sparse::ready(handle); status != CUSPARSE_STATUS_SUCCESS) return status

// A factor in host memory.
inline double factor(const void* p, cudaDataType type) { return Numbers{const_cast<void*>(p), type}.get(0); }

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

inline cusparseStatus_t no_buffer(std::size_t* bytes) {
  if (bytes == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *bytes = 256;  // programs allocate it
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace ridge::simt::sparse
