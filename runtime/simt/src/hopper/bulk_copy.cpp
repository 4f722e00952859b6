// ridge_simt/hopper/bulk_copy.h: an instruction is checked where it is executed. Its bytes move as late as they may: a
// load's when somebody waits for its barrier, a store's when its thread waits for its group.
#include "ridge_simt/hopper/bulk_copy.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "hopper/mbarrier_word.hpp"
#include "hopper/reduction.hpp"
#include "hopper/unit.hpp"

#define RIDGE_PC (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

namespace ridge::simt {

namespace {

using ridge_simt::BulkReduction;

constexpr std::uintptr_t kPiece = 16;

char* pointer(std::uintptr_t address) { return reinterpret_cast<char*>(address); }

// A row of a box in shared memory, piece by piece: f(shared piece, bytes from the row's first, bytes).
template <class F>
void for_pieces(const TensorMap& map, std::uintptr_t box, std::uint64_t row, F f) {
  const unsigned bytes = map.row_bytes();
  const std::uintptr_t begin = box + row * map.row_pitch();
  for (unsigned at = 0; at < bytes; at += kPiece) f(pointer(swizzled(begin + at, map.swizzle)), at, kPiece);
}

void load_box(const BulkCopy& c) {
  const TensorMap& map = c.map;
  const unsigned element = map.element_bytes(), bytes = map.row_bytes();
  unsigned char row[256 * 8];
  for (std::uint64_t r = 0, n = map.rows(); r < n; ++r) {
    const TensorMap::Row source = map.row(c.at, r);
    if (source.to - source.from < map.box[0]) std::memset(row, map.fill == 1 ? 0xFF : 0, bytes);
    if (source.to > source.from)
      std::memcpy(row + source.from * element, pointer(source.address), std::size_t{source.to - source.from} * element);
    for_pieces(map, c.to, r, [&](char* shared, unsigned at, unsigned size) { std::memcpy(shared, row + at, size); });
  }
}

void store_box(const BulkCopy& c) {
  const TensorMap& map = c.map;
  const unsigned element = map.element_bytes();
  alignas(16) unsigned char row[256 * 8];
  for (std::uint64_t r = 0, n = map.rows(); r < n; ++r) {
    const TensorMap::Row target = map.row(c.at, r);
    if (target.to <= target.from) continue;
    for_pieces(map, c.from, r,
               [&](const char* shared, unsigned at, unsigned size) { std::memcpy(row + at, shared, size); });
    const std::size_t bytes = std::size_t{target.to - target.from} * element;
    if (c.operation == BulkReduction::none)
      std::memcpy(pointer(target.address), row + target.from * element, bytes);
    else
      reduce_bulk(pointer(target.address), row + target.from * element, bytes, c.operation, c.type);
  }
}

void move(const BulkCopy& c) {
  // Blocks that run at the same time reduce into the same memory.
  static std::mutex reductions;
  std::unique_lock<std::mutex> lock(reductions, std::defer_lock);
  if (c.operation != BulkReduction::none) lock.lock();
  if (c.kind == BulkCopy::Kind::tensor_load) return load_box(c);
  if (c.kind == BulkCopy::Kind::tensor_store) return store_box(c);
  if (c.operation == BulkReduction::none)
    std::memcpy(pointer(c.to), pointer(c.from), c.bytes);
  else
    reduce_bulk(pointer(c.to), pointer(c.from), c.bytes, c.operation, c.type);
}

// ---- checks ----

void refuse(BlockRunner& r, const char* kind, const char* detail, std::uintptr_t pc) {
  r.misuse(-1, kind, detail, kHopperMisuse, pc);
}

// The map behind the pointer of an instruction: a kernel's parameter, or a variable in constant or global memory.
TensorMap read_map(BlockRunner& r, const void* p, std::uintptr_t pc) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  if (!r.is_local(address, sizeof(TensorMap))) r.check(address, sizeof(TensorMap), false, pc);
  TensorMap map;
  std::memcpy(static_cast<void*>(&map), p, sizeof map);
  if (!map.is_valid())
    refuse(r, "TMA: no tensor map",
           "the address must be that of a CUtensorMap that cuTensorMapEncodeTiled has filled (pass it as const "
           "__grid_constant__ CUtensorMap, and take its address)",
           pc);
  if (map.interleave != 0)
    refuse(r, "TMA: an interleaved layout", "the emulator has CU_TENSOR_MAP_INTERLEAVE_NONE alone", pc);
  return map;
}

// Bytes of this block's shared memory, or of another block's of the cluster.
void check_shared(BlockRunner& owner, BlockRunner& r, std::uintptr_t address, std::size_t bytes, unsigned alignment,
                  std::uintptr_t pc) {
  if (address % alignment != 0)
    refuse(r, "TMA: misaligned shared memory",
           alignment == 128 ? "a box of a tensor begins at a multiple of 128 bytes"
                            : "it begins at a multiple of 16 bytes",
           pc);
  for (std::size_t at = 0; at < bytes; at += std::min<std::size_t>(bytes - at, 4096)) {
    const std::size_t end = std::min<std::size_t>(bytes - at, 4096);
    if (!owner.holds_shared(address + at, 1) || !owner.holds_shared(address + at + end - 1, 1))
      r.misuse(-1, "out-of-bounds shared access of a bulk copy",
               "its bytes reach beyond the array or the dynamic shared memory of the launch", 700, pc,
               Cause::out_of_bounds);
  }
}

// Checks and counts.
void check_global(BlockRunner& r, const BulkCopy& c, std::uintptr_t address, std::size_t bytes, bool store) {
  r.check(address, static_cast<unsigned>(bytes), store, c.pc);
  r.count_bulk(address, bytes, store,
               !store                               ? &AsyncCounters::load_sectors
               : c.operation == BulkReduction::none ? &AsyncCounters::store_sectors
                                                    : &AsyncCounters::reduction_sectors);
}

void check_box(BlockRunner& r, const BulkCopy& c, bool store) {
  for (std::uint64_t row = 0, n = c.map.rows(); row < n; ++row) {
    const TensorMap::Row part = c.map.row(c.at, row);
    if (part.to > part.from)
      check_global(r, c, part.address, std::size_t{part.to - part.from} * c.map.element_bytes(), store);
  }
}

std::size_t shared_bytes(const TensorMap& map) { return map.rows() * map.row_pitch(); }

// The blocks that an instruction writes to: this one, or those of a mask.
template <class F>
void for_targets(BlockRunner& r, unsigned blocks, std::uintptr_t pc, F f) {
  if (blocks == 0) return f(r);
  ClusterTurns* cluster = r.cluster();
  const unsigned count = cluster == nullptr ? 1 : cluster->count();
  if (blocks >> count != 0)
    refuse(r, "TMA: multicast to a block that the cluster does not have",
           "bit i of the mask is block i of the cluster: launch the kernel with clusters of as many blocks", pc);
  for (unsigned i = 0; i < count; ++i)
    if ((blocks >> i & 1) != 0) f(cluster == nullptr ? r : *cluster->member(i));
}

// Where shared memory that lies at `pointer` in one block lies in another one.
std::uintptr_t moved(const BlockRunner& from, const BlockRunner& to, std::uintptr_t address) {
  return address - from.shared_window() + to.shared_window();
}

BlockRunner& owner_of(BlockRunner& r, std::uintptr_t address) {
  if (r.is_shared(address)) return r;
  BlockRunner* other = r.neighbour(address);
  return other == nullptr ? r : *other;
}

// Pieces of shared memory that a copy writes; of a store: reads.
template <class F>
void for_shared_pieces(const BulkCopy& c, F f) {
  const bool store = c.kind == BulkCopy::Kind::store || c.kind == BulkCopy::Kind::tensor_store;
  const std::uintptr_t begin = store ? c.from : c.to;
  if (c.kind == BulkCopy::Kind::tensor_load || c.kind == BulkCopy::Kind::tensor_store) {
    for (std::uint64_t row = 0, n = c.map.rows(); row < n; ++row)
      for_pieces(c.map, begin, row, [&](const char* p, unsigned, unsigned) { f(reinterpret_cast<std::uintptr_t>(p)); });
  } else {
    for (std::uintptr_t at = begin; at < begin + c.bytes; at += kPiece) f(at);
  }
}

// PTX ISA, "Contents of the mbarrier object": tx-count is -(2^20 - 1) to 2^20 - 1, and each copy lowers it.
void check_transactions(BlockRunner& r, const HopperUnit& unit, const BulkCopy& copy) {
  const std::int64_t under_way = static_cast<std::int64_t>(unit.bytes_to(copy.barrier)) + copy.bytes;
  if (MbarrierWord::read(pointer(copy.barrier)).bytes - under_way < -std::int64_t{MbarrierWord::kMost})
    refuse(r, "mbarrier: too many bytes", "a phase takes at most 1048575 bytes more than were announced", copy.pc);
}

// `sectors`: those that each block gets.
void begin_load(BlockRunner& r, BulkCopy copy, std::size_t bytes_in_shared, unsigned alignment, unsigned blocks,
                std::uint64_t sectors) {
  const std::uintptr_t to = copy.to, barrier = copy.barrier;
  BlockRunner& first = owner_of(r, to);
  for_targets(r, blocks, copy.pc, [&](BlockRunner& each) {
    BlockRunner& target = blocks == 0 ? first : each;
    copy.to = moved(first, target, to);
    copy.barrier = blocks == 0 ? barrier : moved(owner_of(r, barrier), target, barrier);
    check_shared(target, r, copy.to, bytes_in_shared, alignment, copy.pc);
    r.counters().async.delivered_sectors += sectors;
    HopperUnit& unit = unit_of_barrier(r, pointer(copy.barrier), true, copy.pc);
    check_transactions(r, unit, copy);
    unit.add(copy);
    if (ProxyRaces* races = unit.races()) {
      const bool own = &target == &r;
      for_shared_pieces(copy, [&](std::uintptr_t piece) {
        races->load_begins(piece, r.pc_offset(copy.pc),
                           copy.kind == BulkCopy::Kind::tensor_load ? copy.map.swizzle : Swizzle::none, own);
      });
    }
    if (Sanitizer* s = target.sanitizer()) s->bulk_written(copy.to, bytes_in_shared);
  });
}

}  // namespace

