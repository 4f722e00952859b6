// CUB's collectives of a warp and of a block: those that teaching code uses, by shuffles and shared memory. Results are CUB's;
// counts and the size of TempStorage are not.
#pragma once
#include <cstddef>
#include <type_traits>

#include "cuda_runtime.h"

namespace cub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

namespace ridge_detail {

struct Plus {
  template <class T>
  RIDGE_DEVICE T operator()(const T& a, const T& b) const { return a + b; }
};
template <class T>
RIDGE_DEVICE T shuffle_up(T v, int delta, int width) {
  return ridge_simt::shuffle<T>("cub", ridge_simt::Shuffle::up, ridge_simt::live_lanes(), v, delta, width);
}
// Lane l's value of the lanes up to l of its group.
template <class T, class Op>
RIDGE_DEVICE T warp_inclusive(T v, Op op, int width) {
  const int lane = (int)ridge_simt::lane_id() & (width - 1);
  for (int d = 1; d < width; d *= 2) {
    const T other = shuffle_up(v, d, width);
    if (lane >= d) v = op(other, v);
  }
  return v;
}

}  // namespace ridge_detail

template <class T, int Lanes = 32>
class WarpReduce {
 public:
  struct TempStorage {};
  RIDGE_DEVICE explicit WarpReduce(TempStorage&) {}
  // In the first lane of each group.
  template <class Op>
  RIDGE_DEVICE T Reduce(T v, Op op, int valid = Lanes) {
    const int lane = (int)ridge_simt::lane_id() & (Lanes - 1);
    for (int d = Lanes / 2; d > 0; d /= 2) {
      const T other =
          ridge_simt::shuffle<T>("cub::WarpReduce", ridge_simt::Shuffle::down, ridge_simt::live_lanes(), v, d, Lanes);
      if (lane + d < valid) v = op(v, other);
    }
    return v;
  }
  RIDGE_DEVICE T Sum(T v, int valid = Lanes) { return Reduce(v, ridge_detail::Plus(), valid); }
  RIDGE_DEVICE T Max(T v) { return Reduce(v, [](T a, T b) { return a < b ? b : a; }); }
  RIDGE_DEVICE T Min(T v) { return Reduce(v, [](T a, T b) { return b < a ? b : a; }); }
};

template <class T, int Lanes = 32>
class WarpScan {
 public:
  struct TempStorage {};
  RIDGE_DEVICE explicit WarpScan(TempStorage&) {}
  template <class Op>
  RIDGE_DEVICE void InclusiveScan(T v, T& out, Op op) { out = ridge_detail::warp_inclusive(v, op, Lanes); }
  RIDGE_DEVICE void InclusiveSum(T v, T& out) { InclusiveScan(v, out, ridge_detail::Plus()); }
  RIDGE_DEVICE void InclusiveSum(T v, T& out, T& all) {
    InclusiveSum(v, out);
    all = Broadcast(out, Lanes - 1);
  }
  template <class Op>
  RIDGE_DEVICE void InclusiveScan(T v, T& out, Op op, T& all) {
    InclusiveScan(v, out, op);
    all = Broadcast(out, Lanes - 1);
  }
  RIDGE_DEVICE T Broadcast(T v, unsigned lane) {
    return ridge_simt::shuffle<T>("cub::WarpScan", ridge_simt::Shuffle::index, ridge_simt::live_lanes(), v, (int)lane,
                                  Lanes);
  }
  template <class Op>
  RIDGE_DEVICE void ExclusiveScan(T v, T& out, T initial, Op op) {
    const T all = ridge_detail::warp_inclusive(v, op, Lanes), before = ridge_detail::shuffle_up(all, 1, Lanes);
    out = ((int)ridge_simt::lane_id() & (Lanes - 1)) == 0 ? initial : op(initial, before);
  }
  template <class Op>
  RIDGE_DEVICE void ExclusiveScan(T v, T& out, T initial, Op op, T& all) {  // of all lanes, without `initial`
    const T sums = ridge_detail::warp_inclusive(v, op, Lanes), before = ridge_detail::shuffle_up(sums, 1, Lanes);
    out = ((int)ridge_simt::lane_id() & (Lanes - 1)) == 0 ? initial : op(initial, before);
    all = Broadcast(sums, Lanes - 1);
  }
  template <class Op>
  RIDGE_DEVICE void ExclusiveScan(T v, T& out, Op op) {  // nothing for the first lane
    out = ridge_detail::shuffle_up(ridge_detail::warp_inclusive(v, op, Lanes), 1, Lanes);
  }
  RIDGE_DEVICE void ExclusiveSum(T v, T& out) { ExclusiveScan(v, out, T(), ridge_detail::Plus()); }
  RIDGE_DEVICE void ExclusiveSum(T v, T& out, T& all) { ExclusiveScan(v, out, T(), ridge_detail::Plus(), all); }
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1>
class BlockReduce {
  static constexpr int kThreads = X * Y * Z, kWarps = (kThreads + 31) / 32;

