// Task `save`: the states that are saved, and a reader of the judge's own.
#pragma once
#include <fmt/format.h>

#include <algorithm>

#include "../save.hpp"
#include "../save_plan.hpp"
#include "checks/fill.hpp"
#include "checks/one_way.hpp"
#include "sweep.hpp"

namespace ridge::lab::resilience::saved {

using ridge::files::Bytes;
using ridge::files::Disk;

// The state of a save.
inline Bytes state_of(const Case& c, int save, int disk = -1) {
  Bytes b(static_cast<std::size_t>(c.size[0]));
  const std::uint64_t seed = one_way_seed(c.secret, "state", static_cast<std::uint64_t>(100 * (disk + 1) + save));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<char>(random_bits(seed, i) >> 19);
  return b;
}

inline long long begin_of(const Case& c, int rank) { return part_begin(c.size[0], rank, static_cast<int>(c.size[1])); }

inline std::vector<Part> parts_of(const Case& c, const Bytes& state) {
  std::vector<Part> parts;
  for (int r = 0; r < c.size[1]; ++r)
    parts.push_back(
        {begin_of(c, r + 1) - begin_of(c, r),
         hash_of(state.data() + begin_of(c, r), static_cast<std::size_t>(begin_of(c, r + 1) - begin_of(c, r)))});
  return parts;
}

// The newest checkpoint that the manifest names, if all that it names are whole, and it names two where there were two.
struct Reader {
  const Case& c;
  std::vector<Bytes> states;

  explicit Reader(const Case& of) : c(of) {
    for (int s = 0; s < kSaves; ++s) states.push_back(state_of(c, s));
  }
  static bool named(const Disk& disk, std::vector<Checkpoint>& all, std::string& why) {
    const Bytes* bytes = find(disk, kManifest);
    if (bytes == nullptr) why = "there is no manifest";
    if (bytes == nullptr || unpack({bytes->begin(), bytes->end()}, all)) return bytes != nullptr;
    why = "the manifest is torn";
    return false;
  }
  // The save whose state it is, or -1.
  int whole(const Disk& disk, const Checkpoint& k, std::string& why) const {
    int save = -1;
    for (int s = 0; s < kSaves; ++s)
      if (step_of(s) == k.step) save = s;
    if (save < 0 || k.parts.size() != static_cast<std::size_t>(c.size[1])) {
      why = fmt::format("the manifest names step {} with {} parts", k.step, k.parts.size());
      return -1;
    }
    for (int r = 0; r < c.size[1]; ++r) {
      const Bytes* part = find(disk, part_path(k.step, r));
      const Bytes& state = states[static_cast<std::size_t>(save)];
      const Bytes right(state.begin() + begin_of(c, r), state.begin() + begin_of(c, r + 1));
      const Part& says = k.parts[static_cast<std::size_t>(r)];
      if (part != nullptr && *part == right && says.bytes == static_cast<std::int64_t>(right.size()) &&
          says.hash == hash_of(right.data(), right.size()))
        continue;
      why = fmt::format("of step {} rank {}'s part {}", k.step, r,
                        part == nullptr ? std::string("is not there")
                        : *part == right
                            ? std::string("has another length or hash in the manifest")
                            : fmt::format("is not whole ({} bytes, expected {})", part->size(), right.size()));
      return -1;
    }
    return save;
  }
  Found operator()(const Disk& disk) const {
    std::vector<Checkpoint> all;
    Found found;
    if (!named(disk, all, found.why)) return found;
    for (const Checkpoint& k : all) {
      const int save = whole(disk, k, found.why);
      if (save < 0) return found.save = -1, found;
      if (&k == &all.front()) found.save = save;
    }
    if (static_cast<int>(all.size()) < std::min(kKept, found.save + 1))
      found = {-1, fmt::format("the manifest names {} checkpoint{}", all.size(), all.size() == 1 ? "" : "s")};
    return found;
  }
};

}  // namespace ridge::lab::resilience::saved
