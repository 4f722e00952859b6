// CUB's device-wide algorithms: computed on the host in the order of the stream, as cuBLAS is without -lcublas, and not counted.
// The first call, without temporary storage, asks how much is needed.
#pragma once
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda_runtime.h"
#include "tree_reduce.h"

extern "C" void __ridge_host_algorithm(int step);  // no function that a submission may call

namespace cub {

namespace ridge_detail {
// True: only the size was asked for, or the stream has failed (`error`).
inline bool asked(void* temp, ::std::size_t& bytes, cudaStream_t stream, cudaError_t& error) {
  error = cudaSuccess;
  if (temp == nullptr) {
    bytes = 256;
    return true;
  }
  if (bytes < 256) error = cudaErrorInvalidValue;
  else error = cudaStreamSynchronize(stream);
  return error != cudaSuccess;
}

// While one lives, this thread's host code may follow pointers to device memory.
struct HostAlgorithm {
  HostAlgorithm() { __ridge_host_algorithm(1); }
  ~HostAlgorithm() { __ridge_host_algorithm(-1); }
  HostAlgorithm(const HostAlgorithm&) = delete;
};

// A judge counts kernels, and lets no host code look at device memory.
#ifdef RIDGE_JUDGED
template <class T>
inline constexpr bool kHere = false;
#else
template <class T>
inline constexpr bool kHere = true;
#endif
}  // namespace ridge_detail

#define RIDGE_ASKED(T)                                                                                              \
  static_assert(ridge_detail::kHere<T>,                                                                             \
                "CUB's device-wide algorithms are computed on the host by the emulator: in a lab, write the kernel"); \
  cudaError_t error;                                                                                                \
  if (ridge_detail::asked(temp, bytes, stream, error)) return error;                                                 \
  const ridge_detail::HostAlgorithm on_host

struct DeviceReduce {
  template <class In, class Out, class Op, class T>
  static cudaError_t Reduce(void* temp, ::std::size_t& bytes, In in, Out out, int n, Op op, T initial,
                            cudaStream_t stream = nullptr) {
    RIDGE_ASKED(In);
    *out = n <= 0 ? initial : op(initial, ::ridge_simt::tree_reduce<T>(in, static_cast<::std::size_t>(n), op));
    return cudaSuccess;
  }
  template <class In, class Out>
  static cudaError_t Sum(void* temp, ::std::size_t& bytes, In in, Out out, int n, cudaStream_t stream = nullptr) {
    // Sums of two of the output's type and the input's, as CUB's: a count of flags is not a bool.
    using Item = typename ::std::iterator_traits<In>::value_type;
    using Result = typename ::std::iterator_traits<Out>::value_type;
    using Initial = ::std::conditional_t<::std::is_void_v<Result>, Item, Result>;
    using T = ::std::decay_t<decltype(::std::declval<Initial>() + ::std::declval<Item>())>;
    RIDGE_ASKED(In);
    auto plus = [](const T& a, const T& b) { return a + b; };
    *out = n <= 0 ? T() : ::ridge_simt::tree_reduce<T>(in, static_cast<::std::size_t>(n), plus);
    return cudaSuccess;
  }
  template <class In, class Out>
  static cudaError_t Max(void* temp, ::std::size_t& bytes, In in, Out out, int n, cudaStream_t stream = nullptr) {
    RIDGE_ASKED(In);
    if (n > 0) *out = *::std::max_element(in, in + n);
    return cudaSuccess;
  }
  template <class In, class Out>
  static cudaError_t Min(void* temp, ::std::size_t& bytes, In in, Out out, int n, cudaStream_t stream = nullptr) {
    RIDGE_ASKED(In);
    if (n > 0) *out = *::std::min_element(in, in + n);
    return cudaSuccess;
  }
};

struct DeviceScan {
  template <class In, class Out, class Op, class T>
  static cudaError_t ExclusiveScan(void* temp, ::std::size_t& bytes, In in, Out out, Op op, T initial, int n,
                                   cudaStream_t stream = nullptr) {
    RIDGE_ASKED(In);
    T sum = initial;
    for (int i = 0; i < n; ++i) {
      const auto v = in[i];
      out[i] = sum;
      sum = op(sum, v);
    }
    return cudaSuccess;
  }
  template <class In, class Out, class Op>
  static cudaError_t InclusiveScan(void* temp, ::std::size_t& bytes, In in, Out out, Op op, int n,
                                   cudaStream_t stream = nullptr) {
    RIDGE_ASKED(In);
    ::std::partial_sum(in, in + n, out, op);
    return cudaSuccess;
  }
  template <class In, class Out>
  static cudaError_t ExclusiveSum(void* temp, ::std::size_t& bytes, In in, Out out, int n,
                                  cudaStream_t stream = nullptr) {
    using T = typename ::std::iterator_traits<In>::value_type;
    return ExclusiveScan(temp, bytes, in, out, [](T a, T b) { return T(a + b); }, T(), n, stream);
  }
  template <class In, class Out>
  static cudaError_t InclusiveSum(void* temp, ::std::size_t& bytes, In in, Out out, int n,
                                  cudaStream_t stream = nullptr) {
    using T = typename ::std::iterator_traits<In>::value_type;
    return InclusiveScan(temp, bytes, in, out, [](T a, T b) { return T(a + b); }, n, stream);
  }
};

struct DeviceRadixSort {
  template <class K>
  static cudaError_t SortKeys(void* temp, ::std::size_t& bytes, const K* in, K* out, int n, int begin_bit = 0,
                              int end_bit = sizeof(K) * 8, cudaStream_t stream = nullptr) {
    return sort<K, char>(temp, bytes, in, out, nullptr, nullptr, n, begin_bit, end_bit, stream, false);
  }
  template <class K>
  static cudaError_t SortKeysDescending(void* temp, ::std::size_t& bytes, const K* in, K* out, int n,
                                        int begin_bit = 0, int end_bit = sizeof(K) * 8, cudaStream_t stream = nullptr) {
    return sort<K, char>(temp, bytes, in, out, nullptr, nullptr, n, begin_bit, end_bit, stream, true);
  }
  template <class K, class V>
  static cudaError_t SortPairs(void* temp, ::std::size_t& bytes, const K* in, K* out, const V* values_in, V* values_out,
                               int n, int begin_bit = 0, int end_bit = sizeof(K) * 8, cudaStream_t stream = nullptr) {
    return sort(temp, bytes, in, out, values_in, values_out, n, begin_bit, end_bit, stream, false);
  }
  template <class K, class V>
  static cudaError_t SortPairsDescending(void* temp, ::std::size_t& bytes, const K* in, K* out, const V* values_in,
                                         V* values_out, int n, int begin_bit = 0, int end_bit = sizeof(K) * 8,
                                         cudaStream_t stream = nullptr) {
    return sort(temp, bytes, in, out, values_in, values_out, n, begin_bit, end_bit, stream, true);
  }

