#include "hopper/proxy_races.hpp"

#include <algorithm>

#include "sanitize/running_block.hpp"

namespace ridge::simt {

namespace {

void join(std::array<std::uint32_t, 33>& a, const std::array<std::uint32_t, 33>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::max(a[i], b[i]);
}

// Each piece of 16 bytes that a warp's product reads of a and b.
template <class F>
void for_product_pieces(const WarpProduct& p, F f) {
  const unsigned bytes = wgmma_bytes(p.shape.a_type), per = 16 / bytes, k = p.k();
  auto tile = [&](const MatrixTile& t, unsigned first, unsigned count) {
    if (t.transposed) {
      for (unsigned l = 0; l < k; ++l)
        for (unsigned r = 0; r < count; r += per) f(t.piece(l, (first + r) / per), t.swizzle);
    } else {
      for (unsigned r = 0; r < count; ++r)
        for (unsigned j = 0; j < k / per; ++j) f(t.piece(first + r, j), t.swizzle);
    }
  };
  if (!p.shape.a.in_registers) tile(p.a, p.first_row, 16);
  tile(p.b, 0, p.shape.n);
}

}  // namespace

void ProxyRaces::begin_block() {
  cells_.clear();
  barriers_.clear();
  fenced_ = {};
  copies_come_ = 0;
  for (unsigned w = 0; w < kWarps; ++w) {
    known_[w] = {};
    known_[w][w] = 1;
  }
}

ProxyRaces::Cell& ProxyRaces::cell(std::uintptr_t address) {
  const std::size_t i = (address - runner_.shared_window()) / 16;
  if (i >= cells_.size()) cells_.resize(i + 64);
  return cells_[i];
}

void ProxyRaces::report(const char* kind, const char* detail, std::uint32_t pc, const char* what,
                        std::uint32_t other_pc, const char* other_what, unsigned other_thread) {
  if (seen_before(kind, pc, other_pc)) return;
  const RunningBlock& block = runner_.sanitizer()->block();
  const unsigned other = std::min(other_thread, runner_.threads().size() - 1);
  report_finding(block.race(Cause::race_shared, kind, block.place(pc, thread().linear, what),
                            block.place(other_pc, other, other_what), detail));
}

void ProxyRaces::come(std::uintptr_t what) {
  const unsigned w = warp();
  join(barriers_[what], known_[w]);
  ++known_[w][w];
}

void ProxyRaces::pass(std::uintptr_t what) { join(known_[warp()], barriers_[what]); }

void ProxyRaces::block_barrier() {
  Times all{};
  for (const Times& t : known_) join(all, t);
  for (unsigned w = 0; w < kWarps; ++w) {
    known_[w] = all;
    ++known_[w][w];
  }
}

void ProxyRaces::proxy_fence() {
  const unsigned w = warp();
  join(fenced_, known_[w]);
  ++known_[w][w];
}

void ProxyRaces::access(std::uintptr_t address, unsigned bytes, bool store, std::uint32_t pc) {
  const unsigned w = warp();
  for (std::uintptr_t at = address / 16 * 16; at < address + bytes; at += 16) {
    Cell& c = cell(at);
    if (!store && (c.loads != 0 || known_[w][kCopies] < c.come))
      report("read of shared memory before its copy has arrived",
             "the thread has not waited for the mbarrier whose bytes the copy brings", pc, "load", c.copy_pc,
             "bulk copy", c.store_thread);
    if (!store) {
      c.read[w] = known_[w][w] + 1;
      c.read_pc = pc;
      continue;
    }
    if (c.products != 0)
      report("shared memory is overwritten while wgmma reads it",
             "the product goes on until wgmma.wait_group says that it has ended", pc, "store", c.read_pc, "wgmma",
             thread().linear);
    else if (c.stores != 0)
      report(
          "shared memory is overwritten while a bulk copy reads it",
          "the copy goes on until cp.async.bulk.wait_group.read says that it has read; a wait covers the copies that "
          "cp.async.bulk.commit_group has put into a group",
          pc, "store", c.copy_pc, "bulk copy", thread().linear);
    else
      for (unsigned r = 0; r < kWarps; ++r)
        if (c.async_read[r] != 0 && r != w && known_[w][r] < c.async_read[r] - 1)
          report("shared memory is overwritten before its readers have come to a barrier",
                 "a barrier must lie between the wait of those that read it and the store", pc, "store", c.read_pc,
                 "asynchronous read", r * 32);
    c.store_pc = pc;
    c.store_warp = static_cast<std::uint8_t>(w);
    c.store_time = known_[w][w];
    c.store_thread = static_cast<std::uint16_t>(thread().linear);
    c.by_tensor = false;
    c.come = 0;
    std::fill(std::begin(c.async_read), std::end(c.async_read), 0u);
  }
}

void ProxyRaces::read_by_unit(Cell& c, std::uint32_t pc, const char* who) {
  if (c.loads != 0 || known_[warp()][kCopies] < c.come)
    report("read of shared memory before its copy has arrived",
           "the warp has not waited for the mbarrier whose bytes the copy brings", pc, who, c.copy_pc, "bulk copy",
           c.store_thread);
  const unsigned w = c.store_warp;
  if (w >= kWarps) return;
  if (w != warp() && known_[warp()][w] < c.store_time)
    report("race on shared memory", "no barrier lies between the store and the read", pc, who, c.store_pc, "store",
           c.store_thread);
  else if (fenced_[w] < c.store_time)
    report("shared memory is read by TMA or wgmma without a proxy fence",
           "between the store and the barrier behind it, the thread that has stored needs fence.proxy.async", pc, who,
           c.store_pc, "store", c.store_thread);
}

void ProxyRaces::load_begins(std::uintptr_t piece, std::uint32_t pc, Swizzle swizzle, bool own_block) {
  Cell& c = cell(piece);
  const unsigned w = warp();
  const bool reads = c.products != 0;
  if (reads)
    report("shared memory is overwritten while wgmma reads it",
           "the stage is given back before wgmma.wait_group says that the product has ended", pc, "bulk copy",
           c.read_pc, "wgmma", thread().linear);
  else if (own_block)
    for (unsigned r = 0; r < kWarps; ++r) {
      const std::uint32_t last = std::max(c.async_read[r], c.read[r]);
      if (last == 0 || r == w || known_[w][r] >= last - 1) continue;
      report("shared memory is overwritten before its readers have come to a barrier",
             "the thread that copies must wait until all that read the stage have arrived", pc, "bulk copy", c.read_pc,
             "read", r * 32);
      break;
    }
  if (own_block && c.store_warp < kWarps && c.store_warp != w && known_[w][c.store_warp] < c.store_time)
    report("race on shared memory", "no barrier lies between the store and the copy", pc, "bulk copy", c.store_pc,
           "store", c.store_thread);
  c = {};
  c.overwritten = reads;
  c.copy_pc = pc;
  c.loads = 1;
  c.store_thread = static_cast<std::uint16_t>(thread().linear);
  c.swizzle = swizzle;
  c.by_tensor = true;
}

void ProxyRaces::copy_comes(std::uintptr_t barrier) { barriers_[barrier][kCopies] = ++copies_come_; }

void ProxyRaces::load_ends(std::uintptr_t piece) {
  Cell& c = cell(piece);
  c.loads = 0;
  c.come = copies_come_;
}

void ProxyRaces::store_begins(std::uintptr_t piece, std::uint32_t pc) {
  Cell& c = cell(piece);
  read_by_unit(c, pc, "bulk copy");
  c.copy_pc = pc;
  ++c.stores;
}

void ProxyRaces::store_ends(std::uintptr_t piece) {
  Cell& c = cell(piece);
  if (c.stores != 0) --c.stores;
  const unsigned w = warp();
  c.async_read[w] = known_[w][w] + 1;
  c.read_pc = c.copy_pc;
}

void ProxyRaces::product_begins(const WarpProduct& p) {
  const std::uint32_t pc = runner_.pc_offset(p.pc);
  for_product_pieces(p, [&](std::uintptr_t piece, Swizzle swizzle) {
    Cell& c = cell(piece);
    read_by_unit(c, pc, "wgmma");
    if (c.by_tensor && c.swizzle != swizzle)
      report("wgmma reads a tile with another swizzle than TMA wrote it with",
             "bits 62 and 63 of the matrix descriptor and the swizzle of the tensor map must agree (0: none, 1: 128 "
             "bytes, 2: 64, 3: 32)",
             pc, "wgmma", c.copy_pc, "bulk copy", c.store_thread);
    ++c.products;
    c.read_pc = pc;
  });
}

void ProxyRaces::product_ends(const WarpProduct& p, unsigned warp) {
  for_product_pieces(p, [&](std::uintptr_t piece, Swizzle) {
    Cell& c = cell(piece);
    if (c.products != 0) --c.products;
    if (!c.overwritten) c.async_read[warp] = known_[warp][warp] + 1;
  });
}

void ProxyRaces::registers_touched(const WarpProduct& p, std::uint32_t pc, bool store) {
  report("accumulator is touched before wgmma.wait_group",
         "its registers are the product's until wgmma.wait_group says that it has ended", pc, store ? "store" : "load",
         runner_.pc_offset(p.pc), "wgmma", thread().linear);
}

void ProxyRaces::sum_stored(const WarpProduct& p, std::uint32_t pc, unsigned by) {
  report("accumulator is touched before wgmma.wait_group",
         "what is stored here is a sum that wgmma has not ended: it is read before wgmma.wait_group says so", pc,
         "store of a sum", runner_.pc_offset(p.pc), "wgmma", by);
}

void ProxyRaces::fence_missing(const WarpProduct& p) {
  constexpr const char* kKind = "wgmma without wgmma.fence";
  const std::uint32_t pc = runner_.pc_offset(p.pc);
  if (seen_before(kKind, pc, 0)) return;
  const RunningBlock& block = runner_.sanitizer()->block();
  report_finding(block.finding(
      Cause::race_shared, kKind, block.place(pc, thread().linear),
      "before the first wgmma, and wherever threads have written to its registers, all threads of the warpgroup need "
      "wgmma.fence"));
}

void ProxyRaces::registers_touched(const WarpProduct& p) {
  if (p.reported) return;
  const std::uint32_t wait = runner_.pc_offset(runner_.threads().wait_of(thread()).pc);
  report("accumulator is touched before wgmma.wait_group",
         "the thread has written to registers of d between the product and this wait", wait, "wait",
         runner_.pc_offset(p.pc), "wgmma", thread().linear);
}

}  // namespace ridge::simt
