// Cooperative groups: blocks, tiles, coalesced threads, grids (CUDA C++ Programming Guide, "Cooperative Groups").
#pragma once
#include "cuda_runtime.h"

namespace cooperative_groups {

using file_t = const char*;
#define RIDGE_PLACE file_t file = __builtin_FILE(), int line = __builtin_LINE()

class thread_block {
 public:
  struct arrival_token {};
  RIDGE_DEVICE void sync(RIDGE_PLACE) const { ridge_simt::barrier(file, line); }
  RIDGE_DEVICE arrival_token barrier_arrive() const { return {}; }
  RIDGE_DEVICE void barrier_wait(arrival_token&&, RIDGE_PLACE) const { ridge_simt::barrier(file, line); }
  RIDGE_DEVICE static unsigned thread_rank() { return ridge_simt::linear_thread(); }
  RIDGE_DEVICE static dim3 group_index() { return ridge_simt::block_idx(); }
  RIDGE_DEVICE static dim3 thread_index() { return ridge_simt::thread_idx(); }
  RIDGE_DEVICE static dim3 dim_threads() { return ridge_simt::block_dim(); }
  RIDGE_DEVICE static dim3 group_dim() { return dim_threads(); }
  RIDGE_DEVICE static unsigned num_threads() {
    dim3 d = dim_threads();
    return d.x * d.y * d.z;
  }
  RIDGE_DEVICE static unsigned size() { return num_threads(); }
};
RIDGE_DEVICE thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  RIDGE_DEVICE bool is_valid() const { return ridge_simt::is_cooperative(); }
  RIDGE_DEVICE void sync() const { ridge_simt::grid_barrier(); }
  RIDGE_DEVICE static dim3 dim_blocks() { return ridge_simt::grid_dim(); }
  RIDGE_DEVICE static dim3 group_dim() { return dim_blocks(); }
  RIDGE_DEVICE static dim3 block_index() { return ridge_simt::block_idx(); }
  RIDGE_DEVICE static unsigned long long num_blocks() {
    dim3 d = dim_blocks();
    return (unsigned long long)d.x * d.y * d.z;
  }
  RIDGE_DEVICE static unsigned long long block_rank() {
    dim3 d = dim_blocks(), b = block_index();
    return b.x + (unsigned long long)d.x * (b.y + (unsigned long long)d.y * b.z);
  }
  RIDGE_DEVICE static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
  RIDGE_DEVICE static unsigned long long size() { return num_threads(); }
  RIDGE_DEVICE static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
};
RIDGE_DEVICE grid_group this_grid() { return {}; }

// Lanes of one warp, by mask. Ranks go by lane.
class coalesced_group {
 public:
  explicit RIDGE_DEVICE coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
      : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
  RIDGE_DEVICE unsigned num_threads() const { return (unsigned)__popc(mask_); }
  RIDGE_DEVICE unsigned size() const { return num_threads(); }
  RIDGE_DEVICE unsigned thread_rank() const { return (unsigned)__popc(mask_ & ((1u << ridge_simt::lane_id()) - 1)); }
  RIDGE_DEVICE unsigned meta_group_rank() const { return meta_rank_; }
  RIDGE_DEVICE unsigned meta_group_size() const { return meta_size_; }
  RIDGE_DEVICE void sync() const { __syncwarp(mask_); }

  template <class T>
  RIDGE_DEVICE T shfl(T v, int rank) const {
    return ridge_simt::shuffle<T>("coalesced_group::shfl", ridge_simt::Shuffle::index, mask_, v, lane_of(rank), 32);
  }
  // Past the group's ends a thread keeps its own value.
  template <class T>
  RIDGE_DEVICE T shfl_up(T v, int delta) const {
    int from = (int)thread_rank() - delta;
    return shfl(v, from < 0 ? (int)thread_rank() : from);
  }
  template <class T>
  RIDGE_DEVICE T shfl_down(T v, int delta) const {
    int from = (int)thread_rank() + delta;
    return shfl(v, from >= (int)num_threads() ? (int)thread_rank() : from);
  }
  RIDGE_DEVICE int any(int p) const { return __any_sync(mask_, p); }
  RIDGE_DEVICE int all(int p) const { return __all_sync(mask_, p); }
  RIDGE_DEVICE unsigned ballot(int p) const { return packed(__ballot_sync(mask_, p)); }
  template <class T>
  RIDGE_DEVICE unsigned match_any(T v) const { return packed(__match_any_sync(mask_, v)); }
  template <class T>
  RIDGE_DEVICE unsigned match_all(T v, int& all) const { return packed(__match_all_sync(mask_, v, &all)); }
  RIDGE_DEVICE unsigned ridge_mask() const { return mask_; }

