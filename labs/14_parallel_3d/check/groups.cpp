// Coordinates, and the members and the communicator of each group, all ranks of a grid at once.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>

#include "common.hpp"

namespace ridge::lab::parallel_3d {

namespace {

constexpr std::array<const char*, 5> kNames = {"tensor", "data", "pipeline", "embedding", "model"};
constexpr std::size_t kFixed = 4 + 3 * kNames.size();  // ints of a rank before its members

class Groups : public TaskCheck {
 public:
  std::string id() const override { return "groups"; }
  // Sizes: data, pipeline, tensor.
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::int64_t d, std::int64_t p, std::int64_t t) {
      Case c;
      c.size = {d, p, t};
      c.name = fmt::format("data {}, pipeline {}, tensor {}", d, p, t);
      all.push_back(c);
    };
    add(2, 2, 2), add(1, 1, 1), add(2, 1, 4), add(1, 5, 1), add(3, 5, 2), add(5, 2, 3), add(4, 3, 1), add(1, 3, 7),
        add(8, 4, 8);
    if (r.mode == Mode::grade)
      for (std::uint64_t i = 0; i < 3; ++i) {
        Draw draw(random_bits(r.seed, i));
        add(draw.integer(2, 9), draw.integer(2, 7), draw.integer(2, 6));
      }
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t n = ranks_of(c);
    return {{}, {4 * n * (kFixed + room(c))}, 0};
  }
  void fill(const Case&, std::uint64_t, Buffers) const override {}
  Work work(const Case& c) const override { return {static_cast<double>(ranks_of(c)), "rank", 0, 0}; }

  Verdict verify(const Case& c, ConstBuffers, ConstBuffers out) const override {
    const Grid grid(c.size[0], c.size[1], c.size[2]);
    const auto all = as<std::int32_t>(out[0]);
    const std::size_t stride = kFixed + room(c);
    for (int r = 0; r < grid.ranks(); ++r) {
      const auto got = all.subspan(static_cast<std::size_t>(r) * stride, stride);
      const Grid::At& at = grid.at[static_cast<std::size_t>(r)];
      if (got[0] != at.data || got[1] != at.pipeline || got[2] != at.tensor)
        return {false, fmt::format("rank {}: coordinates (data, pipeline, tensor) are ({}, {}, {}), got ({}, {}, {}){}",
                                   r, at.data, at.pipeline, at.tensor, got[0], got[1], got[2], order(grid, r, got))};
      if (got[3] != r) return {false, fmt::format("rank_of(coordinates(rank {})) is {}, and not {}", r, got[3], r)};
      std::size_t listed = kFixed;
      for (std::size_t g = 0; g < kNames.size(); ++g) {
        const std::vector<int> right = members(grid, g, r);
        const int count = got[4 + 3 * g];
        if (count < 0 || count > grid.ranks())
          return {false, fmt::format("rank {}: its {} group cannot have {} members", r, kNames[g], count)};
        std::vector<int> list;
        for (std::size_t i = 0; i < std::min(static_cast<std::size_t>(count), right.size()); ++i)
          list.push_back(got[listed + i]);
        if (count != static_cast<int>(right.size()) || list != right)
          return {false, fmt::format("rank {}: its {} group has {} member{} {}, got {}: {}", r, kNames[g], right.size(),
                                     right.size() == 1 ? "" : "s", shown(right), count, shown(list))};
        listed += right.size();
      }
    }
    for (std::size_t g = 0; g < kNames.size(); ++g)
      if (Verdict v = communicators(grid, g, all, stride); !v.ok) return v;
    return {};
  }

