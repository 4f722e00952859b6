// cuBLAS on the CPU. Every operation checks its arguments at once and runs in the order of the handle's stream.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <vector>

#include "cublas_v2.h"
#include "ridge_simt/gemm_call.h"
#include "stream/device_log.hpp"

// There where the program was linked with -lcublas.
namespace ridge_simt {
__attribute__((weak)) bool launch_gemm(const GemmCall& call);
}

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  // Asked for; products here are the same with any.
  int multiprocessors = 0;
  cublasEmulationStrategy_t strategy = CUBLAS_EMULATION_STRATEGY_DEFAULT;
  cudaEmulationSpecialValuesSupport special_values = CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT;
  cudaEmulationMantissaControl mantissa = CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC;
  int mantissa_bits = 0, mantissa_offset = 0;
};

namespace {

// The one place where an operation meets its stream: it runs when all earlier work of the stream is done.
cublasStatus_t enqueue(cublasHandle_t handle, const std::function<void()>& work) {
  if (cudaStreamSynchronize(handle->stream) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  ridge::simt::Trace::unsupported("a call of cuBLAS: write the kernel yourself");
  work();
  return CUBLAS_STATUS_SUCCESS;
}

// A scalar: on the host it is read at the call, on the device when the operation runs.
template <class T>
std::function<T()> scalar(cublasHandle_t handle, const T* p) {
  if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE) return [p] { return *p; };
  return [value = *p] { return value; };
}

// A result on the host is there when the call returns.
template <class T>
cublasStatus_t deliver(cublasHandle_t handle, T* result, std::function<T()> work) {
  if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE) return enqueue(handle, [=] { *result = work(); });
  cublasStatus_t status = enqueue(handle, [&] { *result = work(); });
  if (cudaStreamSynchronize(handle->stream) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  return status;
}

struct Shape {
  cublasOperation_t transa, transb;
  int m, n, k;
};

bool known(cublasOperation_t op) { return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C; }

bool good_leading(const Shape& s, int lda, int ldb, int ldc) {
  return lda >= std::max(1, s.transa == CUBLAS_OP_N ? s.m : s.k) &&
         ldb >= std::max(1, s.transb == CUBLAS_OP_N ? s.k : s.n) && ldc >= std::max(1, s.m);
}

// One element of memory as an accumulator's type, and back.
template <class Acc, class T>
Acc widen(T v) {
  if constexpr (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>)
    return static_cast<Acc>(static_cast<float>(v));
  else
    return static_cast<Acc>(v);
}
template <class T, class Acc>
T narrow(Acc v) {
  if constexpr (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>)
    return T(static_cast<float>(v));
  else
    return static_cast<T>(v);
}

template <class T>
T conjugate(T v) {
  return v;
}
template <class T>
std::complex<T> conjugate(std::complex<T> v) {
  return std::conj(v);
}

// rows x cols of op(matrix), column-major, packed column by column.
template <class Acc, class T>
std::vector<Acc> pack(const T* p, std::int64_t ld, cublasOperation_t op, int rows, int cols) {
  const bool transposed = op != CUBLAS_OP_N;
  std::vector<Acc> out(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
  auto at = out.begin();
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) *at++ = widen<Acc>(transposed ? p[i * ld + j] : p[j * ld + i]);
  if (op == CUBLAS_OP_C)
    for (Acc& v : out) v = conjugate(v);
  return out;
}

// c = alpha op(a) op(b) + beta c, four columns at a time. With beta = 0, c is not read.
template <class Acc, class TA, class TC>
void gemm(const Shape& s, Acc alpha, const TA* a, int lda, const TA* b, int ldb, Acc beta, TC* c, int ldc) {
  const auto m = static_cast<std::size_t>(s.m), n = static_cast<std::size_t>(s.n), k = static_cast<std::size_t>(s.k);
  std::vector<Acc> pa, pb;
  if (alpha != Acc(0)) {
    pa = pack<Acc>(a, lda, s.transa, s.m, s.k);
    pb = pack<Acc>(b, ldb, s.transb, s.k, s.n);
  }
  std::vector<Acc> sums(4 * m);
  for (std::size_t j = 0; j < n; j += 4) {
    const std::size_t width = std::min<std::size_t>(4, n - j);
    std::fill(sums.begin(), sums.end(), Acc(0));
    if (alpha != Acc(0)) {
      for (std::size_t l = 0; l < k; ++l) {
        for (std::size_t w = 0; w < width; ++w) {
          const Acc factor = pb[(j + w) * k + l];
          const Acc* column = &pa[l * m];
          Acc* sum = &sums[w * m];
          for (std::size_t i = 0; i < m; ++i) sum[i] += column[i] * factor;
        }
      }
    }
    for (std::size_t w = 0; w < width; ++w) {
      TC* out = c + static_cast<std::size_t>(ldc) * (j + w);
      for (std::size_t i = 0; i < m; ++i) {
        const Acc product = alpha * sums[w * m + i];
        out[i] = narrow<TC>(beta == Acc(0) ? product : product + beta * widen<Acc>(out[i]));
      }
    }
  }
}

// Checks what all matrix products have in common.
cublasStatus_t check(cublasHandle_t handle, const Shape& s, const void* alpha, int lda, int ldb, const void* beta,
                     int ldc, int batch = 1) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!known(s.transa) || !known(s.transb) || s.m < 0 || s.n < 0 || s.k < 0 || batch < 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (alpha == nullptr || beta == nullptr || !good_leading(s, lda, ldb, ldc)) return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
constexpr cudaDataType kDataType = std::is_same_v<T, __half>          ? CUDA_R_16F
                                   : std::is_same_v<T, __nv_bfloat16> ? CUDA_R_16BF
                                                                      : CUDA_R_32F;

// Scale is alpha's and beta's type, Acc the accumulator.
template <class Acc, class Scale, class TA, class TC>
cublasStatus_t strided(cublasHandle_t handle, const Shape& s, const void* alpha, const void* a, int lda,
                       long long stride_a, const void* b, int ldb, long long stride_b, const void* beta, void* c,
                       int ldc, long long stride_c, int batch) {
  if (s.m == 0 || s.n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
  if (c == nullptr || (s.k > 0 && (a == nullptr || b == nullptr))) return CUBLAS_STATUS_INVALID_VALUE;
  if constexpr (std::is_same_v<Scale, float> && (std::is_same_v<TA, float> || sizeof(TA) == 2))
    if (ridge_simt::launch_gemm != nullptr && handle->pointers == CUBLAS_POINTER_MODE_HOST) {
      const ridge_simt::GemmCall call{s.transa != CUBLAS_OP_N,
                                      s.transb != CUBLAS_OP_N,
                                      s.m,
                                      s.n,
                                      s.k,
                                      *static_cast<const float*>(alpha),
                                      *static_cast<const float*>(beta),
                                      a,
                                      b,
                                      c,
                                      kDataType<TA>,
                                      kDataType<TC>,
                                      lda,
                                      ldb,
                                      ldc,
                                      stride_a,
                                      stride_b,
                                      stride_c,
                                      batch,
                                      handle->stream};
      if (ridge_simt::launch_gemm(call))
        return cudaPeekAtLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
    }
  auto x = scalar(handle, static_cast<const Scale*>(alpha)), y = scalar(handle, static_cast<const Scale*>(beta));
  return enqueue(handle, [=] {
    for (int i = 0; i < batch; ++i)
      gemm<Acc, TA, TC>(s, widen<Acc>(x()), static_cast<const TA*>(a) + i * stride_a, lda,
                        static_cast<const TA*>(b) + i * stride_b, ldb, widen<Acc>(y()),
                        static_cast<TC*>(c) + i * stride_c, ldc);
  });
}

template <class Acc, class T>
cublasStatus_t batched(cublasHandle_t handle, const Shape& s, const T* alpha, const T* const* a, int lda,
                       const T* const* b, int ldb, const T* beta, T* const* c, int ldc, int batch) {
  if (auto status = check(handle, s, alpha, lda, ldb, beta, ldc, batch); status != CUBLAS_STATUS_SUCCESS) return status;
  if (s.m == 0 || s.n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
  auto x = scalar(handle, alpha), y = scalar(handle, beta);
  return enqueue(handle, [=] {
    for (int i = 0; i < batch; ++i)
      gemm<Acc, T, T>(s, widen<Acc>(x()), a[i], lda, b[i], ldb, widen<Acc>(y()), c[i], ldc);
  });
}

// The start of a vector: with a negative increment it is walked from its end.
template <class T>
T* start(T* x, int n, int inc) {
  return inc < 0 ? x + static_cast<std::int64_t>(1 - n) * inc : x;
}
template <class T>
T& at(T* x, int i, int inc) {
  return x[static_cast<std::int64_t>(i) * inc];
}

template <class T>
cublasStatus_t gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T* alpha, const T* a, int lda,
                    const T* x, int incx, const T* beta, T* y, int incy) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!known(trans) || m < 0 || n < 0 || incx == 0 || incy == 0 || lda < std::max(1, m) || !alpha || !beta)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  auto scale = scalar(handle, alpha), keep = scalar(handle, beta);
  return enqueue(handle, [=] {
    const bool plain = trans == CUBLAS_OP_N;
    const int rows = plain ? m : n, cols = plain ? n : m;
    const T *from = start(x, cols, incx), factor = scale(), old = keep();
    T* to = start(y, rows, incy);
    for (int i = 0; i < rows; ++i) {
      double sum = 0;
      if (factor != 0)
        for (int j = 0; j < cols; ++j)
          sum += static_cast<double>(
                     a[plain ? i + static_cast<std::int64_t>(j) * lda : j + static_cast<std::int64_t>(i) * lda]) *
                 at(from, j, incx);
      T& out = at(to, i, incy);
      out = static_cast<T>(factor * sum + (old == 0 ? 0.0 : static_cast<double>(old) * out));
    }
  });
}

