#include "warp_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace ridge::viz {
namespace {

template <class F>
void for_lanes(std::uint32_t lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(std::countr_zero(lanes)));
}

// Lanes with the same address are served in separate rounds, so a sector counts as often as its most frequent address.
std::uint64_t atomic_rounds(const WarpRequest& r) {
  std::map<std::uint64_t, std::map<std::uint64_t, std::uint64_t>> by_sector;
  for_lanes(r.lanes, [&](unsigned l) { ++by_sector[r.address[l] / kSectorBytes][r.address[l]]; });
  std::uint64_t rounds = 0;
  for (const auto& [sector, addresses] : by_sector) {
    std::uint64_t most = 0;
    for (const auto& [address, times] : addresses) most = std::max(most, times);
    rounds += most;
  }
  return rounds;
}

bool is_atomic(WarpOp op) { return op == WarpOp::global_red || op == WarpOp::global_atom || op == WarpOp::shared_atom; }

bool pairs_agree(const WarpRequest& r, unsigned bit) {
  bool agree = true;
  for_lanes(r.lanes, [&](unsigned l) {
    const unsigned other = l ^ bit;
    if ((r.lanes >> other & 1) != 0) agree = agree && r.address[l] == r.address[other];
  });
  return agree;
}

// The distance in bytes between neighbouring active lanes, if it is always the same.
std::optional<std::int64_t> stride_of(const WarpRequest& r) {
  std::optional<std::int64_t> stride;
  int before = -1;
  bool regular = true;
  for_lanes(r.lanes, [&](unsigned l) {
    if (before >= 0) {
      const auto lanes = static_cast<std::int64_t>(l) - before;
      const auto by =
          static_cast<std::int64_t>(r.address[l]) - static_cast<std::int64_t>(r.address[static_cast<unsigned>(before)]);
      if (by % lanes != 0 || (stride && *stride != by / lanes)) regular = false;
      stride = by / lanes;
    }
    before = static_cast<int>(l);
  });
  return regular ? stride : std::nullopt;
}

std::string bytes_words(std::int64_t bytes) {
  const std::int64_t b = std::abs(bytes);
  return b == 1 ? "1 byte" : fmt::format("{} bytes", b);
}

std::string counted(std::uint64_t n, const char* one) { return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s"); }

std::string who(const WarpRequest& r) {
  const int lanes = std::popcount(r.lanes);
  return lanes == 32 ? "All 32 lanes" : lanes == 1 ? "One lane" : fmt::format("{} of 32 lanes", lanes);
}

std::string explain_global(const WarpRequest& r) {
  const GlobalPicture p = global_picture(r);
  const std::string cost = fmt::format("{} where {} would do", counted(p.count, "sector"), p.ideal);
  if (is_atomic(r.op)) {
    std::set<std::uint64_t> places;
    for_lanes(r.lanes, [&](unsigned l) { places.insert(r.address[l]); });
    if (places.size() == 1 && std::popcount(r.lanes) > 1)
      return fmt::format("{} add to the same address: the additions take {} rounds.", who(r), p.count);
    return fmt::format("{} update {}: {}, counting one round for each lane that shares an address.", who(r),
                       places.size() == 1 ? "1 address" : fmt::format("{} addresses", places.size()),
                       counted(p.count, "sector"));
  }
  if (std::popcount(r.lanes) == 1)
    return fmt::format("One lane of 32 asks for {}: a whole sector of 32 bytes is moved for it.", bytes_words(r.size));
  const auto stride = stride_of(r);
  if (stride && *stride == 0)
    return fmt::format("{} want the same {}: one sector serves them all.", who(r), bytes_words(r.size));
  if (p.count <= p.ideal) {
    if (stride && std::abs(*stride) == static_cast<std::int64_t>(r.size))
      return fmt::format("{}, each {} behind its neighbour: {}, and every byte that is moved is used.", who(r),
                         bytes_words(r.size), counted(p.count, "full sector"));
    return fmt::format("The lanes' bytes fill {}: no fewer would do.", counted(p.count, "sector"));
  }
  if (stride && std::abs(*stride) == static_cast<std::int64_t>(r.size)) {
    const std::uint64_t into = r.address[static_cast<unsigned>(std::countr_zero(r.lanes))] % kSectorBytes;
    return fmt::format("Neighbouring lanes are neighbours in memory, but the first begins {} into a sector: {}.",
                       bytes_words(static_cast<std::int64_t>(into)), cost);
  }
  const std::uint64_t moved = p.sectors.size() * kSectorBytes;
  const std::string used = fmt::format("Of the {} bytes moved, {} are used.", moved, p.used_bytes);
  if (stride)
    return fmt::format("Neighbouring lanes are {} apart{}: {}. {}", bytes_words(*stride),
                       *stride < 0 ? ", downwards" : "", cost, used);
  return fmt::format("The lanes' addresses follow no single step: {}. {}", cost, used);
}

std::string explain_shared(const WarpRequest& r) {
  const SharedPicture p = shared_picture(r);
  const std::size_t waves = p.wavefronts.size();
  const std::string parts =
      r.size > 4 ? fmt::format(" ({}-byte accesses go in parts of {} lanes)", r.size, p.part_lanes) : "";
  const auto stride = stride_of(r);
  if (stride && *stride == 0 && std::popcount(r.lanes) > 1)
    return fmt::format("{} {} the same word: one wavefront, a broadcast. No conflict.", who(r),
                       r.op == WarpOp::shared_store ? "write" : "read");
  if (p.conflicts == 0)
    return fmt::format("No bank has two different words to serve at a time: {}{}, no conflict.",
                       counted(waves, "wavefront"), parts);
  const std::string cost = fmt::format("{} where {} would do{}", counted(waves, "wavefront"), p.parts, parts);
  if (stride && *stride % 4 == 0 && *stride != 0) {
    const std::int64_t words = std::abs(*stride) / 4;
    if (words % kBanks == 0)
      return fmt::format(
          "Neighbouring lanes are {} words apart, a multiple of the 32 banks: all want bank {}. {}. "
          "One word of padding in a row would spread them.",
          words, p.worst_bank, cost);
    return fmt::format("Neighbouring lanes are {} words apart: only every {}th bank has work. {}.", words,
                       std::gcd(words, std::int64_t{kBanks}), cost);
  }
  return fmt::format("Bank {} has the most different words to serve, one after another: {}.", p.worst_bank, cost);
}

}  // namespace

