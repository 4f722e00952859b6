#include "count/cache.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "device/device_profile.hpp"
#include "device/devices.hpp"

namespace ridge::simt {

namespace {
constexpr unsigned kLineSectors = 4;
constexpr std::size_t kLineBytes = kLineSectors * kSectorBytes;
constexpr unsigned kL1Ways = 4, kL2Ways = 16;
// Each half of the GPU caches what its SMs use, so that much is there twice. Measured: a fill of 134 MB on an H200
// (50 MB of L2) leaves 27 MB unwritten (benchmarks/fidelity).
constexpr double kL2Share = 0.55;

std::uint64_t count(unsigned mask) { return static_cast<std::uint64_t>(std::popcount(mask)); }
unsigned both_of_pairs(unsigned mask) { return (mask | (mask << 1 & 0xA) | (mask >> 1 & 0x5)) & 0xF; }
}  // namespace

SectorCache::SectorCache(std::size_t bytes, unsigned ways)
    : sets_(std::max<std::size_t>(1, bytes / kLineBytes / ways)), ways_a_set_(ways) {
  ways_.resize(sets_ * ways);
  clear();
}

void SectorCache::clear() {
  std::fill(ways_.begin(), ways_.end(), Way{});
  clock_ = 0;
}

SectorCache::Way& SectorCache::touch(std::uint64_t line, Way& evicted) {
  Way* set = &ways_[(line * 0x9E3779B97F4A7C15ull >> 32) % sets_ * ways_a_set_];
  Way* oldest = set;
  for (Way* w = set; w != set + ways_a_set_; ++w) {
    if (w->used != 0 && w->line == line) {
      w->used = ++clock_;
      return *w;
    }
    if (w->used < oldest->used) oldest = w;
  }
  evicted = *oldest;
  *oldest = Way{line, ++clock_, 0, 0, {}};
  return *oldest;
}

L2Model& L2Model::of(int device) {
  static auto* models = new std::array<L2Model*, kMaxDevices>{};
  L2Model*& model = (*models)[static_cast<std::size_t>(device)];
  if (model == nullptr) model = new L2Model;
  return *model;
}

L2Model::L2Model() : cache_(static_cast<std::size_t>(device_profile().l2_bytes * kL2Share), kL2Ways) {}

void L2Model::begin_launch() {
  std::lock_guard lock(mutex_);
  waiting_.clear();
  next_ = l2_sectors_ = dram_sectors_ = link_read_ = link_written_ = 0;
}

void L2Model::block_done(std::uint64_t index, std::vector<L2Access>&& accesses) {
  std::lock_guard lock(mutex_);
  if (index != next_) {
    waiting_.emplace(index, std::move(accesses));
    return;
  }
  replay(accesses);
  ++next_;
  for (auto at = waiting_.begin(); at != waiting_.end() && at->first == next_; at = waiting_.erase(at), ++next_)
    replay(at->second);
}

void L2Model::replay(const std::vector<L2Access>& accesses) {
  for (const L2Access& a : accesses) {
    if (a.line >= kHostMemory / kLineBytes) {
      (a.write ? link_written_ : link_read_) += count(a.mask);
      continue;
    }
    l2_sectors_ += count(a.mask);
    SectorCache::Way evicted{};
    SectorCache::Way& w = cache_.touch(a.line, evicted);
    // Written back whole: what was not written is fetched first.
    dram_sectors_ += count(evicted.dirty);
    unsigned unfilled = 0;
    for (unsigned s = 0; s < kLineSectors; ++s)
      if ((evicted.dirty & ~evicted.valid) >> s & 1) unfilled |= evicted.covered[s] < kSectorBytes ? 1u << s : 0u;
    dram_sectors_ += count(both_of_pairs(unfilled));

    if (!a.write) {
      unsigned missing = a.mask & ~static_cast<unsigned>(w.valid);
      for (unsigned s = 0; s < kLineSectors; ++s)
        if (((missing & w.dirty) >> s & 1) != 0 && w.covered[s] >= kSectorBytes) missing &= ~(1u << s);
      unsigned fetched = both_of_pairs(missing) & ~static_cast<unsigned>(w.valid);
      dram_sectors_ += count(fetched);
      w.valid |= static_cast<std::uint8_t>(fetched | a.mask);
      continue;
    }
    w.dirty |= a.mask;
    for (unsigned s = 0; s < kLineSectors; ++s)
      w.covered[s] = static_cast<std::uint8_t>(std::min<unsigned>(kSectorBytes, w.covered[s] + a.covered[s]));
  }
}

CacheModel::CacheModel() : l1_(0, kL1Ways) {}

void CacheModel::begin_block(std::size_t l1_bytes) {
  if (size_ != l1_bytes) {
    l1_ = SectorCache(l1_bytes, kL1Ways);
    size_ = l1_bytes;
  } else {
    l1_.clear();
  }
}

void CacheModel::request(const Sectors& sectors, Op op) {
  l1_bytes_ += std::uint64_t{sectors.count} * kSectorBytes;
  for (unsigned i = 0; i < sectors.count; ++lines_) {
    L2Access a{sectors.index[i] / kLineSectors, 0, op != Op::global_load, {}};
    for (; i < sectors.count && sectors.index[i] / kLineSectors == a.line; ++i) {
      unsigned s = sectors.index[i] % kLineSectors;
      a.mask |= static_cast<std::uint8_t>(1u << s);
      // Atomics are performed in L2, which has the whole sector then.
      if (a.write) a.covered[s] = op == Op::global_store ? sectors.covered[i] : std::uint8_t{kSectorBytes};
    }
    if (!a.write) {
      SectorCache::Way evicted{};
      SectorCache::Way& w = l1_.touch(a.line, evicted);
      unsigned missing = a.mask & ~static_cast<unsigned>(w.valid);
      w.valid |= a.mask;
      a.mask = static_cast<std::uint8_t>(missing);
    }
    if (a.mask != 0) out_.push_back(a);
  }
}

void CacheModel::bulk(std::uint64_t address, std::uint64_t bytes, bool write) {
  const std::uint64_t end = address + bytes;
  while (address < end) {
    L2Access a{address / kLineBytes, 0, write, {}};
    for (; address < end && address / kLineBytes == a.line;) {
      const std::uint64_t sector = address / kSectorBytes, next = std::min(end, (sector + 1) * kSectorBytes);
      a.mask |= static_cast<std::uint8_t>(1u << sector % kLineSectors);
      if (write) a.covered[sector % kLineSectors] = static_cast<std::uint8_t>(next - address);
      address = next;
    }
    out_.push_back(a);
  }
}

void CacheModel::end_block(std::uint64_t index, KernelCounters& counters, L2Model& l2) {
  counters.l1_bytes += l1_bytes_;
  counters.l1_lines += lines_;
  l1_bytes_ = lines_ = 0;
  std::vector<L2Access> next;
  next.reserve(out_.size());
  std::swap(next, out_);
  l2.block_done(index, std::move(next));
}

}  // namespace ridge::simt
