// cuBLASLt on the CPU: one plain product with its epilogue. Waits for the stream, as the other products do
// (cublas.cpp).
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "cublasLt.h"
#include "cuda_fp8.h"
#include "stream/device_log.hpp"

struct cublasLtContext {};

namespace {

// The contents of the opaque structures.
struct Product {
  std::int32_t compute, scale, pointers, transposed_a, transposed_b, transposed_c, fill, epilogue;
  const void* bias;
  void* aux;
  std::int64_t bias_stride, aux_ld, aux_stride;
  const float *scale_a, *scale_b, *scale_c, *scale_d;  // of FP8 matrices, in device memory; null: 1
  float* largest;                                      // of |D| before its scale
  std::int8_t fast;
};
struct Layout {
  std::uint32_t type, order;
  std::uint64_t rows, cols;
  std::int64_t ld;
  std::int32_t batch;
  std::int64_t stride;
};
static_assert(sizeof(Product) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));

Product& product(cublasLtMatmulDesc_t d) { return *reinterpret_cast<Product*>(d); }
Layout& layout(cublasLtMatrixLayout_t l) { return *reinterpret_cast<Layout*>(l); }

template <class T>
cublasStatus_t take(T& to, const void* value, std::size_t bytes) {
  if (value == nullptr || bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, value, sizeof(T));
  return CUBLAS_STATUS_SUCCESS;
}

bool is_fp8(std::uint32_t type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }
bool known(std::uint32_t type) {
  return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_8I ||
         type == CUDA_R_32I || is_fp8(type);
}
double read(const void* p, std::int64_t i, std::uint32_t type) {
  switch (type) {
    case CUDA_R_64F:
      return static_cast<const double*>(p)[i];
    case CUDA_R_16F:
      return static_cast<double>(__half2float(static_cast<const __half*>(p)[i]));
    case CUDA_R_16BF:
      return static_cast<double>(__bfloat162float(static_cast<const __nv_bfloat16*>(p)[i]));
    case CUDA_R_8F_E4M3:
      return static_cast<double>(static_cast<float>(static_cast<const __nv_fp8_e4m3*>(p)[i]));
    case CUDA_R_8F_E5M2:
      return static_cast<double>(static_cast<float>(static_cast<const __nv_fp8_e5m2*>(p)[i]));
    case CUDA_R_8I:
      return static_cast<const signed char*>(p)[i];
    case CUDA_R_32I:
      return static_cast<const int*>(p)[i];
    default:
      return static_cast<double>(static_cast<const float*>(p)[i]);
  }
}
void write(void* p, std::int64_t i, std::uint32_t type, double v) {
  switch (type) {
    case CUDA_R_64F:
      static_cast<double*>(p)[i] = v;
      break;
    case CUDA_R_16F:
      static_cast<__half*>(p)[i] = __float2half(static_cast<float>(v));
      break;
    case CUDA_R_16BF:
      static_cast<__nv_bfloat16*>(p)[i] = __float2bfloat16(static_cast<float>(v));
      break;
    case CUDA_R_8F_E4M3:
      static_cast<__nv_fp8_e4m3*>(p)[i] = __nv_fp8_e4m3(static_cast<float>(v));
      break;
    case CUDA_R_8F_E5M2:
      static_cast<__nv_fp8_e5m2*>(p)[i] = __nv_fp8_e5m2(static_cast<float>(v));
      break;
    case CUDA_R_8I:  // of scaled products, rounded, and at the ends of its range
      static_cast<signed char*>(p)[i] = static_cast<signed char>(std::fmin(std::fmax(std::nearbyint(v), -128), 127));
      break;
    case CUDA_R_32I:
      static_cast<int*>(p)[i] = static_cast<int>(static_cast<std::int64_t>(v));
      break;
    default:
      static_cast<float*>(p)[i] = static_cast<float>(v);
  }
}

// The place of element (i, j) of op(X).
std::int64_t at(const Layout& l, bool transposed, std::int64_t i, std::int64_t j, int batch) {
  if (transposed) std::swap(i, j);
  return (l.order == CUBLASLT_ORDER_ROW ? i * l.ld + j : j * l.ld + i) + batch * l.stride;
}