GlobalPicture global_picture(const WarpRequest& r) {
  GlobalPicture p;
  std::map<std::uint64_t, SectorUse> sectors;
  std::set<std::uint64_t> starts;
  for_lanes(r.lanes, [&](unsigned l) {
    starts.insert(r.address[l]);
    for (std::uint64_t b = r.address[l]; b < r.address[l] + r.size; ++b) {
      SectorUse& s = sectors[b / kSectorBytes];
      s.sector = b / kSectorBytes;
      s.lanes |= 1u << l;
      s.bytes |= 1u << (b % kSectorBytes);
    }
  });
  for (const auto& [sector, use] : sectors) {
    p.sectors.push_back(use);
    p.used_bytes += static_cast<std::uint64_t>(std::popcount(use.bytes));
    if (p.lines.empty() || p.lines.back() != sector / 4) p.lines.push_back(sector / 4);
  }
  p.count = is_atomic(r.op) ? atomic_rounds(r) : p.sectors.size();
  p.ideal = (starts.size() * r.size + kSectorBytes - 1) / kSectorBytes;
  return p;
}

SharedPicture shared_picture(const WarpRequest& r) {
  SharedPicture p;
  unsigned parts = r.size <= 4 ? 1 : r.size / 4;
  if (parts > 1 && r.op == WarpOp::shared_load && (pairs_agree(r, 1) || pairs_agree(r, 2))) parts /= 2;
  p.part_lanes = kLanes / parts;
  std::size_t deepest = 0;
  for (unsigned part = 0; part < parts; ++part) {
    std::map<unsigned, std::map<std::uint64_t, std::uint32_t>> banks;
    for_lanes(r.lanes, [&](unsigned l) {
      if (l / p.part_lanes != part) return;
      for (std::uint64_t w = r.address[l] / 4; w <= (r.address[l] + r.size - 1) / 4; ++w)
        banks[static_cast<unsigned>(w % kBanks)][w] |= 1u << l;
    });
    if (banks.empty()) continue;
    ++p.parts;
    std::size_t depth = 0;
    for (const auto& [bank, words] : banks) {
      depth = std::max(depth, words.size());
      if (words.size() > deepest) {
        deepest = words.size();
        p.worst_bank = bank;
      }
    }
    const std::size_t first = p.wavefronts.size();
    p.wavefronts.resize(first + depth);
    for (std::size_t i = 0; i < depth; ++i) p.wavefronts[first + i].part = part;
    for (const auto& [bank, words] : banks) {
      std::size_t wave = first;
      for (const auto& [word, lanes] : words) p.wavefronts[wave++].cells.push_back({bank, word, lanes});
    }
  }
  p.conflicts = p.wavefronts.size() - p.parts;
  return p;
}

bool consistent(const WarpRequest& r) {
  if (!is_global(r.op)) {
    const SharedPicture p = shared_picture(r);
    return p.wavefronts.size() == r.wavefronts && p.conflicts == r.conflicts;
  }
  const GlobalPicture p = global_picture(r);
  return p.count == r.sectors && p.ideal == r.ideal_sectors;
}

std::string explain(const WarpRequest& r) { return is_global(r.op) ? explain_global(r) : explain_shared(r); }

std::string explain_lanes(std::uint32_t lanes, std::uint32_t all) {
  const int on = std::popcount(lanes), of = std::popcount(all);
  if (lanes == all) return fmt::format("All {} lanes go this way together.", of);
  if (on == 0) return "No lane goes this way.";
  return fmt::format("{} of {} lanes {} this way; the other {} wait until {} done. {:.0f}% of the warp works.", on, of,
                     on == 1 ? "goes" : "go", of - on, on == 1 ? "it is" : "they are", 100.0 * on / of);
}

const WarpMemory* memory_of(const WarpKernel& k, const WarpRequest& r) {
  if (r.memory >= 0 && r.memory < static_cast<int>(k.memory.size()))
    return &k.memory[static_cast<std::size_t>(r.memory)];
  const std::uint64_t at = r.address[static_cast<unsigned>(std::countr_zero(r.lanes)) % kLanes];
  for (const WarpMemory& m : k.memory)
    if (m.argument < 0 && !m.name.empty() && m.shared == !is_global(r.op) && at >= m.begin && at - m.begin < m.bytes)
      return &m;
  return nullptr;
}

std::string element_name(const WarpKernel& k, const WarpRequest& r, unsigned lane) {
  const WarpMemory* m = memory_of(k, r);
  if (m == nullptr || r.address[lane] < m->begin) return {};
  const std::uint64_t offset = r.address[lane] - m->begin;
  const std::string name = m->name.empty() ? "memory" : m->name;
  return offset % r.size == 0 ? fmt::format("{}[{}]", name, offset / r.size) : fmt::format("{} + {} B", name, offset);
}

}  // namespace ridge::viz