 private:
  // The lane of the group's thread `rank`.
  RIDGE_DEVICE int lane_of(int rank) const {
    unsigned left = mask_;
    for (int r = 0; r < rank; ++r) left &= left - 1;
    return left == 0 ? rank + 32 : __ffs((int)left) - 1;
  }
  // A mask of lanes as a mask of ranks.
  RIDGE_DEVICE unsigned packed(unsigned lanes) const {
    unsigned out = 0, rank = 0;
    for (unsigned left = mask_; left != 0; left &= left - 1, ++rank)
      if ((lanes & left & -left) != 0) out |= 1u << rank;
    return out;
  }
  unsigned mask_, meta_rank_, meta_size_;
};
RIDGE_DEVICE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// Size threads in a row of a block, a power of two up to 32. Parent: for the meta group's size.
template <unsigned Size, class Parent = void>
class thread_block_tile {
  static_assert(Size <= 32 && Size != 0 && (Size & (Size - 1)) == 0,
                "tiles have 1, 2, 4, 8, 16 or 32 threads here: larger ones are not part of the emulator");

 public:
  explicit RIDGE_DEVICE thread_block_tile(unsigned meta_size) : meta_size_(meta_size) {}
  template <class P>  // thread_block_tile<32> of any group's tile, and back
  RIDGE_DEVICE thread_block_tile(const thread_block_tile<Size, P>& tile) : meta_size_(tile.meta_group_size()) {}
  RIDGE_DEVICE static constexpr unsigned num_threads() { return Size; }
  RIDGE_DEVICE static constexpr unsigned size() { return Size; }
  RIDGE_DEVICE static unsigned thread_rank() { return ridge_simt::lane_id() % Size; }
  RIDGE_DEVICE unsigned meta_group_rank() const { return ridge_simt::linear_thread() / Size % meta_size_; }
  RIDGE_DEVICE unsigned meta_group_size() const { return meta_size_; }
  RIDGE_DEVICE void sync() const { __syncwarp(ridge_mask()); }

  template <class T>
  RIDGE_DEVICE T shfl(T v, int rank) const {
    return ridge_simt::shuffle<T>("tile.shfl", ridge_simt::Shuffle::index, ridge_mask(), v, rank, Size);
  }
  template <class T>
  RIDGE_DEVICE T shfl_up(T v, unsigned delta) const {
    return ridge_simt::shuffle<T>("tile.shfl_up", ridge_simt::Shuffle::up, ridge_mask(), v, (int)delta, Size);
  }
  template <class T>
  RIDGE_DEVICE T shfl_down(T v, unsigned delta) const {
    return ridge_simt::shuffle<T>("tile.shfl_down", ridge_simt::Shuffle::down, ridge_mask(), v, (int)delta, Size);
  }
  template <class T>
  RIDGE_DEVICE T shfl_xor(T v, unsigned lane_mask) const {
    return ridge_simt::shuffle<T>("tile.shfl_xor", ridge_simt::Shuffle::exclusive, ridge_mask(), v, (int)lane_mask, Size);
  }
  RIDGE_DEVICE int any(int p) const { return __any_sync(ridge_mask(), p); }
  RIDGE_DEVICE int all(int p) const { return __all_sync(ridge_mask(), p); }
  RIDGE_DEVICE unsigned ballot(int p) const { return __ballot_sync(ridge_mask(), p) >> first(); }
  template <class T>
  RIDGE_DEVICE unsigned match_any(T v) const { return __match_any_sync(ridge_mask(), v) >> first(); }
  template <class T>
  RIDGE_DEVICE unsigned match_all(T v, int& all) const { return __match_all_sync(ridge_mask(), v, &all) >> first(); }
  RIDGE_DEVICE unsigned ridge_mask() const {
    return (Size == 32 ? 0xffffffffu : (1u << Size % 32) - 1) << first();
  }

 private:
  RIDGE_DEVICE static unsigned first() { return ridge_simt::lane_id() / Size * Size; }
  unsigned meta_size_;
};

template <unsigned Size, class G>
RIDGE_DEVICE thread_block_tile<Size, G> tiled_partition(const G& g) {
  return thread_block_tile<Size, G>((g.size() + Size - 1) / Size);
}
// A group of lanes whose size is known at run time.
template <class G>
RIDGE_DEVICE coalesced_group tiled_partition(const G& g, unsigned size) {
  unsigned first = ridge_simt::lane_id() / size * size, mask = (size == 32 ? 0xffffffffu : (1u << size) - 1) << first;
  return coalesced_group(mask & ridge_simt::live_lanes(), (unsigned)g.thread_rank() / size,
                         ((unsigned)g.size() + size - 1) / size);
}
RIDGE_DEVICE coalesced_group tiled_partition(const coalesced_group& g, unsigned size) {
  unsigned rank = g.thread_rank(), tile = rank / size, mask = 0, r = 0;
  for (unsigned left = g.ridge_mask(); left != 0; left &= left - 1, ++r)
    if (r / size == tile) mask |= left & -left;
  return coalesced_group(mask, tile, (g.size() + size - 1) / size);
}
template <class G, class L>
RIDGE_DEVICE coalesced_group labeled_partition(const G& g, L label) {
  return coalesced_group(__match_any_sync(g.ridge_mask(), label));
}
template <class G>
RIDGE_DEVICE coalesced_group binary_partition(const G& g, bool p) {
  unsigned yes = __ballot_sync(g.ridge_mask(), p);
  return coalesced_group(p ? yes : g.ridge_mask() & ~yes);
}

