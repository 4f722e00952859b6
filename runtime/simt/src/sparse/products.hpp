// What products and systems have in common: which operands fit together, and work that a captured stream puts into its
// graph.
#pragma once
#include <cstdio>
#include <initializer_list>
#include <utility>

#include "sparse/descriptors.hpp"

namespace ridge::simt::sparse {

inline cusparseStatus_t refused(const char* what) {
  std::fprintf(stderr, "ridge: refused: cuSPARSE: %s\n", what);
  return CUSPARSE_STATUS_NOT_SUPPORTED;
}

// The combinations of real types that cuSPARSE documents for products: of one type, A of float in double, 16 bits
// computed in float.
inline bool types_fit(cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType compute) {
  if (compute == CUDA_R_64F) return b == compute && c == compute && (a == compute || a == CUDA_R_32F);
  if (compute == CUDA_R_16F) return a == compute && b == compute && c == compute;
  return compute == CUDA_R_32F && a == b && a != CUDA_R_64F && (c == a || c == compute);
}

inline bool among(cusparseFormat_t format, std::initializer_list<cusparseFormat_t> all) {
  for (const cusparseFormat_t f : all)
    if (f == format) return true;
  return false;
}

// A factor: in host memory its value when the call is made, in the device's the value when the work runs.
class Factor {
 public:
  Factor(cusparseHandle_t handle, const void* at, cudaDataType type) : at_(at), type_(type) {
    if (handle->pointers == CUSPARSE_POINTER_MODE_HOST) value_ = factor(at, type), at_ = nullptr;
  }
  double value() const { return at_ == nullptr ? value_ : factor(at_, type_); }

 private:
  const void* at_;
  cudaDataType type_;
  double value_ = 0;
};

// alpha sum + beta old, where with a beta of 0 the old value may be anything, NaN too.
struct Factors {
  Factor alpha, beta;
  template <class Old>
  double operator()(double sum, Old old) const {
    const double b = beta.value();
    return alpha.value() * sum + (b == 0 ? 0 : b * old());
  }
};

// Runs `work` once the handle's stream has ended. While the stream is captured, its graph takes the work and keeps it.
template <class F>
cusparseStatus_t perform(cusparseHandle_t handle, F work) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (handle->stream != nullptr) cudaStreamIsCapturing(handle->stream, &capture);
  if (capture == cudaStreamCaptureStatusActive) {
    const auto run = [](void* kept) { (*static_cast<F*>(kept))(); };
    return cudaLaunchHostFunc(handle->stream, run, new F(std::move(work))) == cudaSuccess
               ? CUSPARSE_STATUS_SUCCESS
               : CUSPARSE_STATUS_EXECUTION_FAILED;
  }
  RIDGE_READY(handle);
  work();
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace ridge::simt::sparse