 private:
  template <class K, class V>
  static cudaError_t sort(void* temp, ::std::size_t& bytes, const K* in, K* out, const V* values_in, V* values_out,
                          int n, int begin_bit, int end_bit, cudaStream_t stream, bool down) {
    RIDGE_ASKED(K);
    if (begin_bit != 0 || end_bit != (int)sizeof(K) * 8) return cudaErrorNotSupported;
    ::std::vector<int> order(n);
    ::std::iota(order.begin(), order.end(), 0);
    ::std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return down ? in[b] < in[a] : in[a] < in[b]; });
    for (int i = 0; i < n; ++i) {
      out[i] = in[order[i]];
      if (values_in != nullptr) values_out[i] = values_in[order[i]];
    }
    return cudaSuccess;
  }
};

struct DeviceSelect {
  template <class In, class Flags, class Out, class Count>
  static cudaError_t Flagged(void* temp, ::std::size_t& bytes, In in, Flags flags, Out out, Count count, int n,
                             cudaStream_t stream = nullptr) {
    RIDGE_ASKED(In);
    int kept = 0;
    for (int i = 0; i < n; ++i)
      if (flags[i]) out[kept++] = in[i];
    *count = kept;
    return cudaSuccess;
  }
  template <class In, class Out, class Count, class Keep>
  static cudaError_t If(void* temp, ::std::size_t& bytes, In in, Out out, Count count, int n, Keep keep,
                        cudaStream_t stream = nullptr) {
    RIDGE_ASKED(In);
    int kept = 0;
    for (int i = 0; i < n; ++i)
      if (keep(in[i])) out[kept++] = in[i];
    *count = kept;
    return cudaSuccess;
  }
  // The first of each run of equal items.
  template <class In, class Out, class Count>
  static cudaError_t Unique(void* temp, ::std::size_t& bytes, In in, Out out, Count count, int n,
                            cudaStream_t stream = nullptr) {
    RIDGE_ASKED(In);
    int kept = 0;
    for (int i = 0; i < n; ++i)
      if (i == 0 || !(in[i] == in[i - 1])) out[kept++] = in[i];
    *count = kept;
    return cudaSuccess;
  }
};

struct DeviceRunLengthEncode {
  // The first of each run of equal items, and the run's length.
  template <class In, class Unique, class Lengths, class Count>
  static cudaError_t Encode(void* temp, ::std::size_t& bytes, In in, Unique unique, Lengths lengths, Count count, int n,
                            cudaStream_t stream = nullptr) {
    RIDGE_ASKED(In);
    int runs = 0;
    for (int begin = 0, i = 1; i <= n; ++i) {
      if (i < n && in[i] == in[begin]) continue;
      unique[runs] = in[begin];
      lengths[runs++] = i - begin;
      begin = i;
    }
    *count = runs;
    return cudaSuccess;
  }
  // Writes the start and the length of each run of two or more items.
  template <class In, class Offsets, class Lengths, class Count>
  static cudaError_t NonTrivialRuns(void* temp, ::std::size_t& bytes, In in, Offsets offsets, Lengths lengths,
                                    Count count, int n, cudaStream_t stream = nullptr) {
    RIDGE_ASKED(In);
    int runs = 0;
    for (int begin = 0, i = 1; i <= n; ++i) {
      if (i < n && in[i] == in[begin]) continue;
      if (i - begin > 1) {
        offsets[runs] = begin;
        lengths[runs++] = i - begin;
      }
      begin = i;
    }
    *count = runs;
    return cudaSuccess;
  }
};

struct DeviceHistogram {
  // levels - 1 bins of one width from `low` to below `high`.
  template <class In, class Counter, class Level>
  static cudaError_t HistogramEven(void* temp, ::std::size_t& bytes, In in, Counter* bins, int levels, Level low,
                                   Level high, int n, cudaStream_t stream = nullptr) {
    RIDGE_ASKED(In);
    ::std::fill_n(bins, levels - 1, Counter());
    for (int i = 0; i < n; ++i) {
      const double at = ((double)in[i] - (double)low) * (levels - 1) / ((double)high - (double)low);
      if (in[i] >= low && in[i] < high) ++bins[::std::min((int)at, levels - 2)];
    }
    return cudaSuccess;
  }
};
#undef RIDGE_ASKED

}  // namespace cub