template <class T>
cublasStatus_t ger(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy,
                   T* a, int lda) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || incx == 0 || incy == 0 || lda < std::max(1, m) || !alpha) return CUBLAS_STATUS_INVALID_VALUE;
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  auto scale = scalar(handle, alpha);
  return enqueue(handle, [=] {
    const T *left = start(x, m, incx), *right = start(y, n, incy), factor = scale();
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i)
        a[i + static_cast<std::int64_t>(j) * lda] += factor * at(left, i, incx) * at(right, j, incy);
  });
}

template <class T>
cublasStatus_t geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                    const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!known(transa) || !known(transb) || m < 0 || n < 0 || !alpha || !beta || ldc < std::max(1, m) ||
      lda < std::max(1, transa == CUBLAS_OP_N ? m : n) || ldb < std::max(1, transb == CUBLAS_OP_N ? m : n))
    return CUBLAS_STATUS_INVALID_VALUE;
  // In place only without a transpose.
  if ((c == a && (transa != CUBLAS_OP_N || lda != ldc)) || (c == b && (transb != CUBLAS_OP_N || ldb != ldc)))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  auto x = scalar(handle, alpha), y = scalar(handle, beta);
  return enqueue(handle, [=] {
    auto element = [](const T* p, int ld, cublasOperation_t op, int i, int j) {
      return op == CUBLAS_OP_N ? p[i + static_cast<std::int64_t>(j) * ld] : p[j + static_cast<std::int64_t>(i) * ld];
    };
    const T fa = x(), fb = y();
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i)
        c[i + static_cast<std::int64_t>(j) * ldc] = (fa == 0 ? T(0) : fa * element(a, lda, transa, i, j)) +
                                                    (fb == 0 ? T(0) : fb * element(b, ldb, transb, i, j));
  });
}

