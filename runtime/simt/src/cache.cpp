#include "cache.hpp"

#include <algorithm>
#include <bit>

namespace ridge::simt {

namespace {
constexpr unsigned kLineSectors = 4;
constexpr std::size_t kLineBytes = kLineSectors * kSectorBytes;
constexpr unsigned kL1Ways = 4, kL2Ways = 16;
constexpr std::size_t kL2Bytes = std::size_t{50} << 20;
}  // namespace

SectorCache::SectorCache(std::size_t bytes, unsigned ways)
    : sets_(std::max<std::size_t>(1, bytes / kLineBytes / ways)), ways_a_set_(ways) {
  ways_.resize(sets_ * ways);
  clear();
}

void SectorCache::clear() {
  std::fill(ways_.begin(), ways_.end(), Way{0, 0, 0, 0});
  clock_ = 0;
}

unsigned SectorCache::touch(std::uint64_t line, unsigned mask, unsigned dirty) {
  Way* set = set_of(line);
  Way* oldest = set;
  for (Way* w = set; w != set + ways_a_set_; ++w) {
    if (w->valid != 0 && w->line == line) {
      unsigned missing = mask & ~static_cast<unsigned>(w->valid);
      w->valid |= static_cast<std::uint8_t>(mask);
      w->dirty |= static_cast<std::uint8_t>(dirty);
      w->used = ++clock_;
      return missing;
    }
    if (w->used < oldest->used) oldest = w;
  }
  written_back_ += static_cast<std::uint64_t>(std::popcount(oldest->dirty));
  *oldest = {line, ++clock_, static_cast<std::uint8_t>(mask), static_cast<std::uint8_t>(dirty)};
  return mask;
}

unsigned SectorCache::present(std::uint64_t line, unsigned mask) const {
  const Way* set = const_cast<SectorCache*>(this)->set_of(line);
  for (const Way* w = set; w != set + ways_a_set_; ++w)
    if (w->line == line) return mask & w->valid;
  return 0;
}

L2Model& L2Model::instance() {
  static L2Model model;
  return model;
}

L2Model::L2Model() : cache_(kL2Bytes, kL2Ways) {}

void L2Model::begin_launch() {
  std::lock_guard lock(mutex_);
  waiting_.clear();
  next_ = l2_bytes_ = dram_bytes_ = 0;
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
  std::uint64_t before = cache_.written_back();
  std::uint64_t missed = 0;
  for (const L2Access& a : accesses) {
    l2_bytes_ += static_cast<std::uint64_t>(std::popcount(a.mask)) * kSectorBytes;
    unsigned missing = cache_.touch(a.line, a.mask, a.write ? a.mask : 0);
    if (!a.write) missed += static_cast<std::uint64_t>(std::popcount(missing));  // whole sectors written are not fetched
  }
  dram_bytes_ += (missed + cache_.written_back() - before) * kSectorBytes;
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
  for (unsigned i = 0; i < sectors.count;) {
    std::uint64_t line = sectors.index[i] / kLineSectors;
    unsigned mask = 0;
    for (; i < sectors.count && sectors.index[i] / kLineSectors == line; ++i)
      mask |= 1u << (sectors.index[i] % kLineSectors);
    // Stores go through to L2, and so do atomics, which L2 performs.
    bool write = op != Op::global_load;
    unsigned down = write ? mask : l1_.touch(line, mask, 0);
    if (down != 0) out_.push_back({line, static_cast<std::uint8_t>(down), write});
  }
}

void CacheModel::end_block(std::uint64_t index, KernelCounters& counters) {
  counters.l1_bytes += l1_bytes_;
  l1_bytes_ = 0;
  std::vector<L2Access> next;
  next.reserve(out_.size());
  std::swap(next, out_);
  L2Model::instance().block_done(index, std::move(next));
}

}  // namespace ridge::simt
