#include "count/requests.hpp"

#include <algorithm>
#include <bit>

#include "count/warp_log.hpp"

namespace ridge::simt {

const char* op_name(Op op) {
  constexpr const char* names[kOps] = {"global_ld", "global_st", "global_red", "global_atom",
                                       "shared_ld", "shared_st", "shared_atom"};
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
  step_min = std::min(step_min, o.step_min);
  step_max = std::max(step_max, o.step_max);
}

void KernelCounters::add(const KernelCounters& other) {
  for (std::size_t i = 0; i < kOps; ++i) op[i].add(other.op[i]);
  constexpr std::uint64_t KernelCounters::*kSums[] = {&KernelCounters::barriers,
                                                      &KernelCounters::warp_operations,
                                                      &KernelCounters::blocks,
                                                      &KernelCounters::warps,
                                                      &KernelCounters::warp_basic_blocks,
                                                      &KernelCounters::lane_basic_blocks,
                                                      &KernelCounters::warp_instructions,
                                                      &KernelCounters::load_waits,
                                                      &KernelCounters::fp32,
                                                      &KernelCounters::fp64,
                                                      &KernelCounters::special,
                                                      &KernelCounters::matrix,
                                                      &KernelCounters::l1_bytes,
                                                      &KernelCounters::l2_bytes,
                                                      &KernelCounters::dram_bytes,
                                                      &KernelCounters::l1_lines,
                                                      &KernelCounters::lane_instructions,
                                                      &KernelCounters::memory_barriers,
                                                      &KernelCounters::constant_requests,
                                                      &KernelCounters::constant_turns,
                                                      &KernelCounters::local_loads,
                                                      &KernelCounters::local_stores,
                                                      &KernelCounters::lane_local_loads,
                                                      &KernelCounters::lane_local_stores,
                                                      &KernelCounters::link_read,
                                                      &KernelCounters::link_written};
  for (auto sum : kSums) this->*sum += other.*sum;
  longest_thread = std::max(longest_thread, other.longest_thread);
  async.add(other.async);
  for (const auto& [key, count] : other.line) line[key].add(count);
  for (const auto& [at, turns] : other.atomics) atomics[at] += turns;
  if (other.warp != nullptr && warp != nullptr)
    warp->merge(*other.warp);
  else if (other.warp != nullptr)
    warp = other.warp;
}

std::uint64_t KernelCounters::busiest_atomic_line() const {
  std::uint64_t most = 0;
  for (const auto& [at, turns] : atomics) most = std::max(most, turns);
  return most;
}

namespace {

template <class F>
void for_lanes(std::uint32_t lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(std::countr_zero(lanes)));
}

// Appends to a list that is usually ascending; sort_unique() makes it so.
template <unsigned Capacity>
struct List {
  std::uint64_t value[Capacity];
  unsigned size = 0;
  bool ascending = true;

