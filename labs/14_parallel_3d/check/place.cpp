// Mappings of ranks to GPUs. The best one is looked for here among orders of the address bits, which contain all boxes of
// boxes; by simulated annealing; and among all permutations where these are few. Nothing proves that it is the best:
// where a submission's is better, the judge says so.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "checks/memo.hpp"
#include "checks/one_way.hpp"
#include "common.hpp"

namespace ridge::lab::parallel_3d {

namespace {

using Bytes = std::vector<std::int64_t>;  // by level, the fastest first

// Sizes of a case: data, pipeline, tensor; GPUs of a node, and of two larger containers (0: none); rails; seed of the
// traffic.
struct Problem {
  struct Edge {
    int from, to;
    std::int64_t bytes;
  };
  Grid grid;
  int node;
  std::vector<int> container;  // GPUs of each, without the whole
  bool rails;
  std::vector<Edge> edges;

  Problem(const Case& c, std::span<const std::int64_t> traffic)
      : grid(c.size[0], c.size[1], c.size[2]), node(static_cast<int>(c.size[3])), rails(c.size[6] != 0) {
    for (const std::int64_t size : {c.size[3], c.size[4], c.size[5]})
      if (size > 0 && size < grid.ranks()) container.push_back(static_cast<int>(size));
    auto rank = [&](int d, int p, int t) { return (p * grid.data + d) * grid.tensor + t; };
    auto add = [&](int from, int to, std::int64_t bytes) {
      if (from != to && bytes > 0) edges.push_back({from, to, bytes});
    };
    for (int p = 0; p < grid.pipeline; ++p)
      for (int d = 0; d < grid.data; ++d)
        for (int t = 0; t < grid.tensor; ++t) {
          add(rank(d, p, t), rank(d, p, t + 1 < grid.tensor ? t + 1 : 0), traffic[0]);
          add(rank(d, p, t), rank(d + 1 < grid.data ? d + 1 : 0, p, t), traffic[1]);
          if (p + 1 < grid.pipeline)
            add(rank(d, p, t), rank(d, p + 1, t), traffic[2]), add(rank(d, p + 1, t), rank(d, p, t), traffic[2]);
        }
  }
  std::size_t levels() const { return rails ? 3 : container.size() + 1; }
  std::size_t level(int a, int b) const {
    if (rails) return a / node == b / node ? 0 : a % node == b % node ? 1 : 2;
    std::size_t l = 0;
    for (const int size : container) l += a / size != b / size ? 1 : 0;
    return l;
  }
  Bytes bytes(std::span<const int> gpu) const {
    Bytes all(levels(), 0);
    for (const Edge& e : edges)
      all[level(gpu[static_cast<std::size_t>(e.from)], gpu[static_cast<std::size_t>(e.to)])] += e.bytes;
    return all;
  }
};

// Compares slow levels first.
bool less(const Bytes& a, const Bytes& b) {
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

// The bits of a rank in any order become the bits of its GPU. Each coordinate may be in Gray code first.
Bytes best_of_bits(const Problem& p) {
  const int n = std::countr_zero(static_cast<unsigned>(p.grid.ranks()));
  std::vector<int> order(static_cast<std::size_t>(n)), gpu(static_cast<std::size_t>(p.grid.ranks()));
  Bytes best;
  for (const bool gray : {false, true}) {
    std::iota(order.begin(), order.end(), 0);
    do {
      for (int r = 0; r < p.grid.ranks(); ++r) {
        const Grid::At at = p.grid.at[static_cast<std::size_t>(r)];
        auto code = [&](int x) { return gray ? x ^ (x >> 1) : x; };
        const int bits = (code(at.pipeline) * p.grid.data + code(at.data)) * p.grid.tensor + code(at.tensor);
        int& g = gpu[static_cast<std::size_t>(r)];
        g = 0;
        for (int i = 0; i < n; ++i) g |= (bits >> order[static_cast<std::size_t>(i)] & 1) << i;
      }
      const Bytes now = p.bytes(gpu);
      if (best.empty() || less(now, best)) best = now;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  return best;
}

Bytes best_of_all(const Problem& p) {
  std::vector<int> gpu(static_cast<std::size_t>(p.grid.ranks()));
  std::iota(gpu.begin(), gpu.end(), 0);
  Bytes best = p.bytes(gpu);
  while (std::next_permutation(gpu.begin(), gpu.end()))
    if (const Bytes now = p.bytes(gpu); less(now, best)) best = now;
  return best;
}

// Swaps of two ranks; slow levels weigh more.
Bytes best_of_annealing(const Problem& p, std::uint64_t seed) {
  const int n = p.grid.ranks();
  std::vector<std::vector<std::pair<int, double>>> near(static_cast<std::size_t>(n));
  double most = 1;
  for (const Problem::Edge& e : p.edges) {
    near[static_cast<std::size_t>(e.from)].push_back({e.to, static_cast<double>(e.bytes)});
    near[static_cast<std::size_t>(e.to)].push_back({e.from, static_cast<double>(e.bytes)});
    most = std::max(most, static_cast<double>(e.bytes));
  }
  constexpr double kWeight[] = {0, 1, 8, 64};
  Draw draw(seed);
  Bytes best;
  for (int run = 0; run < 6; ++run) {
    std::vector<int> gpu(static_cast<std::size_t>(n));
    std::iota(gpu.begin(), gpu.end(), 0);
    for (int i = n - 1; i > 0; --i)
      std::swap(gpu[static_cast<std::size_t>(i)], gpu[static_cast<std::size_t>(draw.integer(0, i))]);
    auto cost = [&](int r, int other) {
      double sum = 0;
      for (const auto& [to, bytes] : near[static_cast<std::size_t>(r)])
        if (to != other)
          sum += bytes * kWeight[p.level(gpu[static_cast<std::size_t>(r)], gpu[static_cast<std::size_t>(to)])];
      return sum;
    };
    constexpr int kSwaps = 60000;
    for (int i = 0; i < kSwaps; ++i) {
      const double heat = most * kWeight[p.levels() - 1] * 2 * std::pow(1e-4, static_cast<double>(i) / kSwaps);
      const int a = draw.integer(0, n - 1), b = draw.integer(0, n - 1);
      const double before = cost(a, b) + cost(b, a);
      std::swap(gpu[static_cast<std::size_t>(a)], gpu[static_cast<std::size_t>(b)]);
      const double more = cost(a, b) + cost(b, a) - before;
      if (more > 0 && draw.real(0, 1) >= std::exp(-more / heat))
        std::swap(gpu[static_cast<std::size_t>(a)], gpu[static_cast<std::size_t>(b)]);
    }
    if (const Bytes now = p.bytes(gpu); best.empty() || less(now, best)) best = now;
  }
  return best;
}

class Place : public TaskCheck {
 public:
  std::string id() const override { return "place"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    enum Kind { nodes, rails, fat_tree, dragonfly };
    auto add = [&](Kind kind, std::array<std::int64_t, 3> sizes, std::array<std::int64_t, 3> containers,
                   std::int64_t traffic) {
      Case c;
      c.size = {sizes[0], sizes[1], sizes[2], containers[0], containers[1], containers[2], kind == rails ? 1 : 0,
                traffic};
      constexpr const char* kNames[] = {"nodes", "rails", "fat tree", "dragonfly"};
      c.name =
          fmt::format("{}: data {}, pipeline {}, tensor {}, nodes of {}{}", kNames[kind], sizes[0], sizes[1], sizes[2],
                      containers[0], containers[1] == 0 ? "" : fmt::format(", containers of {}", containers[1]));
      if (containers[2] != 0) c.name += fmt::format(" and {}", containers[2]);
      all.push_back(c);
    };
    add(nodes, {2, 2, 2}, {4, 0, 0}, 0), add(nodes, {4, 2, 1}, {4, 0, 0}, 0), add(nodes, {1, 1, 1}, {1, 0, 0}, 0);
    add(nodes, {4, 4, 4}, {8, 0, 0}, 2), add(rails, {4, 2, 2}, {8, 0, 0}, 0), add(rails, {2, 4, 1}, {4, 0, 0}, 1);
    add(rails, {8, 1, 4}, {8, 0, 0}, 0), add(fat_tree, {4, 4, 2}, {4, 8, 16}, 0),
        add(fat_tree, {2, 8, 2}, {4, 16, 0}, 1);
    add(dragonfly, {4, 4, 4}, {4, 16, 0}, 0), add(dragonfly, {8, 2, 1}, {2, 8, 0}, 2),
        add(dragonfly, {2, 2, 8}, {4, 16, 0}, 1);
    if (r.mode == Mode::grade)
      for (std::uint64_t i = 0; i < 6; ++i) {
        Draw draw(one_way_seed(r.seed, "mapping", i));
        const int bits = draw.integer(4, 7), t = draw.integer(0, std::min(3, bits)), d = draw.integer(0, bits - t);
        const int node = draw.integer(1, 3), unit = draw.integer(node + 1, bits);
        const Kind kind = i % 3 == 0 ? rails : i % 3 == 1 ? fat_tree : dragonfly;
        add(kind, {1 << d, 1 << (bits - t - d), 1 << t}, {1 << node, kind == rails || unit == bits ? 0 : 1 << unit, 0},
            3 + static_cast<std::int64_t>(one_way_seed(r.seed, "traffic", i) % 1000000));
      }
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto n = static_cast<std::size_t>(c.size[0] * c.size[1] * c.size[2]);
    return {{3 * 8, 4 * n}, {2 * 4 * 8, 4 * n}, 0};
  }
  bool host_reads_inputs() const override { return true; }
  // Traffic 0: tensor most; 1: the pipeline most; 2: data most; else any. Then a mapping at random, whose bytes are
  // asked for.
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    constexpr std::int64_t kMiB = 1 << 20;
    Draw draw(static_cast<std::uint64_t>(c.size[7]));
    auto any = [&](int low, int high) { return draw.integer(low, high) * kMiB + draw.integer(0, 1000); };
    const auto traffic = as<std::int64_t>(in[0]);
    switch (c.size[7]) {
      case 0:
        traffic[0] = 640 * kMiB, traffic[1] = 96 * kMiB + 7, traffic[2] = 24 * kMiB;
        break;
      case 1:
        traffic[0] = 80 * kMiB, traffic[1] = 12 * kMiB, traffic[2] = 300 * kMiB + 5;
        break;
      case 2:
        traffic[0] = 60 * kMiB, traffic[1] = 410 * kMiB, traffic[2] = 4 * kMiB;
        break;
      default:
        traffic[0] = any(1, 600), traffic[1] = any(1, 300), traffic[2] = any(1, 200);
    }
    const auto gpu = as<std::int32_t>(in[1]);
    std::iota(gpu.begin(), gpu.end(), 0);
    Draw shuffle(seed);
    for (std::size_t i = gpu.size(); i > 1; --i)
      std::swap(gpu[i - 1], gpu[static_cast<std::size_t>(shuffle.integer(0, static_cast<int>(i) - 1))]);
  }
  Work work(const Case& c) const override {
    return {static_cast<double>(c.size[0] * c.size[1] * c.size[2]), "rank", 0, 0};
  }

  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const Problem p(c, as<std::int64_t>(in[0]));
    const auto got = as<std::int64_t>(out[0]);
    const auto gpu = as<std::int32_t>(out[1]);
    if (Verdict v = compare(p, as<std::int32_t>(in[1]), got.first(4), "a mapping at random"); !v.ok) return v;
    std::vector<int> owner(gpu.size(), -1);
    for (std::size_t r = 0; r < gpu.size(); ++r) {
      if (gpu[r] < 0 || gpu[r] >= static_cast<int>(gpu.size()))
        return {false, fmt::format("place: rank {} has GPU {}, and there are {}", r, gpu[r], gpu.size())};
      int& who = owner[static_cast<std::size_t>(gpu[r])];
      if (who >= 0) return {false, fmt::format("place: ranks {} and {} both have GPU {}", who, r, gpu[r])};
      who = static_cast<int>(r);
    }
    if (Verdict v = compare(p, gpu, got.subspan(4), "the mapping of place"); !v.ok) return v;
    const auto best = best_of(c, p, in);
    if (const Bytes own = p.bytes(gpu); less(own, *best))
      return {false,
              fmt::format("place: the mapping is better than the best one that the judge found (bytes by level {}, and "
                          "the judge's {}): this is a fault of the course, please report it",
                          fmt::join(own, ", "), fmt::join(*best, ", ")),
              "the mapping is better than the judge's best one: this is a fault of the course, please report it"};
    return {};
  }
  std::vector<Mark> marks(const Case& c, ConstBuffers in, ConstBuffers out, std::span<const Question>) const override {
    const Problem p(c, as<std::int64_t>(in[0]));
    const auto best = best_of(c, p, in);
    const auto gpu = as<std::int32_t>(out[1]);
    const Bytes got = p.bytes(gpu);
    // A level and all slower ones together, so that no level hides behind another one.
    double worst = 1;
    std::string message;
    std::int64_t own = 0, least = 0;
    for (std::size_t l = p.levels(); l-- > 1;) {
      own += got[l], least += (*best)[l];
      const double ratio = own == least ? 1 : least > 0 ? static_cast<double>(own) / static_cast<double>(least) : 99;
      if (ratio <= worst) continue;
      worst = ratio;
      message = fmt::format("level {}{} carries {} bytes, and {} are possible{}", l,
                            l + 1 < p.levels() ? " with all slower ones" : "", own, least, tensor_across(p, gpu));
    }
    return {{"slowest", worst, "x the least", message, "a slow level carries more bytes than it must"}};
  }

 private:
  std::shared_ptr<const Bytes> best_of(const Case& c, const Problem& p, ConstBuffers in) const {
    return best_.get(c, in, [&] {
      Bytes least = best_of_bits(p);
      for (const Bytes& other :
           {p.grid.ranks() <= 8 ? best_of_all(p) : least, best_of_annealing(p, static_cast<std::uint64_t>(c.size[7]))})
        if (less(other, least)) least = other;
      return least;
    });
  }
  static Verdict compare(const Problem& p, std::span<const int> gpu, std::span<const std::int64_t> got,
                         const char* what) {
    const Bytes right = p.bytes(gpu);
    for (std::size_t l = 0; l < right.size(); ++l)
      if (got[l] != right[l])
        return {
            false,
            fmt::format("bytes_by_level, {}: level {} carries {} bytes, got {} (all levels: {} are right, got {})",
                        what, l, right[l], got[l], fmt::join(right, ", "), fmt::join(got.first(right.size()), ", "))};
    return {};
  }
  static std::string tensor_across(const Problem& p, std::span<const int> gpu) {
    int across = 0, all = 0;
    for (int r = 0; r < p.grid.ranks(); r += p.grid.tensor) {
      bool one = true;
      for (int t = 1; t < p.grid.tensor; ++t)
        one = one && gpu[static_cast<std::size_t>(r)] / p.node == gpu[static_cast<std::size_t>(r + t)] / p.node;
      ++all, across += one ? 0 : 1;
    }
    return across > 0 ? fmt::format("; {} of {} tensor groups are not within a node", across, all) : "";
  }
  Memo<Bytes> best_{16};
};

}  // namespace

std::unique_ptr<TaskCheck> place() { return std::make_unique<Place>(); }

}  // namespace ridge::lab::parallel_3d