 public:
  struct TempStorage {
    T of_warp[kWarps];
  };
  RIDGE_DEVICE explicit BlockReduce(TempStorage& temp) : temp_(temp) {}
  // In thread 0; of the threads below `valid`.
  template <class Op>
  RIDGE_DEVICE T Reduce(T v, Op op, int valid = kThreads) {
    const int t = (int)ridge_simt::linear_thread(), warp = t / 32, first = warp * 32;
    typename WarpReduce<T>::TempStorage none;
    v = WarpReduce<T>(none).Reduce(v, op, valid - first < 32 ? valid - first : 32);
    if (t % 32 == 0) temp_.of_warp[warp] = v;
    __syncthreads();
    if (t == 0)
      for (int w = 1; w * 32 < valid; ++w) v = op(v, temp_.of_warp[w]);
    return v;
  }
  RIDGE_DEVICE T Sum(T v, int valid = kThreads) { return Reduce(v, ridge_detail::Plus(), valid); }
  template <int N, class Op>
  RIDGE_DEVICE T Reduce(T (&v)[N], Op op) {
    T own = v[0];
    for (int i = 1; i < N; ++i) own = op(own, v[i]);
    return Reduce(own, op);
  }
  template <int N>
  RIDGE_DEVICE T Sum(T (&v)[N]) { return Reduce(v, ridge_detail::Plus()); }

 private:
  TempStorage& temp_;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1>
class BlockScan {
  static constexpr int kThreads = X * Y * Z, kWarps = (kThreads + 31) / 32;

 public:
  struct TempStorage {
    T of_warp[kWarps];
  };
  RIDGE_DEVICE explicit BlockScan(TempStorage& temp) : temp_(temp) {}
  template <class Op>
  RIDGE_DEVICE void InclusiveScan(T v, T& out, Op op, T& all) {
    T before;
    bool first;
    out = scan(v, op, before, first, all);
    if (!first) out = op(before, out);
  }
  template <class Op>
  RIDGE_DEVICE void InclusiveScan(T v, T& out, Op op) {
    T all;
    InclusiveScan(v, out, op, all);
  }
  RIDGE_DEVICE void InclusiveSum(T v, T& out) { InclusiveScan(v, out, ridge_detail::Plus()); }
  RIDGE_DEVICE void InclusiveSum(T v, T& out, T& all) { InclusiveScan(v, out, ridge_detail::Plus(), all); }
  template <class Op>
  RIDGE_DEVICE void ExclusiveScan(T v, T& out, T initial, Op op, T& all) {
    T before;
    bool first;
    const T own = scan(v, op, before, first, all);
    const T left = ridge_detail::shuffle_up(own, 1, 32);
    const bool first_lane = ridge_simt::lane_id() == 0;
    out = first && first_lane ? initial
          : first             ? op(initial, left)
          : first_lane        ? op(initial, before)
                              : op(op(initial, before), left);
  }
  template <class Op>
  RIDGE_DEVICE void ExclusiveScan(T v, T& out, T initial, Op op) {
    T all;
    ExclusiveScan(v, out, initial, op, all);
  }
  RIDGE_DEVICE void ExclusiveSum(T v, T& out) { ExclusiveScan(v, out, T(), ridge_detail::Plus()); }
  RIDGE_DEVICE void ExclusiveSum(T v, T& out, T& all) { ExclusiveScan(v, out, T(), ridge_detail::Plus(), all); }
  // Takes N consecutive items per thread.
  template <int N, class Op>
  RIDGE_DEVICE void InclusiveScan(T (&v)[N], T (&out)[N], Op op) {
    T own[N], before, all;
    bool first;
    own[0] = v[0];
    for (int i = 1; i < N; ++i) own[i] = op(own[i - 1], v[i]);
    const T up_to = scan(own[N - 1], op, before, first, all);
    const T left = ridge_detail::shuffle_up(up_to, 1, 32);
    const bool first_lane = ridge_simt::lane_id() == 0;
    const bool none = first && first_lane;
    const T earlier = first ? left : first_lane ? before : op(before, left);
    for (int i = 0; i < N; ++i) out[i] = none ? own[i] : op(earlier, own[i]);
  }
  template <int N>
  RIDGE_DEVICE void ExclusiveSum(T (&v)[N], T (&out)[N], T& all) {
    T own = T(), before;
    for (int i = 0; i < N; ++i) own = own + v[i];
    ExclusiveSum(own, before, all);
    for (int i = 0; i < N; ++i) {
      const T now = v[i];
      out[i] = before;
      before = before + now;
    }
  }
  template <int N>
  RIDGE_DEVICE void ExclusiveSum(T (&v)[N], T (&out)[N]) {
    T all;
    ExclusiveSum(v, out, all);
  }
  template <int N>
  RIDGE_DEVICE void InclusiveSum(T (&v)[N], T (&out)[N]) {
    T copy[N], all;
    for (int i = 0; i < N; ++i) copy[i] = v[i];
    ExclusiveSum(v, out, all);
    for (int i = 0; i < N; ++i) out[i] = out[i] + copy[i];
  }

