// ridge_simt/hopper/wgmma.h: a warp's products are asked for, put into groups, and done when the warp waits for them,
// as late as they may be.
#include "ridge_simt/hopper/wgmma.h"

#include <algorithm>
#include <cstring>

#include "hopper/unit.hpp"
#include "hopper/wgmma_work.hpp"

#define RIDGE_PC (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

namespace ridge::simt {

HopperUnit::Products& HopperUnit::products(unsigned warp) {
  if (products_.size() <= warp) products_.resize(warp + 1);
  return products_[warp];
}

void HopperUnit::ask(unsigned warp, WarpProduct p) {
  Products& own = products(warp);
  p.follows = std::any_of(own.asked.begin(), own.asked.end(), [&](const WarpProduct& q) { return q.same_result(p); });
  if (ProxyRaces* r = races(); r != nullptr && !p.follows) {
    const auto last = std::find_if(own.results.begin(), own.results.end(),
                                   [&](const auto& result) { return result.first == p.first_register(); });
    if (!own.fenced || (p.shape.add && last != own.results.end() && last->second != p.hash())) r->fence_missing(p);
  }
  if (!product_unit_) product_unit_ = std::make_unique<ProductUnit>();
  product_unit_->begin(p);
  if (ProxyRaces* r = races()) r->product_begins(p);
  own.asked.push_back(std::move(p));
}

// The compiler keeps some reads of registers to itself. What is stored while products go on shows them.
void HopperUnit::check_stores(Products& of) {
  if (ProxyRaces* r = races(); r != nullptr && !of.asked.empty())
    for (const Products::Store& s : of.stores)
      for (unsigned at = 0; at < s.bytes; at += 4) {
        constexpr std::uint32_t kQuiet = 1u << 22;  // arithmetic sets this bit of a NaN
        std::uint32_t word;
        std::memcpy(&word, reinterpret_cast<const void*>(s.address + at), sizeof word);
        if ((word | kQuiet) == (ProductUnit::kUnderWay | kQuiet)) r->sum_stored(of.asked.front(), s.pc, s.thread);
      }
  of.stores.clear();
}

// The first `count` of those that were asked for.
void HopperUnit::multiply(Products& of, std::size_t count) {
  check_stores(of);
  for (std::size_t i = 0; i < count;) {
    std::size_t end = i + 1;
    while (end < count && of.asked[end].same_result(of.asked[i])) ++end;
    const auto next = std::find_if(of.asked.begin() + static_cast<std::ptrdiff_t>(end), of.asked.end(),
                                   [&](const WarpProduct& q) { return q.same_result(of.asked[i]); });
    if (!product_unit_->run(&of.asked[i], end - i, next == of.asked.end() ? nullptr : &*next))
      if (ProxyRaces* r = races()) r->registers_touched(of.asked[i]);
    if (races() != nullptr && next == of.asked.end()) {
      std::erase_if(of.results, [&](const auto& r) { return r.first == of.asked[i].first_register(); });
      of.results.emplace_back(of.asked[i].first_register(), of.asked[i].hash());
    }
    i = end;
  }
  if (ProxyRaces* r = races())
    for (std::size_t i = 0; i < count; ++i) r->product_ends(of.asked[i], runner_.running_thread().linear / 32);
  of.asked.erase(of.asked.begin(), of.asked.begin() + static_cast<std::ptrdiff_t>(count));
}

namespace {

bool lies_in_shared(const BlockRunner& r, const MatrixTile& t, unsigned first, unsigned count, unsigned k,
                    unsigned bytes) {
  const unsigned per = 16 / bytes;
  if (t.transposed) {
    for (unsigned l = 0; l < k; ++l)
      for (unsigned row = 0; row < count; row += per)
        if (!r.holds_shared(t.piece(l, (first + row) / per), 16)) return false;
  } else {
    for (unsigned row = 0; row < count; ++row)
      for (unsigned j = 0; j < k / per; ++j)
        if (!r.holds_shared(t.piece(first + row, j), 16)) return false;
  }
  return true;
}

constexpr const char* kTypeNames[] = {"fp16", "bf16", "tf32", "e4m3", "e5m2", "int8", "int8", "fp32", "int32"};

}  // namespace

}  // namespace ridge::simt