void HopperUnit::add(const BulkCopy& copy) {
  copies_.push_back(copy);
  under_way_ += copy.bytes;
  AsyncCounters& c = runner_.counters().async;
  c.brought += copy.bytes;
  c.under_way = std::max(c.under_way, under_way_);
}

std::uint64_t HopperUnit::bytes_to(std::uintptr_t barrier) const {
  std::uint64_t sum = 0;
  for (const BulkCopy& c : copies_) sum += c.barrier == barrier ? c.bytes : 0;
  return sum;
}

void HopperUnit::land(std::uintptr_t barrier) {
  for (std::size_t i = 0; i < copies_.size();) {
    if (copies_[i].barrier != barrier) {
      ++i;
      continue;
    }
    const BulkCopy copy = copies_[i];
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
    under_way_ -= copy.bytes;
    if (std::find(fed_.begin(), fed_.end(), barrier) == fed_.end()) fed_.push_back(barrier);
    move(copy);
    if (ProxyRaces* r = races()) {
      r->copy_comes(barrier);
      for_shared_pieces(copy, [&](std::uintptr_t piece) { r->load_ends(piece); });
    }
    arrive(barrier, 0, -static_cast<int>(copy.bytes), false);
  }
}

void HopperUnit::add_store(const BulkCopy& copy) {
  if (ProxyRaces* r = races())
    for_shared_pieces(copy, [&](std::uintptr_t piece) { r->store_begins(piece, runner_.pc_offset(copy.pc)); });
  if (stores_.size() <= copy.thread) stores_.resize(copy.thread + 1);
  stores_[copy.thread].asked.push_back(copy);
}