// Any group, with its type forgotten: what library functions take.
class thread_group {
 public:
  RIDGE_DEVICE thread_group(const thread_block&) : block_(true), mask_(0) {}
  template <unsigned Size, class P>
  RIDGE_DEVICE thread_group(const thread_block_tile<Size, P>& t) : block_(false), mask_(t.ridge_mask()) {}
  RIDGE_DEVICE thread_group(const coalesced_group& g) : block_(false), mask_(g.ridge_mask()) {}
  RIDGE_DEVICE void sync(RIDGE_PLACE) const {
    if (block_)
      ridge_simt::barrier(file, line);
    else
      __syncwarp(mask_);
  }
  RIDGE_DEVICE unsigned long long size() const { return block_ ? thread_block::size() : (unsigned)__popc(mask_); }
  RIDGE_DEVICE unsigned long long num_threads() const { return size(); }
  RIDGE_DEVICE unsigned long long thread_rank() const {
    return block_ ? thread_block::thread_rank() : coalesced_group(mask_).thread_rank();
  }

 private:
  bool block_;
  unsigned mask_;
};

template <class G>
RIDGE_DEVICE void sync(const G& g) { g.sync(); }
RIDGE_DEVICE void sync(const thread_block& g, RIDGE_PLACE) { g.sync(file, line); }

// One thread of the group, chosen by the emulator: its last one, so that nobody relies on the first.
template <class G, class F, class... A>
RIDGE_DEVICE void invoke_one(const G& g, F&& f, A&&... arguments) {
  if (g.thread_rank() + 1 == g.size()) f(arguments...);
}

// Copies by all threads of the group, done when it returns.
template <class G, class T>
RIDGE_DEVICE void memcpy_async(const G& g, T* to, const T* from, size_t bytes) {
  for (size_t i = g.thread_rank(); i < bytes / sizeof(T); i += g.size()) to[i] = from[i];
}
template <class G>
RIDGE_DEVICE void wait(const G& g) { g.sync(); }
RIDGE_DEVICE void wait(const thread_block& g, RIDGE_PLACE) { g.sync(file, line); }
template <unsigned stages, class G>  // memcpy_async() has copied when it returns
RIDGE_DEVICE void wait_prior(const G& g) { g.sync(); }

#undef RIDGE_PLACE

// The blocks of a cluster; of a launch without clusters, this block alone.
class cluster_group {
 public:
  using arrival_token = unsigned;
  static RIDGE_DEVICE void sync() {
    ridge_simt::cluster_arrive();
    ridge_simt::cluster_wait();
  }
  static RIDGE_DEVICE arrival_token barrier_arrive() {
    ridge_simt::cluster_arrive();
    return 0;
  }
  static RIDGE_DEVICE void barrier_wait() { ridge_simt::cluster_wait(); }
  static RIDGE_DEVICE void barrier_wait(arrival_token) { ridge_simt::cluster_wait(); }
  static RIDGE_DEVICE unsigned block_rank() { return ridge_simt::cluster_rank(); }
  static RIDGE_DEVICE unsigned num_blocks() { return ridge_simt::cluster_size(); }
  static RIDGE_DEVICE unsigned num_threads() { return num_blocks() * blockDim.x * blockDim.y * blockDim.z; }
  static RIDGE_DEVICE unsigned size() { return num_threads(); }
  static RIDGE_DEVICE unsigned thread_rank() {
    return block_rank() * (blockDim.x * blockDim.y * blockDim.z) + ridge_simt::linear_thread();
  }
  static RIDGE_DEVICE dim3 block_index() { return ridge_simt::cluster_block(); }
  static RIDGE_DEVICE dim3 dim_blocks() { return ridge_simt::cluster_dim(); }
  template <class T>
  static RIDGE_DEVICE T* map_shared_rank(T* p, int rank) {
    return (T*)ridge_simt::map_shared_pointer((const void*)p, (unsigned)rank);
  }
  static RIDGE_DEVICE unsigned query_shared_rank(const void* p) { return ridge_simt::rank_of_pointer(p); }
};
RIDGE_DEVICE cluster_group this_cluster() { return {}; }

}  // namespace cooperative_groups