namespace ridge_simt {

using ridge::simt::BlockRunner;
using ridge::simt::HopperUnit;
using ridge::simt::kHopperMisuse;
using ridge::simt::MatrixTile;
using ridge::simt::WarpProduct;

// One lane, before it waits for the others: where its registers lie.
void check_wgmma(const WgmmaCall& own, std::uintptr_t pc) {
  BlockRunner& r = *BlockRunner::current();
  const bool known = own.n % 8 == 0 && own.n >= 8 && own.n <= 256 && own.a_type <= WgmmaType::u8 &&
                     own.b_type <= WgmmaType::u8 && wgmma_bytes(own.a_type) == wgmma_bytes(own.b_type) &&
                     (own.d_type == WgmmaType::f16 || own.d_type == WgmmaType::f32 || own.d_type == WgmmaType::s32);
  if (!known) r.misuse(-1, "wgmma: no such operands", "see PTX ISA, wgmma.mma_async", kHopperMisuse, pc);
  const unsigned count = own.n / (own.d_type == WgmmaType::f16 ? 4 : 2);
  auto registers = [&](const void* p, unsigned bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    if (!r.is_local(at, bytes))
      r.misuse(-1, "wgmma: d is not in registers", "d is an array of the thread's own: declare it in the kernel",
               kHopperMisuse, pc);
  };
  if (own.each == nullptr) return registers(own.first, 4 * count);
  registers(static_cast<const void*>(own.each), count * sizeof(void*));
  for (unsigned i = 0; i < count; ++i) registers(own.each[i], 4);
}

void ask_wgmma(void* const* lanes, unsigned mask) {
  BlockRunner& r = *BlockRunner::current();
  if (mask != ~0u) {
    return misuse(-1, "wgmma: not by all lanes of a warp", "all 128 threads of a warpgroup execute it", kHopperMisuse);
  }
  const auto call = [&](unsigned l) { return static_cast<const WgmmaCall*>(lanes[l]); };
  const unsigned warp = r.running_thread().linear / 32;
  WarpProduct p{};
  p.shape = *call(0);
  p.pc = r.threads().wait_of(r.running_thread()).pc;
  p.first_row = warp % 4 * 16;
  p.b = MatrixTile::of(p.shape.b, r.address_of_bits(MatrixTile::address(p.shape.b)), p.shape.b_transposed);
  const unsigned bytes = wgmma_bytes(p.shape.a_type), k = p.k();
  if (!p.shape.a.in_registers) {
    p.a = MatrixTile::of(p.shape.a.descriptor, r.address_of_bits(MatrixTile::address(p.shape.a.descriptor)),
                         p.shape.a_transposed);
    if (!ridge::simt::lies_in_shared(r, p.a, p.first_row, 16, k, bytes))
      return misuse(-1, "wgmma: its left factor is outside of shared memory",
                    "a matrix descriptor's address, leading and stride byte offsets lead there", kHopperMisuse);
  }
  if (!ridge::simt::lies_in_shared(r, p.b, 0, p.shape.n, k, bytes))
    return misuse(-1, "wgmma: its right factor is outside of shared memory",
                  "a matrix descriptor's address, leading and stride byte offsets lead there", kHopperMisuse);
  for (unsigned l = 0; l < 32; ++l) {
    const WgmmaCall& own = *call(l);
    if (own.n != p.shape.n || own.b != p.shape.b || own.add != p.shape.add ||
        own.a.in_registers != p.shape.a.in_registers ||
        (!own.a.in_registers && own.a.descriptor != p.shape.a.descriptor) || own.d_type != p.shape.d_type ||
        own.a_type != p.shape.a_type || (own.each == nullptr) != (p.shape.each == nullptr))
      return misuse(static_cast<int>(l), "wgmma: lanes with different operands",
                    "descriptors and shape are the same in all threads of a warpgroup", kHopperMisuse);
    std::memcpy(p.left[l], own.a.registers, sizeof p.left[l]);
    p.first[l] = own.first;
    if (own.each != nullptr) p.each.insert(p.each.end(), own.each, own.each + p.registers());
  }
  auto& c = r.counters().async;
  ++c.wgmma;
  // The warpgroup reads its right factor once.
  c.wgmma_wavefronts += (p.shape.a.in_registers ? 0 : 4) + (warp % 4 == 0 ? p.shape.n / 4 : 0);
  r.count_matrix(2ull * 16 * p.shape.n * k);
  c.operations += 2ull * 16 * p.shape.n * k;
  c.operations_16bit += 2ull * 16 * p.shape.n * 16;  // 32 bytes of k take as long in every type
  HopperUnit::of(r).ask(warp, std::move(p));
}

void commit_wgmma(void* const*, unsigned) {
  BlockRunner& r = *BlockRunner::current();
  auto& own = HopperUnit::of(r).products(r.running_thread().linear / 32);
  own.ends.push_back(own.asked.size());
}

void wait_wgmma(void* const* lanes, unsigned mask) {
  BlockRunner& r = *BlockRunner::current();
  const unsigned left = *static_cast<const unsigned*>(lanes[__builtin_ctz(mask)]);
  HopperUnit& unit = HopperUnit::of(r);
  auto& own = unit.products(r.running_thread().linear / 32);
  if (own.ends.size() <= left) return;
  const std::size_t groups = own.ends.size() - left, n = own.ends[groups - 1];
  unit.multiply(own, n);
  own.ends.erase(own.ends.begin(), own.ends.begin() + static_cast<std::ptrdiff_t>(groups));
  for (std::size_t& end : own.ends) end -= n;
}

void wgmma_fence() {
  char nothing = 0;
  BlockRunner::current()->collective("wgmma.fence", ~0u, &meet_for_wgmma, &nothing, RIDGE_PC);
}
void wgmma_commit() {
  char nothing = 0;
  BlockRunner::current()->collective("wgmma.commit_group", ~0u, &commit_wgmma, &nothing, RIDGE_PC);
}
void wgmma_wait(unsigned left) {
  BlockRunner::current()->collective("wgmma.wait_group", ~0u, &wait_wgmma, &left, RIDGE_PC);
}
void meet_for_wgmma(void* const*, unsigned) {
  BlockRunner& r = *BlockRunner::current();
  auto& own = HopperUnit::of(r).products(r.running_thread().linear / 32);
  own.fenced = true;
  own.results.clear();
}

}  // namespace ridge_simt

#undef RIDGE_PC
