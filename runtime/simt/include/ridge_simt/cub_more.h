// CUB's small parts: operators, iterators that compute, exchanges of items between the threads of a block or warp, differences of
// neighbours. Results are CUB's; counts and the size of TempStorage are not.
#pragma once
#include <cstddef>
#include <iterator>
#include <type_traits>

#include "cub_block.h"

namespace cub {

template <class K, class V>
struct KeyValuePair {
  using Key = K;
  using Value = V;
  K key;
  V value;
};
struct Sum {
  template <class T>
  RIDGE_DEVICE T operator()(const T& a, const T& b) const { return a + b; }
};
struct Difference {
  template <class T>
  RIDGE_DEVICE T operator()(const T& a, const T& b) const { return a - b; }
};
struct Max {
  template <class T>
  RIDGE_DEVICE T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
struct Min {
  template <class T>
  RIDGE_DEVICE T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
// Among equal values the smaller key wins.
struct ArgMax {
  template <class K, class V>
  RIDGE_DEVICE KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class K, class V>
  RIDGE_DEVICE KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

// An iterator whose element at a distance is `I::at(distance)`.
template <class I, class T, class D>
struct ComputedIterator {
  using value_type = T;
  using reference = T;
  using pointer = void;
  using difference_type = D;
  using iterator_category = ::std::random_access_iterator_tag;
  D ridge_place = 0;
  RIDGE_DEVICE T operator[](D n) const { return static_cast<const I&>(*this).at(ridge_place + n); }
  RIDGE_DEVICE T operator*() const { return (*this)[0]; }
  RIDGE_DEVICE I operator+(D n) const {
    I moved = static_cast<const I&>(*this);
    moved.ridge_place += n;
    return moved;
  }
  RIDGE_DEVICE I operator-(D n) const { return *this + -n; }
  RIDGE_DEVICE D operator-(const I& other) const { return ridge_place - other.ridge_place; }
  RIDGE_DEVICE I& operator+=(D n) {
    ridge_place += n;
    return static_cast<I&>(*this);
  }
  RIDGE_DEVICE I& operator++() { return *this += 1; }
  RIDGE_DEVICE I operator++(int) {
    I before = static_cast<I&>(*this);
    ++ridge_place;
    return before;
  }
  RIDGE_DEVICE bool operator==(const I& other) const { return ridge_place == other.ridge_place; }
  RIDGE_DEVICE bool operator!=(const I& other) const { return ridge_place != other.ridge_place; }
};
template <class T, class D = ::std::ptrdiff_t>
struct CountingInputIterator : ComputedIterator<CountingInputIterator<T, D>, T, D> {
  T first;
  RIDGE_DEVICE CountingInputIterator(T from) : first(from) {}
  RIDGE_DEVICE T at(D n) const { return first + (T)n; }
};
template <class T, class D = ::std::ptrdiff_t>
struct ConstantInputIterator : ComputedIterator<ConstantInputIterator<T, D>, T, D> {
  T value;
  RIDGE_DEVICE ConstantInputIterator(T v) : value(v) {}
  RIDGE_DEVICE T at(D) const { return value; }
};
template <class T, class Op, class It, class D = ::std::ptrdiff_t>
struct TransformInputIterator : ComputedIterator<TransformInputIterator<T, Op, It, D>, T, D> {
  It from;
  Op op;
  RIDGE_DEVICE TransformInputIterator(It from_, Op op_) : from(from_), op(op_) {}
  RIDGE_DEVICE T at(D n) const { return op(from[n]); }
};

// Item i of thread t of `Threads`, whose items lie side by side (blocked) or one of each thread side by side (striped).
#define RIDGE_ITEMS for (int i = 0; i < N; ++i)
template <class T, int N, class It>
RIDGE_DEVICE void LoadDirectBlocked(int t, It from, T (&items)[N]) { RIDGE_ITEMS items[i] = from[t * N + i]; }
template <class T, int N, class It>
RIDGE_DEVICE void LoadDirectBlocked(int t, It from, T (&items)[N], int valid) {
  RIDGE_ITEMS if (t * N + i < valid) items[i] = from[t * N + i];
}
template <int Threads, class T, int N, class It>
RIDGE_DEVICE void LoadDirectStriped(int t, It from, T (&items)[N]) { RIDGE_ITEMS items[i] = from[t + i * Threads]; }
template <int Threads, class T, int N, class It>
RIDGE_DEVICE void LoadDirectStriped(int t, It from, T (&items)[N], int valid) {
  RIDGE_ITEMS if (t + i * Threads < valid) items[i] = from[t + i * Threads];
}
template <class T, int N, class It>
RIDGE_DEVICE void StoreDirectBlocked(int t, It to, T (&items)[N]) { RIDGE_ITEMS to[t * N + i] = items[i]; }
template <class T, int N, class It>
RIDGE_DEVICE void StoreDirectBlocked(int t, It to, T (&items)[N], int valid) {
  RIDGE_ITEMS if (t * N + i < valid) to[t * N + i] = items[i];
}
template <int Threads, class T, int N, class It>
RIDGE_DEVICE void StoreDirectStriped(int t, It to, T (&items)[N]) { RIDGE_ITEMS to[t + i * Threads] = items[i]; }
template <int Threads, class T, int N, class It>
RIDGE_DEVICE void StoreDirectStriped(int t, It to, T (&items)[N], int valid) {
  RIDGE_ITEMS if (t + i * Threads < valid) to[t + i * Threads] = items[i];
}
// A warp's 32 N items side by side, in them striped.
template <class T, int N, class It>
RIDGE_DEVICE void LoadDirectWarpStriped(int t, It from, T (&items)[N]) {
  RIDGE_ITEMS items[i] = from[t / 32 * 32 * N + t % 32 + i * 32];
}
template <class T, int N, class It>
RIDGE_DEVICE void StoreDirectWarpStriped(int t, It to, T (&items)[N]) {
  RIDGE_ITEMS to[t / 32 * 32 * N + t % 32 + i * 32] = items[i];
}

// Rearranges the items of a block through shared memory.
template <class T, int X, int N, bool = false, int Y = 1, int Z = 1>
class BlockExchange {
  static constexpr int kThreads = X * Y * Z;