// op(X) as numbers of the accumulator's width, with the elements of a sum side by side.
template <class T>
std::vector<T> packed(const void* p, const Layout& l, bool transposed, std::int64_t outer, std::int64_t inner,
                      bool by_rows, int batch) {
  std::vector<T> all(static_cast<std::size_t>(outer * inner));
  for (std::int64_t i = 0; i < outer; ++i)
    for (std::int64_t k = 0; k < inner; ++k)
      all[static_cast<std::size_t>(i * inner + k)] =
          static_cast<T>(read(p, by_rows ? at(l, transposed, i, k, batch) : at(l, transposed, k, i, batch), l.type));
  return all;
}

template <class T>
double dot(const T* a, const T* b, std::int64_t n) {
  T sum = 0;
  for (std::int64_t k = 0; k < n; ++k)
    sum = static_cast<T>(static_cast<double>(sum) + static_cast<double>(a[k]) * static_cast<double>(b[k]));
  return static_cast<double>(sum);
}

double gelu(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }

bool fits(const Layout& l) {
  const std::uint64_t least = l.order == CUBLASLT_ORDER_ROW ? l.cols : l.rows;
  return known(l.type) && l.order <= CUBLASLT_ORDER_ROW && l.ld >= 0 && static_cast<std::uint64_t>(l.ld) >= least;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasLtGetStatusName(cublasStatus_t status) { return cublasGetStatusName(status); }
const char* cublasLtGetStatusString(cublasStatus_t status) { return cublasGetStatusString(status); }
size_t cublasLtGetVersion(void) { return 130000; }

cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t desc, cublasComputeType_t compute, cudaDataType_t scale) {
  if (desc == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *desc = {};
  product(desc).compute = compute;
  product(desc).scale = static_cast<std::int32_t>(scale);
  product(desc).epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
  if (desc == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *desc = new cublasLtMatmulDescOpaque_t{};
  return cublasLtMatmulDescInit(*desc, compute, scale);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  delete desc;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  if (desc == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  Product& p = product(desc);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return take(p.compute, value, bytes);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return take(p.scale, value, bytes);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return take(p.pointers, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return take(p.transposed_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return take(p.transposed_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return take(p.epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return take(p.bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
      return take(p.bias_stride, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return take(p.aux, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return take(p.aux_ld, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
      return take(p.aux_stride, value, bytes);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
      return take(p.scale_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
      return take(p.scale_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER:
      return take(p.scale_c, value, bytes);
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER:
      return take(p.scale_d, value, bytes);
    case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER:
      return take(p.largest, value, bytes);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
      return take(p.fast, value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t made, cudaDataType type, uint64_t rows, uint64_t cols,
                                        int64_t ld) {
  if (made == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *made = {};
  layout(made) = {static_cast<std::uint32_t>(type), CUBLASLT_ORDER_COL, rows, cols, ld, 1, 0};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type, uint64_t rows, uint64_t cols,
                                          int64_t ld) {
  if (made == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *made = new cublasLtMatrixLayoutOpaque_t{};
  return cublasLtMatrixLayoutInit(*made, type, rows, cols, ld);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t made, cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t bytes) {
  if (made == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  Layout& l = layout(made);
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return take(l.type, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return take(l.order, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return take(l.rows, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return take(l.cols, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return take(l.ld, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return take(l.batch, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return take(l.stride, value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference) {
  if (preference == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *preference = {};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  if (preference == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *preference = new cublasLtMatmulPreferenceOpaque_t{};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t, const void* value, size_t) {
  return preference == nullptr || value == nullptr ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!desc || !a || !b || !c || !d || !results || !found || wanted < 1) return CUBLAS_STATUS_INVALID_VALUE;
  *found = fits(layout(a)) && fits(layout(b)) && fits(layout(c)) && fits(layout(d)) ? 1 : 0;
  if (*found == 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  results[0] = {};
  results[0].wavesCount = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t*, void*, size_t,
                              cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!desc || !alpha || !beta || !a || !b || !d || !a_layout || !b_layout || !c_layout || !d_layout)
    return CUBLAS_STATUS_INVALID_VALUE;
  const Product& p = product(desc);
  const Layout &la = layout(a_layout), &lb = layout(b_layout), &lc = layout(c_layout), &ld = layout(d_layout);
  const bool ta = p.transposed_a != CUBLAS_OP_N, tb = p.transposed_b != CUBLAS_OP_N;
  const std::uint64_t m = ta ? la.cols : la.rows, k = ta ? la.rows : la.cols, n = tb ? lb.rows : lb.cols;
  if (!fits(la) || !fits(lb) || !fits(lc) || !fits(ld) || p.pointers > CUBLASLT_POINTER_MODE_DEVICE ||
      !known(static_cast<std::uint32_t>(p.scale)))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool whole = p.compute == CUBLAS_COMPUTE_32I || p.compute == CUBLAS_COMPUTE_32I_PEDANTIC;
  if ((la.type == CUDA_R_8I) != whole || (lb.type == CUDA_R_8I) != whole) return CUBLAS_STATUS_NOT_SUPPORTED;
  if ((tb ? lb.cols : lb.rows) != k || ld.rows != m || ld.cols != n || lc.rows != m || lc.cols != n)
    return CUBLAS_STATUS_INVALID_VALUE;
  const bool bias = (p.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0, aux = (p.epilogue & 128) != 0;
  const int rest = p.epilogue & ~(CUBLASLT_EPILOGUE_BIAS | 128 | CUBLASLT_EPILOGUE_DEFAULT);
  const bool is_gelu = rest == CUBLASLT_EPILOGUE_GELU, is_relu = rest == CUBLASLT_EPILOGUE_RELU;
  if ((rest != 0 && !is_gelu && !is_relu) || (aux && !is_gelu)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if ((bias && p.bias == nullptr) || (aux && p.aux == nullptr)) return CUBLAS_STATUS_INVALID_VALUE;

  if (cudaStreamSynchronize(stream) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  ridge::simt::Trace::unsupported("a call of cuBLASLt: write the kernel yourself");
  const auto scale = static_cast<std::uint32_t>(p.scale);
  const double factor = read(alpha, 0, scale), keep = read(beta, 0, scale);
  if (keep != 0 && c == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  // Sums of int8's products are exact in double.
  const bool wide = whole || p.compute == CUBLAS_COMPUTE_64F || p.compute == CUBLAS_COMPUTE_64F_PEDANTIC;
  const auto rows = static_cast<std::int64_t>(m), cols = static_cast<std::int64_t>(n),
             depth = static_cast<std::int64_t>(k);
  const auto of = [](const float* s) { return s == nullptr ? 1.0 : static_cast<double>(*s); };
  const double by = factor * of(p.scale_a) * of(p.scale_b), old = keep * of(p.scale_c);
  const std::uint32_t bias_type = is_fp8(ld.type) ? static_cast<std::uint32_t>(CUDA_R_16BF) : ld.type;
  double largest = 0;
  for (int z = 0; z < ld.batch; ++z) {
    std::vector<float> a32, b32;
    std::vector<double> a64, b64;
    if (wide)
      a64 = packed<double>(a, la, ta, rows, depth, true, z), b64 = packed<double>(b, lb, tb, cols, depth, false, z);
    else
      a32 = packed<float>(a, la, ta, rows, depth, true, z), b32 = packed<float>(b, lb, tb, cols, depth, false, z);
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t i = 0; i < rows; ++i) {
        const double sum = wide ? dot(a64.data() + i * depth, b64.data() + j * depth, depth)
                                : dot(a32.data() + i * depth, b32.data() + j * depth, depth);
        double v = by * sum;
        if (keep != 0) v += old * read(c, at(lc, false, i, j, z), lc.type);
        if (bias) v += read(p.bias, i + z * p.bias_stride, bias_type);
        if (aux) write(p.aux, j * p.aux_ld + i + z * p.aux_stride, ld.type, v);
        if (is_relu) v = v > 0 ? v : 0;
        if (is_gelu) v = gelu(v);
        largest = std::fmax(largest, std::fabs(v));
        write(d, at(ld, false, i, j, z), ld.type, v * of(p.scale_d));
      }
  }
  if (p.largest != nullptr) *p.largest = static_cast<float>(largest);
  return CUBLAS_STATUS_SUCCESS;
}
}