cublasStatus_t vector_check(cublasHandle_t handle, const void* a, const void* b = "") {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  return a == nullptr || b == nullptr ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

#define RIDGE_CHECK(...) \
  if (auto status = vector_check(__VA_ARGS__); status != CUBLAS_STATUS_SUCCESS) return status

template <class T>
cublasStatus_t axpy(cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y, int incy) {
  RIDGE_CHECK(handle, alpha);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  auto scale = scalar(handle, alpha);
  return enqueue(handle, [=] {
    const T *from = start(x, n, incx), factor = scale();
    T* to = start(y, n, incy);
    for (int i = 0; i < n; ++i) at(to, i, incy) += factor * at(from, i, incx);
  });
}
template <class T>
cublasStatus_t scal(cublasHandle_t handle, int n, const T* alpha, T* x, int incx) {
  RIDGE_CHECK(handle, alpha);
  if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  auto scale = scalar(handle, alpha);
  return enqueue(handle, [=] {
    const T factor = scale();
    for (int i = 0; i < n; ++i) at(x, i, incx) *= factor;
  });
}
template <class T>
cublasStatus_t copy(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy, bool swap, T* mutable_x) {
  RIDGE_CHECK(handle, "");
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return enqueue(handle, [=] {
    for (int i = 0; i < n; ++i) {
      if (swap)
        std::swap(at(start(mutable_x, n, incx), i, incx), at(start(y, n, incy), i, incy));
      else
        at(start(y, n, incy), i, incy) = at(start(x, n, incx), i, incx);
    }
  });
}
template <class T>
cublasStatus_t dot(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy, T* result) {
  RIDGE_CHECK(handle, result);
  return deliver<T>(handle, result, [=] {
    double sum = 0;
    for (int i = 0; i < n; ++i)
      sum += widen<double>(at(start(x, n, incx), i, incx)) * widen<double>(at(start(y, n, incy), i, incy));
    return narrow<T>(sum);
  });
}
template <class T>
cublasStatus_t dot_of(cublasHandle_t handle, int n, const void* x, int incx, const void* y, int incy, void* result) {
  return dot(handle, n, static_cast<const T*>(x), incx, static_cast<const T*>(y), incy, static_cast<T*>(result));
}
template <class T>
cublasStatus_t length(cublasHandle_t handle, int n, const T* x, int incx, T* result, bool euclidean) {
  RIDGE_CHECK(handle, result);
  return deliver<T>(handle, result, [=] {
    double sum = 0;
    if (incx > 0)
      for (int i = 0; i < n; ++i) {
        const double v = at(x, i, incx);
        sum = !euclidean ? sum + std::fabs(v) : sizeof(T) == 4 ? sum + v * v : std::hypot(sum, v);
      }
    return static_cast<T>(euclidean && sizeof(T) == 4 ? std::sqrt(sum) : sum);
  });
}
// Counted from 1, as in Fortran; 0 for an empty vector.
template <class T>
cublasStatus_t extreme(cublasHandle_t handle, int n, const T* x, int incx, int* result, bool largest) {
  RIDGE_CHECK(handle, result);
  return deliver<int>(handle, result, [=] {
    int best = 0;
    if (incx > 0)
      for (int i = 0; i < n; ++i) {
        const T v = std::fabs(at(x, i, incx)), now = best == 0 ? T(0) : std::fabs(at(x, best - 1, incx));
        if (best == 0 || (largest ? v > now : v < now)) best = i + 1;
      }
    return best;
  });
}

cublasStatus_t move(int rows, int cols, int bytes, const void* a, int lda, void* b, int ldb) {
  if (rows < 0 || cols < 0 || bytes <= 0 || lda < std::max(1, rows) || ldb < std::max(1, rows))
    return CUBLAS_STATUS_INVALID_VALUE;
  for (int j = 0; j < cols; ++j) {
    const auto* from = static_cast<const char*>(a) + static_cast<std::int64_t>(j) * lda * bytes;
    auto* to = static_cast<char*>(b) + static_cast<std::int64_t>(j) * ldb * bytes;
    if (cudaMemcpy(to, from, static_cast<std::size_t>(rows) * static_cast<std::size_t>(bytes), cudaMemcpyDefault) !=
        cudaSuccess)
      return CUBLAS_STATUS_MAPPING_ERROR;
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new (std::nothrow) cublasContext;
  return *handle == nullptr ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  cudaStreamSynchronize(handle->stream);
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = 130000;
  return CUBLAS_STATUS_SUCCESS;
}
#define RIDGE_PROPERTY(Name, T, member)                             \
  cublasStatus_t cublasSet##Name(cublasHandle_t handle, T value) {  \
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;    \
    handle->member = value;                                         \
    return CUBLAS_STATUS_SUCCESS;                                   \
  }                                                                 \
  cublasStatus_t cublasGet##Name(cublasHandle_t handle, T* value) { \
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;    \
    if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;       \
    *value = handle->member;                                        \
    return CUBLAS_STATUS_SUCCESS;                                   \
  }
