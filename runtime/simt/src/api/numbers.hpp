// What cuBLAS's and cuSOLVER's calls of the host's libraries share: complex numbers, types as arguments, batches.
#pragma once
#include <complex>
#include <cstdint>
#include <type_traits>

#include "cuComplex.h"
#include "library_types.h"

namespace ridge::simt {

// cuComplex and std::complex are the same two numbers.
template <class T>
struct Number {
  using Type = T;
};
template <>
struct Number<cuComplex> {
  using Type = std::complex<float>;
};
template <>
struct Number<cuDoubleComplex> {
  using Type = std::complex<double>;
};
template <class T>
auto* as(T* p) {
  using Plain = typename Number<std::remove_const_t<T>>::Type;
  return reinterpret_cast<std::conditional_t<std::is_const_v<T>, const Plain*, Plain*>>(p);
}

// f(null of the type's C++ type), or `refused` for a type that is none of these four.
template <class Status, class F>
Status with_type(cudaDataType type, Status refused, F f) {
  switch (type) {
    case CUDA_R_32F:
      return f(static_cast<float*>(nullptr));
    case CUDA_R_64F:
      return f(static_cast<double*>(nullptr));
    case CUDA_C_32F:
      return f(static_cast<std::complex<float>*>(nullptr));
    case CUDA_C_64F:
      return f(static_cast<std::complex<double>*>(nullptr));
    default:
      return refused;
  }
}

// call(i) for each of a batch, until one does not return `good`.
template <class Index, class Status, class Call>
Status each_of(Index batch, Status good, Call call) {
  for (Index i = 0; i < batch; ++i)
    if (const Status status = call(i); status != good) return status;
  return good;
}

}  // namespace ridge::simt