 public:
  struct TempStorage {
    T items[kThreads * N];
  };
  RIDGE_DEVICE explicit BlockExchange(TempStorage& temp) : temp_(temp), t_((int)ridge_simt::linear_thread()) {}
  template <class Out>
  RIDGE_DEVICE void StripedToBlocked(const T (&in)[N], Out (&out)[N]) {
    RIDGE_ITEMS temp_.items[t_ + i * kThreads] = in[i];
    __syncthreads();
    RIDGE_ITEMS out[i] = temp_.items[t_ * N + i];
  }
  template <class Out>
  RIDGE_DEVICE void BlockedToStriped(const T (&in)[N], Out (&out)[N]) {
    RIDGE_ITEMS temp_.items[t_ * N + i] = in[i];
    __syncthreads();
    RIDGE_ITEMS out[i] = temp_.items[t_ + i * kThreads];
  }
  template <class Out>
  RIDGE_DEVICE void WarpStripedToBlocked(const T (&in)[N], Out (&out)[N]) {
    StoreDirectWarpStriped(t_, temp_.items, const_cast<T(&)[N]>(in));
    __syncthreads();
    RIDGE_ITEMS out[i] = temp_.items[t_ * N + i];
  }
  template <class Out>
  RIDGE_DEVICE void BlockedToWarpStriped(const T (&in)[N], Out (&out)[N]) {
    RIDGE_ITEMS temp_.items[t_ * N + i] = in[i];
    __syncthreads();
    LoadDirectWarpStriped(t_, temp_.items, out);
  }
  template <class Out, class Rank>
  RIDGE_DEVICE void ScatterToBlocked(const T (&in)[N], Out (&out)[N], Rank (&ranks)[N]) {
    RIDGE_ITEMS temp_.items[ranks[i]] = in[i];
    __syncthreads();
    RIDGE_ITEMS out[i] = temp_.items[t_ * N + i];
  }
  template <class Out, class Rank>
  RIDGE_DEVICE void ScatterToStriped(const T (&in)[N], Out (&out)[N], Rank (&ranks)[N]) {
    RIDGE_ITEMS temp_.items[ranks[i]] = in[i];
    __syncthreads();
    RIDGE_ITEMS out[i] = temp_.items[t_ + i * kThreads];
  }