void HopperUnit::commit_stores(unsigned thread) {
  if (stores_.size() <= thread) stores_.resize(thread + 1);
  stores_[thread].ends.push_back(stores_[thread].asked.size());
}

void HopperUnit::wait_stores(unsigned thread, unsigned left) {
  if (stores_.size() <= thread) return;
  Stores& s = stores_[thread];
  const std::size_t groups = s.ends.size() > left ? s.ends.size() - left : 0, n = groups == 0 ? 0 : s.ends[groups - 1];
  // No wait covers a store without a commit_group. By then a GPU has read its bytes; other orders keep it waiting.
  const std::size_t read = left == 0 && copies_come_late() ? s.asked.size() : n;
  for (; s.moved < read; ++s.moved) move(s.asked[s.moved]);
  if (groups == 0) return;
  if (ProxyRaces* r = races())
    for (std::size_t i = 0; i < n; ++i)
      for_shared_pieces(s.asked[i], [&](std::uintptr_t piece) { r->store_ends(piece); });
  s.moved -= n;
  s.asked.erase(s.asked.begin(), s.asked.begin() + static_cast<std::ptrdiff_t>(n));
  s.ends.erase(s.ends.begin(), s.ends.begin() + static_cast<std::ptrdiff_t>(groups));
  for (std::size_t& end : s.ends) end -= n;
}

}  // namespace ridge::simt