RIDGE_PROPERTY(Stream, cudaStream_t, stream)
RIDGE_PROPERTY(MathMode, cublasMath_t, math)
RIDGE_PROPERTY(SmCountTarget, int, multiprocessors)
RIDGE_PROPERTY(PointerMode, cublasPointerMode_t, pointers)
RIDGE_PROPERTY(EmulationStrategy, cublasEmulationStrategy_t, strategy)
RIDGE_PROPERTY(EmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport, special_values)
RIDGE_PROPERTY(FixedPointEmulationMantissaControl, cudaEmulationMantissaControl, mantissa)
RIDGE_PROPERTY(FixedPointEmulationMaxMantissaBitCount, int, mantissa_bits)
RIDGE_PROPERTY(FixedPointEmulationMantissaBitOffset, int, mantissa_offset)
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, size_t) {
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
#define RIDGE_NAME(s) \
  case s:             \
    return #s;
    RIDGE_NAME(CUBLAS_STATUS_SUCCESS)
    RIDGE_NAME(CUBLAS_STATUS_NOT_INITIALIZED)
    RIDGE_NAME(CUBLAS_STATUS_ALLOC_FAILED)
    RIDGE_NAME(CUBLAS_STATUS_INVALID_VALUE)
    RIDGE_NAME(CUBLAS_STATUS_ARCH_MISMATCH)
    RIDGE_NAME(CUBLAS_STATUS_MAPPING_ERROR)
    RIDGE_NAME(CUBLAS_STATUS_EXECUTION_FAILED)
    RIDGE_NAME(CUBLAS_STATUS_INTERNAL_ERROR)
    RIDGE_NAME(CUBLAS_STATUS_NOT_SUPPORTED)
    RIDGE_NAME(CUBLAS_STATUS_LICENSE_ERROR)
  }
  return "CUBLAS_STATUS_UNKNOWN";
}
const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the handle is null: call cublasCreate() first";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an unsupported value or parameter was passed to the function";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "earlier work of the stream failed";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "the functionality requested is not supported";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "a copy between host and device failed";
    default:
      return "an internal operation failed";
  }
}

cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void* a, int lda, void* b, int ldb) {
  return move(rows, cols, bytes, a, lda, b, ldb);
}
cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void* a, int lda, void* b, int ldb) {
  return move(rows, cols, bytes, a, lda, b, ldb);
}
// Vectors are matrices of one row.
cublasStatus_t cublasSetVector(int n, int bytes, const void* x, int incx, void* y, int incy) {
  if (incx == 1 && incy == 1) return move(n, 1, bytes, x, std::max(1, n), y, std::max(1, n));
  return incx <= 0 || incy <= 0 ? CUBLAS_STATUS_INVALID_VALUE : move(1, n, bytes, x, incx, y, incy);
}
cublasStatus_t cublasGetVector(int n, int bytes, const void* x, int incx, void* y, int incy) {
  return cublasSetVector(n, bytes, x, incx, y, incy);
}

#define RIDGE_GEMMS(L, T, Acc)                                                                                         \
  cublasStatus_t cublas##L##gemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n,      \
                                 int k, const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, \
                                 int ldc) {                                                                            \
    return cublas##L##gemmStridedBatched(handle, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);    \
  }                                                                                                                    \
  cublasStatus_t cublas##L##gemmStridedBatched(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,      \
                                               int m, int n, int k, const T* alpha, const T* a, int lda, long long sa, \
                                               const T* b, int ldb, long long sb, const T* beta, T* c, int ldc,        \
                                               long long sc, int batch) {                                              \
    const Shape s{ta, tb, m, n, k};                                                                                    \
    if (auto status = check(handle, s, alpha, lda, ldb, beta, ldc, batch); status != CUBLAS_STATUS_SUCCESS)            \
      return status;                                                                                                   \
    return strided<Acc, T, T, T>(handle, s, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch);                   \
  }                                                                                                                    \
  cublasStatus_t cublas##L##gemmBatched(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,      \
                                        int n, int k, const T* alpha, const T* const a[], int lda, const T* const b[], \
                                        int ldb, const T* beta, T* const c[], int ldc, int batch) {                    \
    return batched<Acc, T>(handle, {ta, tb, m, n, k}, alpha, a, lda, b, ldb, beta, c, ldc, batch);                     \
  }