 private:
  static std::size_t ranks_of(const Case& c) { return static_cast<std::size_t>(c.size[0] * c.size[1] * c.size[2]); }
  // Ints for the members of all groups of a rank, as in entry.cu.
  static std::size_t room(const Case& c) {
    return static_cast<std::size_t>(c.size[0] + c.size[1] + c.size[2] + c.size[1] * c.size[2] + 2);
  }
  static std::string shown(const std::vector<int>& list) {
    const std::vector<int> few(list.begin(),
                               list.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(list.size(), 12)));
    return fmt::format("{{{}{}}}", fmt::join(few, ", "), few.size() < list.size() ? ", ..." : "");
  }
  // By comparing coordinates with those of every rank.
  static std::vector<int> members(const Grid& grid, std::size_t group, int rank) {
    const Grid::At me = grid.at[static_cast<std::size_t>(rank)];
    auto end = [&](const Grid::At& a) { return a.pipeline == 0 || a.pipeline == grid.pipeline - 1; };
    std::vector<int> list;
    for (int r = 0; r < grid.ranks(); ++r) {
      const Grid::At a = grid.at[static_cast<std::size_t>(r)];
      const bool d = a.data == me.data, p = a.pipeline == me.pipeline, t = a.tensor == me.tensor;
      const bool in[] = {d && p, p && t, d && t, d && t && end(a) && end(me), d};
      if (in[group]) list.push_back(r);
    }
    return list;
  }
  // What ncclCommSplit makes of all ranks' colors and keys.
  static Verdict communicators(const Grid& grid, std::size_t g, std::span<const std::int32_t> all, std::size_t stride) {
    auto color = [&](int r) { return all[static_cast<std::size_t>(r) * stride + 4 + 3 * g + 1]; };
    auto key = [&](int r) { return all[static_cast<std::size_t>(r) * stride + 4 + 3 * g + 2]; };
    std::map<int, std::vector<int>> made;
    for (int r = 0; r < grid.ranks(); ++r) {
      if (color(r) < -1)
        return {false, fmt::format("{} groups: rank {} has the color {}; it is 0 or more, or kNoColor", kNames[g], r,
                                   color(r))};
      if (color(r) >= 0) made[color(r)].push_back(r);
    }
    for (auto& [unused, list] : made)
      std::stable_sort(list.begin(), list.end(), [&](int a, int b) { return key(a) < key(b); });
    for (int r = 0; r < grid.ranks(); ++r) {
      const std::vector<int> right = members(grid, g, r);
      const std::vector<int> got = color(r) < 0 ? std::vector<int>{} : made[color(r)];
      if (got == right) continue;
      if (right.empty())
        return {false, fmt::format("{} groups: rank {} is in none, and has the color {}", kNames[g], r, color(r))};
      std::vector<int> sorted = got;
      std::sort(sorted.begin(), sorted.end());
      return {false,
              fmt::format(
                  "{} groups: ncclCommSplit puts rank {} (color {}, key {}) into a communicator of ranks {}, and {} "
                  "are right{}",
                  kNames[g], r, color(r), key(r), shown(got), shown(right),
                  sorted == right ? ": the keys give another order" : "")};
    }
    return {};
  }
  // Whether the coordinates are those of another order of the three.
  static std::string order(const Grid& g, int r, std::span<const std::int32_t> got) {
    struct Dimension {
      const char* name;
      int size, got;
    };
    std::array<Dimension, 3> d = {
        {{"data", g.data, got[0]}, {"pipeline", g.pipeline, got[1]}, {"tensor", g.tensor, got[2]}}};
    std::array<int, 3> at = {0, 1, 2};
    do {
      const Dimension &a = d[static_cast<std::size_t>(at[0])], &b = d[static_cast<std::size_t>(at[1])],
                      &c = d[static_cast<std::size_t>(at[2])];
      if (a.got == r % a.size && b.got == r / a.size % b.size && c.got == r / a.size / b.size && r > 0)
        return fmt::format(": these are right where {} is innermost, then {}, then {}", a.name, b.name, c.name);
    } while (std::next_permutation(at.begin(), at.end()));
    return {};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> groups() { return std::make_unique<Groups>(); }

}  // namespace ridge::lab::parallel_3d