 private:
  TempStorage& temp_;
  int t_;
};

enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };
template <class T, int N, int Lanes = 32, WarpExchangeAlgorithm = WARP_EXCHANGE_SMEM>
class WarpExchange {
 public:
  struct TempStorage {
    T items[Lanes * N];
  };
  RIDGE_DEVICE explicit WarpExchange(TempStorage& temp) : temp_(temp), t_((int)ridge_simt::lane_id() % Lanes) {}
  template <class Out>
  RIDGE_DEVICE void StripedToBlocked(const T (&in)[N], Out (&out)[N]) {
    RIDGE_ITEMS temp_.items[t_ + i * Lanes] = in[i];
    __syncwarp(ridge_simt::live_lanes());
    RIDGE_ITEMS out[i] = temp_.items[t_ * N + i];
  }
  template <class Out>
  RIDGE_DEVICE void BlockedToStriped(const T (&in)[N], Out (&out)[N]) {
    RIDGE_ITEMS temp_.items[t_ * N + i] = in[i];
    __syncwarp(ridge_simt::live_lanes());
    RIDGE_ITEMS out[i] = temp_.items[t_ + i * Lanes];
  }
  template <class Rank>
  RIDGE_DEVICE void ScatterToStriped(T (&items)[N], Rank (&ranks)[N]) {
    RIDGE_ITEMS temp_.items[ranks[i]] = items[i];
    __syncwarp(ridge_simt::live_lanes());
    RIDGE_ITEMS items[i] = temp_.items[t_ + i * Lanes];
  }

 private:
  TempStorage& temp_;
  int t_;
};

// op(item, its neighbour). The first item of the block, or the last one, stays as it is.
template <class T, int X, int Y = 1, int Z = 1>
class BlockAdjacentDifference {
  static constexpr int kThreads = X * Y * Z;

 public:
  struct TempStorage {
    T first[kThreads], last[kThreads];
  };
  RIDGE_DEVICE explicit BlockAdjacentDifference(TempStorage& temp) : temp_(temp), t_((int)ridge_simt::linear_thread()) {}
  template <int N, class Out, class Op>
  RIDGE_DEVICE void SubtractLeft(T (&in)[N], Out (&out)[N], Op op) {
    temp_.last[t_] = in[N - 1];
    __syncthreads();
    for (int i = N - 1; i > 0; --i) out[i] = op(in[i], in[i - 1]);
    if (t_ == 0) out[0] = in[0];
    else out[0] = op(in[0], temp_.last[t_ - 1]);
  }
  template <int N, class Out, class Op>
  RIDGE_DEVICE void SubtractRight(T (&in)[N], Out (&out)[N], Op op) {
    temp_.first[t_] = in[0];
    __syncthreads();
    for (int i = 0; i + 1 < N; ++i) out[i] = op(in[i], in[i + 1]);
    if (t_ == kThreads - 1) out[N - 1] = in[N - 1];
    else out[N - 1] = op(in[N - 1], temp_.first[t_ + 1]);
  }

 private:
  TempStorage& temp_;
  int t_;
};
#undef RIDGE_ITEMS

}  // namespace cub
