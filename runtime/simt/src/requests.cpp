#include "requests.hpp"

#include <algorithm>

namespace ridge::simt {

const char* op_name(Op op) {
  constexpr const char* names[kOps] = {"global_ld", "global_st", "shared_ld", "shared_st"};
  return names[static_cast<std::size_t>(op)];
}

void AccessCount::add(const AccessCount& o) {
  requests += o.requests;
  lanes += o.lanes;
  bytes += o.bytes;
  sectors += o.sectors;
  ideal_sectors += o.ideal_sectors;
  wavefronts += o.wavefronts;
  conflicts += o.conflicts;
}

void KernelCounters::add(const KernelCounters& other) {
  for (std::size_t i = 0; i < kOps; ++i) op[i].add(other.op[i]);
  constexpr std::uint64_t KernelCounters::* kSums[] = {
      &KernelCounters::barriers,          &KernelCounters::warp_operations,   &KernelCounters::blocks,
      &KernelCounters::warps,             &KernelCounters::warp_basic_blocks, &KernelCounters::lane_basic_blocks,
      &KernelCounters::warp_instructions, &KernelCounters::fp32,              &KernelCounters::fp64,
      &KernelCounters::special,           &KernelCounters::matrix,            &KernelCounters::l1_bytes,
      &KernelCounters::l2_bytes,          &KernelCounters::dram_bytes};
  for (auto sum : kSums) this->*sum += other.*sum;
  for (const auto& [key, count] : other.line) line[key].add(count);
}

namespace {

// A set of at most 1024 small integers, made for runs of equal or rising values.
template <unsigned Capacity>
class SmallSet {
 public:
  void insert(std::uint64_t value) {
    if (size_ != 0 && values_[size_ - 1] == value) return;
    if (size_ != 0 && value < values_[size_ - 1]) sorted_ = false;
    values_[size_++] = value;
  }
  unsigned size() {
    if (!sorted_) std::sort(values_, values_ + size_);
    sorted_ = true;
    size_ = static_cast<unsigned>(std::unique(values_, values_ + size_) - values_);
    return size_;
  }
  const std::uint64_t* begin() const { return values_; }
  const std::uint64_t* end() const { return values_ + size_; }