RIDGE_GEMMS(S, float, float)
RIDGE_GEMMS(D, double, double)
RIDGE_GEMMS(H, __half, float)

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,
                                          int n, int k, const void* alpha, const void* a, cudaDataType atype, int lda,
                                          long long sa, const void* b, cudaDataType btype, int ldb, long long sb,
                                          const void* beta, void* c, cudaDataType ctype, int ldc, long long sc,
                                          int batch, cublasComputeType_t compute, cublasGemmAlgo_t) {
  const Shape s{ta, tb, m, n, k};
  if (auto status = check(handle, s, alpha, lda, ldb, beta, ldc, batch); status != CUBLAS_STATUS_SUCCESS) return status;
#define RIDGE_CASE(A, TA, C, TC, Acc, Scale)  \
  if (atype == A && btype == A && ctype == C) \
  return strided<Acc, Scale, TA, TC>(handle, s, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch)
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      RIDGE_CASE(CUDA_R_16F, __half, CUDA_R_16F, __half, float, __half);
      break;
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
      RIDGE_CASE(CUDA_R_32F, float, CUDA_R_32F, float, float, float);
      RIDGE_CASE(CUDA_C_32F, std::complex<float>, CUDA_C_32F, std::complex<float>, std::complex<float>,
                 std::complex<float>);
      break;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      RIDGE_CASE(CUDA_R_16F, __half, CUDA_R_16F, __half, float, float);
      RIDGE_CASE(CUDA_R_16F, __half, CUDA_R_32F, float, float, float);
      RIDGE_CASE(CUDA_R_16BF, __nv_bfloat16, CUDA_R_16BF, __nv_bfloat16, float, float);
      RIDGE_CASE(CUDA_R_16BF, __nv_bfloat16, CUDA_R_32F, float, float, float);
      RIDGE_CASE(CUDA_R_8I, signed char, CUDA_R_32F, float, float, float);
      RIDGE_CASE(CUDA_R_32F, float, CUDA_R_32F, float, float, float);
      RIDGE_CASE(CUDA_C_32F, std::complex<float>, CUDA_C_32F, std::complex<float>, std::complex<float>,
                 std::complex<float>);
      break;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      RIDGE_CASE(CUDA_R_64F, double, CUDA_R_64F, double, double, double);
      RIDGE_CASE(CUDA_C_64F, std::complex<double>, CUDA_C_64F, std::complex<double>, std::complex<double>,
                 std::complex<double>);
      break;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      // As cuBLAS asks: rows of int8 start at multiples of 4 bytes.
      if (lda % 4 != 0 || ldb % 4 != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
      RIDGE_CASE(CUDA_R_8I, signed char, CUDA_R_32I, int, int, int);
      break;
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType atype, int lda, const void* b,
                            cudaDataType btype, int ldb, const void* beta, void* c, cudaDataType ctype, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, ta, tb, m, n, k, alpha, a, atype, lda, 0, b, btype, ldb, 0, beta, c, ctype,
                                    ldc, 0, 1, compute, algorithm);
}
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                             const float* alpha, const void* a, cudaDataType atype, int lda, const void* b,
                             cudaDataType btype, int ldb, const float* beta, void* c, cudaDataType ctype, int ldc) {
  return cublasGemmEx(handle, ta, tb, m, n, k, alpha, a, atype, lda, b, btype, ldb, beta, c, ctype, ldc,
                      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const float* alpha,
                           const float* a, int lda, const float* x, int incx, const float* beta, float* y, int incy) {
  return gemv(handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
cublasStatus_t cublasSger(cublasHandle_t handle, int m, int n, const float* alpha, const float* x, int incx,
                          const float* y, int incy, float* a, int lda) {
  return ger(handle, m, n, alpha, x, incx, y, incy, a, lda);
}
cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                           const float* alpha, const float* a, int lda, const float* beta, const float* b, int ldb,
                           float* c, int ldc) {
  return geam(handle, ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc);
}
cublasStatus_t cublasSaxpy(cublasHandle_t handle, int n, const float* alpha, const float* x, int incx, float* y,
                           int incy) {
  return axpy(handle, n, alpha, x, incx, y, incy);
}
cublasStatus_t cublasSscal(cublasHandle_t handle, int n, const float* alpha, float* x, int incx) {
  return scal(handle, n, alpha, x, incx);
}
cublasStatus_t cublasScopy(cublasHandle_t handle, int n, const float* x, int incx, float* y, int incy) {
  return copy<float>(handle, n, x, incx, y, incy, false, nullptr);
}
cublasStatus_t cublasSswap(cublasHandle_t handle, int n, float* x, int incx, float* y, int incy) {
  return copy<float>(handle, n, x, incx, y, incy, true, x);
}
cublasStatus_t cublasSdot(cublasHandle_t handle, int n, const float* x, int incx, const float* y, int incy,
                          float* result) {
  return dot(handle, n, x, incx, y, incy, result);
}
cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void* x, cudaDataType x_type, int incx, const void* y,
                           cudaDataType y_type, int incy, void* result, cudaDataType result_type, cudaDataType) {
  if (x_type != y_type || x_type != result_type) return CUBLAS_STATUS_NOT_SUPPORTED;
  switch (x_type) {
    case CUDA_R_16F:
      return dot_of<__half>(handle, n, x, incx, y, incy, result);
    case CUDA_R_16BF:
      return dot_of<__nv_bfloat16>(handle, n, x, incx, y, incy, result);
    case CUDA_R_32F:
      return dot_of<float>(handle, n, x, incx, y, incy, result);
    case CUDA_R_64F:
      return dot_of<double>(handle, n, x, incx, y, incy, result);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}
cublasStatus_t cublasSnrm2(cublasHandle_t handle, int n, const float* x, int incx, float* result) {
  return length(handle, n, x, incx, result, true);
}
cublasStatus_t cublasSasum(cublasHandle_t handle, int n, const float* x, int incx, float* result) {
  return length(handle, n, x, incx, result, false);
}
cublasStatus_t cublasIsamax(cublasHandle_t handle, int n, const float* x, int incx, int* result) {
  return extreme(handle, n, x, incx, result, true);
}
cublasStatus_t cublasIsamin(cublasHandle_t handle, int n, const float* x, int incx, int* result) {
  return extreme(handle, n, x, incx, result, false);
}

cublasStatus_t cublasDgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const double* alpha,
                           const double* a, int lda, const double* x, int incx, const double* beta, double* y,
                           int incy) {
  return gemv(handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
cublasStatus_t cublasDger(cublasHandle_t handle, int m, int n, const double* alpha, const double* x, int incx,
                          const double* y, int incy, double* a, int lda) {
  return ger(handle, m, n, alpha, x, incx, y, incy, a, lda);
}
cublasStatus_t cublasDgeam(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                           const double* alpha, const double* a, int lda, const double* beta, const double* b, int ldb,
                           double* c, int ldc) {
  return geam(handle, ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc);
}
cublasStatus_t cublasDaxpy(cublasHandle_t handle, int n, const double* alpha, const double* x, int incx, double* y,
                           int incy) {
  return axpy(handle, n, alpha, x, incx, y, incy);
}
cublasStatus_t cublasDscal(cublasHandle_t handle, int n, const double* alpha, double* x, int incx) {
  return scal(handle, n, alpha, x, incx);
}
cublasStatus_t cublasDcopy(cublasHandle_t handle, int n, const double* x, int incx, double* y, int incy) {
  return copy<double>(handle, n, x, incx, y, incy, false, nullptr);
}
cublasStatus_t cublasDswap(cublasHandle_t handle, int n, double* x, int incx, double* y, int incy) {
  return copy<double>(handle, n, x, incx, y, incy, true, x);
}
cublasStatus_t cublasDdot(cublasHandle_t handle, int n, const double* x, int incx, const double* y, int incy,
                          double* result) {
  return dot(handle, n, x, incx, y, incy, result);
}
cublasStatus_t cublasDnrm2(cublasHandle_t handle, int n, const double* x, int incx, double* result) {
  return length(handle, n, x, incx, result, true);
}
cublasStatus_t cublasDasum(cublasHandle_t handle, int n, const double* x, int incx, double* result) {
  return length(handle, n, x, incx, result, false);
}
cublasStatus_t cublasIdamax(cublasHandle_t handle, int n, const double* x, int incx, int* result) {
  return extreme(handle, n, x, incx, result, true);
}
cublasStatus_t cublasIdamin(cublasHandle_t handle, int n, const double* x, int incx, int* result) {
  return extreme(handle, n, x, incx, result, false);
}

}  // extern "C"