  void add(std::uint64_t v) {
    if (size != 0) {
      if (v == value[size - 1]) return;
      ascending &= v > value[size - 1];
    }
    value[size++] = v;
  }
  unsigned sort_unique() {
    if (!ascending) {
      std::sort(value, value + size);
      size = static_cast<unsigned>(std::unique(value, value + size) - value);
      ascending = true;
    }
    return size;
  }
};

// Lanes with one address take turns: a sector counts as often as its most frequent address. On an H200 histograms of
// random keys count up to 1.8% more (benchmarks/fidelity), by a rule that is not known.
std::uint64_t atomic_sectors(const Request& r) {
  std::uint64_t sum = 0;
  std::uint32_t left = r.lanes;
  while (left != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t sector = r.address[first] / kSectorBytes;
    unsigned most = 0, times[kSectorBytes] = {};
    for_lanes(left, [&](unsigned l) {
      if (r.address[l] / kSectorBytes != sector) return;
      most = std::max(most, ++times[r.address[l] % kSectorBytes]);
      left &= ~(1u << l);
    });
    sum += most;
  }
  return sum;
}

// Bytes that a store writes of each sector.
void cover(const Request& r, Sectors& out) {
  std::uint32_t bytes[2 * kWarpSize] = {};  // a bit each
  unsigned at = 0;
  for_lanes(r.lanes, [&](unsigned l) {
    const std::uint64_t sector = r.address[l] / kSectorBytes;
    while (out.index[at] != sector) at = at + 1 == out.count ? 0 : at + 1;
    const std::uint64_t run = (std::uint64_t{1} << r.bytes()) - 1;
    bytes[at] |= static_cast<std::uint32_t>(run << (r.address[l] % kSectorBytes));
  });
  for (unsigned i = 0; i < out.count; ++i) out.covered[i] = static_cast<std::uint8_t>(std::popcount(bytes[i]));
}

void count_global(const Request& r, AccessCount& c, Sectors& out) {
  const unsigned bytes = r.bytes();
  List<2 * kWarpSize> sectors;
  List<kWarpSize> starts;
  for_lanes(r.lanes, [&](unsigned l) {
    sectors.add(r.address[l] / kSectorBytes);
    sectors.add((r.address[l] + bytes - 1) / kSectorBytes);
    starts.add(r.address[l]);
  });
  c.sectors = out.count = sectors.sort_unique();
  if (r.op() == Op::global_red || r.op() == Op::global_atom) c.sectors = atomic_sectors(r);
  std::copy(sectors.value, sectors.value + sectors.size, out.index);
  if (r.op() == Op::global_store) cover(r, out);
  c.ideal_sectors = (std::uint64_t{starts.sort_unique()} * bytes + kSectorBytes - 1) / kSectorBytes;
}

// Distinct 4-byte words of lanes in `lanes`, and the largest number of them in one bank.
struct Banks {
  unsigned words = 0, depth = 0;
};
Banks count_banks(const Request& r, std::uint32_t lanes) {
  const unsigned bytes = r.bytes();
  List<5 * kWarpSize> words;
  for_lanes(lanes, [&](unsigned l) {
    for (std::uint64_t w = r.address[l] / 4; w <= (r.address[l] + bytes - 1) / 4; ++w) words.add(w);
  });
  Banks b;
  b.words = words.sort_unique();
  if (b.words != 0 && words.value[b.words - 1] - words.value[0] == b.words - 1) {  // one run of words
    b.depth = (b.words + kBanks - 1) / kBanks;
    return b;
  }
  unsigned depth[kBanks] = {};
  for (unsigned i = 0; i < b.words; ++i) b.depth = std::max(b.depth, ++depth[words.value[i] % kBanks]);
  return b;
}

// True where every active lane reads the same address as the lane whose number differs by `bit`.
bool pairs_agree(const Request& r, unsigned bit) {
  bool agree = true;
  for_lanes(r.lanes, [&](unsigned l) {
    unsigned other = l ^ bit;
    if ((r.lanes >> other & 1) != 0) agree &= r.address[l] == r.address[other];
  });
  return agree;
}

// Lanes take turns in parts: all 32 of them for accesses of up to 4 bytes, 16 for 8 bytes, 8 for 16 bytes. Loads whose
// neighbouring lanes read the same addresses need half as many parts. Measured on an H200: benchmarks/fidelity.
void count_shared(const Request& r, AccessCount& c) {
  unsigned parts = r.bytes() <= 4 ? 1 : r.bytes() / 4;
  if (parts > 1 && r.op() == Op::shared_load && (pairs_agree(r, 1) || pairs_agree(r, 2))) parts /= 2;
  const unsigned lanes = kWarpSize / parts;
  std::uint64_t used = 0;
  for (unsigned p = 0; p < parts; ++p) {
    std::uint32_t part = r.lanes & static_cast<std::uint32_t>(((std::uint64_t{1} << lanes) - 1) << (p * lanes));
    if (part == 0) continue;
    c.wavefronts += count_banks(r, part).depth;
    ++used;
  }
  c.conflicts = c.wavefronts - used;
}

}  // namespace