 private:
  std::uint64_t values_[Capacity];
  unsigned size_ = 0;
  bool sorted_ = true;
};

void count_global(const Request& r, AccessCount& c) {
  SmallSet<2 * kWarpSize> sectors;
  SmallSet<kWarpSize> starts;
  for (unsigned i = 0; i < r.active; ++i) {
    std::uint64_t first = r.address[i] / kSectorBytes;
    std::uint64_t last = (r.address[i] + r.bytes - 1) / kSectorBytes;
    sectors.insert(first);
    if (last != first) sectors.insert(last);
    starts.insert(r.address[i]);
  }
  c.sectors = sectors.size();
  c.ideal_sectors = (static_cast<std::uint64_t>(starts.size()) * r.bytes + kSectorBytes - 1) / kSectorBytes;
}

// The largest number of distinct 4-byte words that fall into one bank, among lanes [from, to).
unsigned bank_depth(const Request& r, unsigned from, unsigned to, SmallSet<4 * kWarpSize>& all_words) {
  SmallSet<4 * kWarpSize> words;
  for (unsigned i = from; i < to; ++i)
    for (std::uint64_t w = r.address[i] / 4; w <= (r.address[i] + r.bytes - 1) / 4; ++w) words.insert(w);
  if (words.size() == 0) return 0;
  unsigned depth[kBanks] = {};
  for (std::uint64_t w : words) {
    ++depth[w % kBanks];
    all_words.insert(w);
  }
  return *std::max_element(depth, depth + kBanks);
}

// 4 bytes and below: one pass over 32 lanes. 8 and 16 bytes: two halves of 16 lanes.
void count_shared(const Request& r, AccessCount& c) {
  SmallSet<4 * kWarpSize> words;
  if (r.bytes <= 4) {
    c.wavefronts = bank_depth(r, 0, r.active, words);
  } else {
    auto half = static_cast<unsigned>(std::lower_bound(r.lane, r.lane + r.active, kWarpSize / 2) - r.lane);
    c.wavefronts = bank_depth(r, 0, half, words) + bank_depth(r, half, r.active, words);
    if (words.size() <= r.bytes / 4) c.wavefronts = 1;  // every lane reads one common address
  }
  std::uint64_t least = (words.size() + kBanks - 1) / kBanks;
  c.conflicts = c.wavefronts > least ? c.wavefronts - least : 0;
}

void record(const Request& r, std::uint32_t pc, KernelCounters& counters) {
  AccessCount c = count_request(r);
  auto op = static_cast<std::size_t>(r.op);
  counters.op[op].add(c);
  counters.line[std::uint64_t{pc} * kOps + op].add(c);
}

void add_lane(Request& r, unsigned lane, std::uint64_t address) {
  r.lane[r.active] = static_cast<std::uint8_t>(lane);
  r.address[r.active++] = address;
}

bool same_access(const Event& a, const Event& b) {
  return a.pc == b.pc && a.part == b.part && a.op == b.op && a.bytes == b.bytes;
}

// The usual case: every live lane did the same accesses in the same order.
bool merge_uniform(std::vector<Event>* lanes, unsigned n, KernelCounters& counters) {
  const std::vector<Event>* first = nullptr;
  for (unsigned l = 0; l < n; ++l) {
    if (lanes[l].empty()) continue;
    if (first == nullptr) {
      first = &lanes[l];
    } else {
      if (lanes[l].size() != first->size()) return false;
      for (std::size_t i = 0; i < first->size(); ++i)
        if (!same_access(lanes[l][i], (*first)[i])) return false;
    }
  }
  if (first == nullptr) return true;
  for (std::size_t i = 0; i < first->size(); ++i) {
    const Event& e = (*first)[i];
    Request r;
    r.active = 0;
    r.bytes = e.bytes;
    r.op = e.op;
    for (unsigned l = 0; l < n; ++l)
      if (!lanes[l].empty()) add_lane(r, l, lanes[l][i].address);
    record(r, e.pc, counters);
  }
  return true;
}

struct Key {
  std::uint64_t where;  // pc, part, op
  std::uint64_t repetition;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  std::size_t operator()(const Key& k) const {
    return std::hash<std::uint64_t>()(k.where * 0x9E3779B97F4A7C15ull ^ (k.repetition << 7));
  }
};

void merge_divergent(std::vector<Event>* lanes, unsigned n, KernelCounters& counters) {
  std::unordered_map<Key, std::size_t, KeyHash> index;
  std::vector<std::pair<std::uint32_t, Request>> requests;
  for (unsigned l = 0; l < n; ++l) {
    std::unordered_map<std::uint64_t, std::uint64_t> passed;
    for (const Event& e : lanes[l]) {
      std::uint64_t where = (std::uint64_t{e.pc} << 24) | (std::uint64_t{e.part} << 8) | (std::uint64_t{e.bytes} << 3) |
                            static_cast<std::uint64_t>(e.op);
      auto [at, fresh] = index.try_emplace(Key{where, passed[where]++}, requests.size());
      if (fresh) {
        requests.emplace_back(e.pc, Request{});
        requests.back().second.active = 0;
        requests.back().second.bytes = e.bytes;
        requests.back().second.op = e.op;
      }
      Request& r = requests[at->second].second;
      add_lane(r, l, e.address);
    }
  }
  for (const auto& [pc, r] : requests) record(r, pc, counters);
}

}  // namespace

AccessCount count_request(const Request& r) {
  AccessCount c;
  c.requests = 1;
  c.lanes = r.active;
  c.bytes = std::uint64_t{r.active} * r.bytes;
  if (r.op == Op::global_load || r.op == Op::global_store)
    count_global(r, c);
  else
    count_shared(r, c);
  return c;
}

void merge_warp(std::vector<Event>* lanes, unsigned lane_count, KernelCounters& counters) {
  if (!merge_uniform(lanes, lane_count, counters)) merge_divergent(lanes, lane_count, counters);
  for (unsigned l = 0; l < lane_count; ++l) lanes[l].clear();
}

}  // namespace ridge::simt