 private:
  // The scan within the warp; what the warps before have; that of the whole block.
  template <class Op>
  RIDGE_DEVICE T scan(T v, Op op, T& before, bool& first, T& all) {
    const int t = (int)ridge_simt::linear_thread(), warp = t / 32;
    const T own = ridge_detail::warp_inclusive(v, op, 32);
    if (t % 32 == 31 || t == kThreads - 1) temp_.of_warp[warp] = own;
    __syncthreads();
    first = warp == 0;
    before = all = temp_.of_warp[0];
    for (int w = 1; w < kWarps; ++w) {
      if (w == warp) before = all;
      all = op(all, temp_.of_warp[w]);
    }
    return own;
  }
  TempStorage& temp_;
};

template <class T, int X, int Items, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT>
class BlockLoad {
 public:
  struct TempStorage {};
  RIDGE_DEVICE BlockLoad() {}
  RIDGE_DEVICE explicit BlockLoad(TempStorage&) {}
  template <class It>
  RIDGE_DEVICE void Load(It from, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) items[i] = from[at(i)];
  }
  template <class It>
  RIDGE_DEVICE void Load(It from, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i)
      if (at(i) < valid) items[i] = from[at(i)];
  }
  template <class It, class D>
  RIDGE_DEVICE void Load(It from, T (&items)[Items], int valid, D otherwise) {
    for (int i = 0; i < Items; ++i) items[i] = at(i) < valid ? (T)from[at(i)] : (T)otherwise;
  }

 private:
  RIDGE_DEVICE static int at(int i) {
    const int t = (int)ridge_simt::linear_thread();
    return A == BLOCK_LOAD_STRIPED ? i * X + t : t * Items + i;
  }
};
template <class T, int X, int Items, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT>
class BlockStore {
 public:
  struct TempStorage {};
  RIDGE_DEVICE BlockStore() {}
  RIDGE_DEVICE explicit BlockStore(TempStorage&) {}
  template <class It>
  RIDGE_DEVICE void Store(It to, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) to[at(i)] = items[i];
  }
  template <class It>
  RIDGE_DEVICE void Store(It to, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i)
      if (at(i) < valid) to[at(i)] = items[i];
  }

 private:
  RIDGE_DEVICE static int at(int i) {
    const int t = (int)ridge_simt::linear_thread();
    return A == BLOCK_STORE_STRIPED ? i * X + t : t * Items + i;
  }
};

// Stable; by counting how many keys come before each.
template <class Key, int X, int Items, class Value = void>
class BlockRadixSort {
  static constexpr int kCount = X * Items;
  using Stored = ::std::conditional_t<::std::is_void_v<Value>, char, Value>;

 public:
  struct TempStorage {
    Key keys[kCount];
    Stored values[::std::is_void_v<Value> ? 1 : kCount];
  };
  RIDGE_DEVICE explicit BlockRadixSort(TempStorage& temp) : temp_(temp) {}
  RIDGE_DEVICE void Sort(Key (&keys)[Items]) { sort(keys, (Stored*)nullptr, false); }
  RIDGE_DEVICE void SortDescending(Key (&keys)[Items]) { sort(keys, (Stored*)nullptr, true); }
  RIDGE_DEVICE void Sort(Key (&keys)[Items], Stored (&values)[Items]) { sort(keys, values, false); }
  RIDGE_DEVICE void SortDescending(Key (&keys)[Items], Stored (&values)[Items]) { sort(keys, values, true); }

 private:
  RIDGE_DEVICE void sort(Key (&keys)[Items], Stored* values, bool down) {
    const int first = (int)ridge_simt::linear_thread() * Items;
    for (int i = 0; i < Items; ++i) temp_.keys[first + i] = keys[i];
    __syncthreads();
    int rank[Items] = {};
    for (int j = 0; j < kCount; ++j) {
      const Key other = temp_.keys[j];
      for (int i = 0; i < Items; ++i) {
        const bool before = down ? keys[i] < other : other < keys[i];
        const bool same = !(other < keys[i]) && !(keys[i] < other);
        rank[i] += before || (same && j < first + i);
      }
    }
    __syncthreads();
    for (int i = 0; i < Items; ++i) {
      temp_.keys[rank[i]] = keys[i];
      if (values != nullptr) temp_.values[rank[i]] = values[i];
    }
    __syncthreads();
    for (int i = 0; i < Items; ++i) {
      keys[i] = temp_.keys[first + i];
      if (values != nullptr) values[i] = temp_.values[first + i];
    }
  }
  TempStorage& temp_;
};

}  // namespace cub