namespace ridge_simt {

using ridge::simt::AsyncCounters;
using ridge::simt::BlockRunner;
using ridge::simt::BulkCopy;
using ridge::simt::HopperUnit;

namespace {

BulkCopy copy_of(BlockRunner& r, BulkCopy::Kind kind, std::uintptr_t pc,
                 BulkReduction operation = BulkReduction::none) {
  AsyncCounters& n = r.counters().async;
  const bool load = kind == BulkCopy::Kind::load || kind == BulkCopy::Kind::tensor_load;
  ++(load                               ? n.loads
     : kind == BulkCopy::Kind::exchange ? n.exchanges
     : operation == BulkReduction::none ? n.stores
                                        : n.reductions);
  BulkCopy c{};
  c.operation = operation;
  c.kind = kind;
  c.thread = r.thread().linear;
  c.pc = pc;
  return c;
}

std::uintptr_t shared_of(unsigned address) { return reinterpret_cast<std::uintptr_t>(shared_pointer(address)); }

// A box that its shared memory holds has few rows: what follows goes through all of them.
void box_of(BlockRunner& r, BulkCopy& c, const BulkTensor& t, std::uintptr_t shared, bool store) {
  c.map = ridge::simt::read_map(r, t.map, c.pc);
  if (c.map.rank != t.rank)
    ridge::simt::refuse(r, "TMA: another number of dimensions than the tensor map's",
                        "cp.async.bulk.tensor.Nd takes N coordinates, as many as the map's tensorRank", c.pc);
  std::copy(t.at, t.at + 5, c.at);
  ridge::simt::check_shared(ridge::simt::owner_of(r, shared), r, shared, ridge::simt::shared_bytes(c.map), 128, c.pc);
  c.bytes = static_cast<unsigned>(c.map.box_bytes());
  ridge::simt::check_box(r, c, store);
}

}  // namespace

void bulk_tensor_load(unsigned to, const BulkTensor& from, unsigned barrier, unsigned blocks) {
  BlockRunner& r = *BlockRunner::current();
  BulkCopy c = copy_of(r, BulkCopy::Kind::tensor_load, RIDGE_PC);
  c.to = shared_of(to);
  c.barrier = shared_of(barrier);
  box_of(r, c, from, c.to, false);
  ridge::simt::begin_load(r, c, ridge::simt::shared_bytes(c.map), 128, blocks, c.map.box_sectors(c.at));
}

void bulk_tensor_store(const BulkTensor& to, unsigned from, BulkReduction operation) {
  BlockRunner& r = *BlockRunner::current();
  BulkCopy c = copy_of(r, BulkCopy::Kind::tensor_store, RIDGE_PC, operation);
  c.from = shared_of(from);
  box_of(r, c, to, c.from, true);
  c.type = ridge::simt::type_of_map(c.map.type);
  HopperUnit::of(r).add_store(c);
}

void bulk_load(unsigned to, const void* from, unsigned bytes, unsigned barrier, unsigned blocks) {
  BlockRunner& r = *BlockRunner::current();
  BulkCopy c = copy_of(r, BulkCopy::Kind::load, RIDGE_PC);
  c.to = shared_of(to);
  c.from = reinterpret_cast<std::uintptr_t>(from);
  c.bytes = bytes;
  c.barrier = shared_of(barrier);
  if (bytes % 16 != 0 || c.from % 16 != 0)
    ridge::simt::refuse(r, "cp.async.bulk: misaligned", "its addresses and its size are multiples of 16", c.pc);
  if (bytes != 0) ridge::simt::check_global(r, c, c.from, bytes, false);
  ridge::simt::begin_load(r, c, bytes, 16, blocks, (c.from % 32 + bytes + 31) / 32);
}

void bulk_store(void* to, unsigned from, unsigned bytes, BulkReduction operation, BulkType type) {
  BlockRunner& r = *BlockRunner::current();
  BulkCopy c = copy_of(r, BulkCopy::Kind::store, RIDGE_PC, operation);
  c.to = reinterpret_cast<std::uintptr_t>(to);
  c.from = shared_of(from);
  c.bytes = bytes;
  c.type = type;
  if (bytes % 16 != 0 || c.to % 16 != 0)
    ridge::simt::refuse(r, "cp.async.bulk: misaligned", "its addresses and its size are multiples of 16", c.pc);
  if (bytes != 0) ridge::simt::check_global(r, c, c.to, bytes, true);
  ridge::simt::check_shared(r, r, c.from, bytes, 16, c.pc);
  HopperUnit::of(r).add_store(c);
}

void bulk_exchange(unsigned to, unsigned from, unsigned bytes, unsigned barrier, BulkReduction operation,
                   BulkType type) {
  BlockRunner& r = *BlockRunner::current();
  BulkCopy c = copy_of(r, BulkCopy::Kind::exchange, RIDGE_PC, operation);
  c.to = shared_of(to);
  c.from = shared_of(from);
  c.bytes = bytes;
  c.barrier = shared_of(barrier);
  c.type = type;
  if (bytes % 16 != 0)
    ridge::simt::refuse(r, "cp.async.bulk: misaligned", "its addresses and its size are multiples of 16", c.pc);
  ridge::simt::check_shared(r, r, c.from, bytes, 16, c.pc);
  ridge::simt::begin_load(r, c, bytes, 16, 0, 0);
}

void bulk_commit() {
  BlockRunner& r = *BlockRunner::current();
  HopperUnit::of(r).commit_stores(r.thread().linear);
}
void bulk_wait(unsigned left, bool) {
  BlockRunner& r = *BlockRunner::current();
  HopperUnit::of(r).wait_stores(r.thread().linear, left);
}

}  // namespace ridge_simt

#undef RIDGE_PC