namespace {

bool is_load(Op op) { return op == Op::global_load || op == Op::shared_load || op == Op::constant_load; }

// True if both belong to the same vectors in the same basic block.
bool belong_together(const Request& a, const Request& b) {
  if (!b.is_member() || a.bytes() != b.bytes() || a.op() != b.op() || a.is_aligned_member() != b.is_aligned_member() ||
      a.block_of_member() != b.block_of_member())
    return false;
  bool same = true;
  const std::uint64_t apart = (std::uint64_t{b.member()} - a.member()) * a.bytes();
  for_lanes(a.lanes, [&](unsigned l) { same &= b.address[l] - a.address[l] == apart; });
  return same;
}

// The `n` members from `first` on become one request, where all are there and every lane's are aligned.
bool join(Request* const* members, unsigned first, unsigned n) {
  for (unsigned k = first; k < first + n; ++k)
    if (members[k] == nullptr || members[k]->lanes == 0) return false;
  Request& low = *members[first];
  const unsigned bytes = n * low.bytes();
  bool aligned = true;
  for_lanes(low.lanes, [&](unsigned l) { aligned &= low.address[l] % bytes == 0; });
  if (!aligned) return false;
  Request* earliest = *std::min_element(members + first, members + first + n);
  const std::uint64_t where = Request::pack(earliest->pc(), 0, bytes, low.op());
  const std::uint32_t lanes = low.lanes;
  if (earliest != &low) std::copy(std::begin(low.address), std::end(low.address), earliest->address);
  for (unsigned k = first; k < first + n; ++k) members[k]->lanes = 0;
  earliest->lanes = lanes;
  earliest->where = where;
  return true;
}

// Gives the request of an aligned object's member its index. Where lanes differ in it, they index an array, and the
// request stands alone.
void number_member(Request& r) {
  constexpr std::uint64_t kPart = std::uint64_t{0xFFFF} << 16, kIndex = std::uint64_t{3} << 29;
  const auto index_of = [&](unsigned l) { return r.address[l] % r.alignment() / r.bytes(); };
  const std::uint64_t index = index_of(static_cast<unsigned>(std::countr_zero(r.lanes)));
  bool same = true;
  for_lanes(r.lanes, [&](unsigned l) { same &= index_of(l) == index; });
  r.where = same ? (r.where & ~kIndex) | index << 29 : r.where & ~kPart;
}

}  // namespace

void merge_members(Request* requests, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (requests[i].is_aligned_member() && requests[i].lanes != 0) number_member(requests[i]);
  constexpr std::size_t kReach = 64;  // requests that may lie between
  for (std::size_t i = 0; i < count; ++i) {
    Request& r = requests[i];
    if (!r.is_member() || r.lanes == 0) continue;
    Request* members[4] = {};
    members[r.member()] = &r;
    const bool load = is_load(r.op());
    for (std::size_t k = i + 1; k < std::min(count, i + kReach); ++k) {
      Request& next = requests[k];
      if (next.lanes == 0) continue;
      if (next.path != r.path || next.lanes != r.lanes) break;
      if (belong_together(r, next)) {
        if (members[next.member()] == nullptr) members[next.member()] = &next;
      } else if (!load || !is_load(next.op())) {
        break;  // no compiler moves the access past that
      }
    }
    if (r.bytes() == 4 && join(members, 0, 4)) continue;
    join(members, 0, 2);
    if (r.bytes() == 4) join(members, 2, 2);
  }
}

std::uint64_t distinct_addresses(const Request& r) {
  List<kWarpSize> starts;
  for_lanes(r.lanes, [&](unsigned l) { starts.add(r.address[l]); });
  return starts.sort_unique();
}

AccessCount count_request(const Request& r, Sectors& sectors) {
  AccessCount c;
  c.requests = 1;
  c.lanes = static_cast<std::uint64_t>(std::popcount(r.lanes));
  c.bytes = c.lanes * r.bytes();
  if (const std::uint32_t pairs = r.lanes & (r.lanes >> 1); pairs != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(pairs));
    c.step_min = c.step_max = static_cast<std::int64_t>(r.address[first + 1] - r.address[first]);
  }
  sectors.count = 0;
  if (is_global(r.op()))
    count_global(r, c, sectors);
  else
    count_shared(r, c);
  return c;
}

}  // namespace ridge::simt
