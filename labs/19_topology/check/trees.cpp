// All-reduces of all ranks, with the messages that recursive halving and doubling sends; two trees; and sizes at which
// two algorithms take the same time.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <map>

#include "common.hpp"

namespace ridge::lab::topology {

namespace {

using Tree = std::vector<std::array<int, 3>>;  // of each rank: parent and children

// Which elements rank r's block of the reduce-scatter has: the bits of its number, from the lowest on, choose halves.
struct Block {
  std::int64_t first, count;
};
Block block_of(std::int64_t n, int number, int bits) {
  Block b{0, n};
  for (int i = 0; i < bits; ++i) {
    const std::int64_t upper = b.count / 2;
    if (number >> i & 1)
      b = {b.first + b.count - upper, upper};
    else
      b.count -= upper;
  }
  return b;
}

// Each rank's messages, in order: to whom, and floats. From the blocks that a rank has after so many steps.
using Sent = std::vector<std::pair<int, std::int64_t>>;
std::vector<Sent> messages_of(std::int64_t n, int p) {
  const int levels = std::bit_width(static_cast<unsigned>(p)) - 1, q = 1 << levels, extra = p - q;
  std::vector<Sent> all(static_cast<std::size_t>(p));
  std::vector<int> rank_of;  // by number
  for (int r = 0; r < p; ++r)
    if (r >= 2 * extra || r % 2 == 1) rank_of.push_back(r);
  auto send = [&](int from, int to, std::int64_t floats) {
    if (floats > 0) all[static_cast<std::size_t>(from)].push_back({to, floats});
  };
  for (int i = 0; i < extra; ++i) send(2 * i, 2 * i + 1, n);
  for (int v = 0; v < q; ++v) {
    const int from = rank_of[static_cast<std::size_t>(v)];
    auto peer = [&](int level) { return v ^ (1 << level); };
    auto to = [&](int level) { return rank_of[static_cast<std::size_t>(peer(level))]; };
    for (int l = 0; l < levels; ++l) send(from, to(l), block_of(n, peer(l), l + 1).count);
    for (int l = levels; l-- > 0;) send(from, to(l), block_of(n, v, l + 1).count);
  }
  for (int i = 0; i < extra; ++i) send(2 * i + 1, 2 * i, n);
  return all;
}

double ring_seconds(int p, double n, double alpha, double beta) { return 2 * (p - 1) * (alpha + n / (p * beta)); }
double halving_seconds(int p, double n, double alpha, double beta) {
  const int levels = std::bit_width(static_cast<unsigned>(p)) - 1, q = 1 << levels;
  double seconds = q == p ? 0 : 2 * (alpha + n / beta);
  for (int part = q; part > 1; part /= 2) seconds += 2 * (alpha + n / part / beta);  // halves, quarters, ...
  return seconds;
}
double tree_seconds(int p, double n, double alpha, double beta) {
  const int h = std::bit_width(static_cast<unsigned>(p - 1));
  double best = INFINITY;
  for (int k = 1;; ++k) {  // convex in k
    const double now = 4 * (h + k - 1) * (alpha + n / (2 * k * beta));
    if (now >= best) return best;
    best = now;
  }
}

// Sizes of a case: 0, n; or, in one process, 1, ranks of the trees, and twice the numbers of two questions: ranks, and
// the bits of alpha and beta. The sizes hold them, and not the inputs: so the host need not see any input, and cannot add.
class Trees : public TaskCheck {
 public:
  std::string id() const override { return "trees"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto paper = [&](int ranks, std::uint64_t seed) {
      Draw draw(seed);
      Case c;
      c.size = {1, ranks};
      for (std::size_t i = 2; i < 8; i += 3) {
        c.size[i] = i == 2 && ranks > 1 ? ranks : static_cast<std::int64_t>(std::exp2(draw.real(1, 11)));
        c.size[i + 1] = std::bit_cast<std::int64_t>(std::exp(draw.real(std::log(1e-6), std::log(50e-6))));
        c.size[i + 2] = std::bit_cast<std::int64_t>(std::exp(draw.real(std::log(1e9), std::log(900e9))));
      }
      c.name = fmt::format("two trees of {} rank{}, 4 sizes", ranks, ranks == 1 ? "" : "s");
      all.push_back(c);
    };
    auto reduce = [&](int ranks, std::int64_t n) -> Case& {
      Case c;
      c.size = {0, n};
      c.ranks = ranks;
      c.name = fmt::format("{} rank{}, n {}", ranks, ranks == 1 ? "" : "s", n);
      all.push_back(c);
      return all.back();
    };
    for (const int p : r.ranks) {
      if (r.mode == Mode::check && p == 7) continue;
      reduce(p, std::max(1, p / 2)), reduce(p, 1000 + 13 * p);
      if (r.mode == Mode::grade) reduce(p, random_size(r.seed, 2000, 20000));
    }
    for (const int p : {2, 8, 3, 5, 6, 16, 37, 100, 257, 700, 1})
      paper(p, one_way_seed(r.seed, "sizes", static_cast<std::uint64_t>(p)));
    if (r.mode == Mode::grade)
      for (std::uint64_t i = 0; i < 6; ++i)
        paper(Draw(one_way_seed(r.seed, "trees", i)).integer(9, 700), one_way_seed(r.seed, "more sizes", i));
    if (!r.ranks.empty()) {
      Case& c = reduce(r.ranks.back(), 1 << 15);
      c.topology = "infiniband", c.node = 2, c.measured = true;
      c.name += ", 2 a node";
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto n = static_cast<std::size_t>(c.size[1]);
    if (c.size[0] == 0) return {{4 * n}, {4 * n}, 4 * n};
    return {{4}, {2 * 3 * 4 * n, 8 * 4}, 0};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override { fill_normal(as<float>(in[0]), seed); }
  Work work(const Case& c) const override {
    if (c.size[0] != 0) return {static_cast<double>(c.size[1]), "rank", 0, 0};
    const double n = static_cast<double>(c.size[1]);
    return {n, "addition", 8 * n, 4 * n};
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    return c.size[0] == 0 ? verify_sum(c, in, out) : verify_paper(c, out);
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    if (c.size[0] != 0) return {};
    const std::vector<Sent> right = messages_of(c.size[1], c.ranks);
    std::vector<Sent> got(right.size());
    for (const Message& m : messages) {
      if (m.host) return {false, "data is sent by MPI where NCCL is the task", {}, "traffic"};
      if (m.bytes > 0) got[static_cast<std::size_t>(m.from)].push_back({m.to, static_cast<std::int64_t>(m.bytes / 4)});
    }
    for (std::size_t r = 0; r < right.size(); ++r)
      for (std::size_t i = 0; i < std::max(got[r].size(), right[r].size()); ++i) {
        auto text = [&](const Sent& s) {
          return i < s.size() ? fmt::format("{} floats to rank {}", s[i].second, s[i].first) : std::string("nothing");
        };
        if (text(got[r]) != text(right[r]))
          return {false,
                  fmt::format("rank {}, message {}: it sends {}, and recursive halving and doubling sends {} there "
                              "({} messages in all, got {})",
                              r, i + 1, text(got[r]), text(right[r]), right[r].size(), got[r].size()),
                  {},
                  "traffic"};
      }
    return {};
  }
  // 2 ranks a node: distance 1 stays inside.
  std::vector<Bound> bounds(const Case& c) const override {
    double seconds = default_profile().device.at("launch_call"), part = 4.0 * static_cast<double>(c.size[1]);
    const int levels = std::bit_width(static_cast<unsigned>(c.ranks)) - 1;
    for (int l = 0; l < levels; ++l) {
      part /= 2;
      seconds += 2 * exchange_seconds(part, l > 0) + kernel_seconds(3 * part);
    }
    return {{"virtual_time_over_bound", seconds}};
  }

 private:
  static Verdict verify_sum(const Case& c, ConstBuffers in, ConstBuffers out) {
    const SumTolerance tolerance = Tolerance{}.of_length(c.ranks);
    for (int r = 0; r < c.ranks; ++r) {
      auto expected = [&](std::size_t i) {
        double sum = 0, magnitude = 0, squares = 0;
        for (int k = 0; k < c.ranks; ++k) {
          const auto x = static_cast<double>(as<float>(in[static_cast<std::size_t>(k)])[i]);
          sum += x, magnitude += std::fabs(x), squares += x * x;
        }
        return tolerance.of(sum, magnitude, squares);
      };
      auto where = [&](std::size_t i) { return fmt::format("rank {}, out[{}]", r, i); };
      if (Verdict v = compare_close<float>(as<float>(out[static_cast<std::size_t>(r)]), expected, where, 8); !v.ok)
        return v;
    }
    for (int r = 1; r < c.ranks; ++r)
      if (std::memcmp(out[0].data(), out[static_cast<std::size_t>(r)].data(), out[0].size()) != 0)
        return {false, fmt::format("ranks 0 and {} have different bits: a sum must be made once, and handed on", r),
                "ranks have different answers", "agree"};
    return {};
  }
  static Verdict verify_paper(const Case& c, ConstBuffers out) {
    const int p = static_cast<int>(c.size[1]);
    const auto places = as<std::int32_t>(out[0]);
    std::array<Tree, 2> tree;
    for (int r = 0; r < p; ++r)
      for (std::size_t t = 0; t < 2; ++t) {
        const auto at = places.subspan(6 * static_cast<std::size_t>(r) + 3 * t, 3);
        tree[t].push_back({at[0], at[1], at[2]});
      }
    for (std::size_t t = 0; t < 2; ++t)
      if (std::string wrong = not_a_tree(tree[t]); !wrong.empty())
        return {false, fmt::format("double_tree, {} ranks, tree {}: {}", p, t, wrong),
                "what double_tree writes is no tree"};
    auto works = [](const std::array<int, 3>& at) { return at[1] >= 0 || at[2] >= 0; };
    int both = 0, first = -1;
    for (int r = 0; r < p; ++r)
      if (works(tree[0][static_cast<std::size_t>(r)]) && works(tree[1][static_cast<std::size_t>(r)]))
        first = both++ == 0 ? r : first;
    if (both > 0)
      return {
          false,
          fmt::format("double_tree, {} ranks: ranks with children in both trees: {}, of which rank {} is the first. "
                      "Such a rank sends and receives twice as much as one that is a leaf of one tree",
                      p, both, first),
          "ranks have children in both trees"};
    const auto answers = as<double>(out[1]);
    for (std::size_t i = 0; i < answers.size(); ++i)
      if (std::string wrong = wrong_size(i % 2 != 0, &c.size[2 + i / 2 * 3], answers[i]); !wrong.empty())
        return {false, wrong, "a size at which two algorithms take the same time is wrong"};
    return {};
  }
  // Walks down from the root. Empty where all is well.
  static std::string not_a_tree(const Tree& tree) {
    const int p = static_cast<int>(tree.size());
    int root = -1;
    for (int r = 0; r < p; ++r) {
      const auto& at = tree[static_cast<std::size_t>(r)];
      for (const int other : at)
        if (other < -1 || other >= p)
          return fmt::format("rank {} has the neighbour {}, and there are {} ranks", r, other, p);
      if (at[0] >= 0) continue;
      if (root >= 0) return fmt::format("ranks {} and {} both have no parent", root, r);
      root = r;
    }
    if (root < 0) return "no rank is the root";
    std::vector<int> depth(tree.size(), -1), next = {root};
    depth[static_cast<std::size_t>(root)] = 0;
    int reached = 1, deepest = 0;
    const int most = std::bit_width(static_cast<unsigned>(p - 1));
    while (!next.empty()) {
      const int r = next.back();
      next.pop_back();
      for (std::size_t k = 1; k < 3; ++k) {
        const int child = tree[static_cast<std::size_t>(r)][k];
        if (child < 0) continue;
        if (tree[static_cast<std::size_t>(child)][0] != r)
          return fmt::format("rank {} has the child {}, whose parent is {}", r, child,
                             tree[static_cast<std::size_t>(child)][0]);
        int& d = depth[static_cast<std::size_t>(child)];
        if (d >= 0) return fmt::format("rank {} comes twice, the second time below rank {}", child, r);
        d = depth[static_cast<std::size_t>(r)] + 1;
        ++reached, deepest = std::max(deepest, d), next.push_back(child);
      }
    }
    if (reached != p) return fmt::format("{} of {} ranks are below the root, rank {}", reached, p, root);
    if (deepest > most)
      return fmt::format("{} edges lead from the root to the deepest rank, and ceil(log2 {}) = {} are enough", deepest,
                         p, most);
    return {};
  }
  static std::string wrong_size(bool tree, const std::int64_t* asked, double got) {
    const int p = static_cast<int>(asked[0]);
    const double alpha = std::bit_cast<double>(asked[1]), beta = std::bit_cast<double>(asked[2]);
    auto ring_wins = [&](double n) {
      const double other = tree ? tree_seconds(p, n, alpha, beta) : halving_seconds(p, n, alpha, beta);
      return ring_seconds(p, n, alpha, beta) <= other * (1 + 1e-12);
    };
    const char* name = tree ? "double_tree" : "halving_doubling";
    const std::string of =
        fmt::format("crossover({}, {} ranks, alpha {:.3g} us, beta {:.4g} GB/s)", name, p, 1e6 * alpha, 1e-9 * beta);
    const double small = 1e-6 * alpha * beta, large = 1e7 * alpha * beta;
    if (ring_wins(small))
      return got == 0 ? "" : fmt::format("{}: the ring is never slower, so 0 is right, got {:.6g}", of, got);
    if (!ring_wins(large))
      return std::isinf(got) && got > 0
                 ? ""
                 : fmt::format("{}: the ring is never as fast, so INFINITY is right, got {:.6g}", of, got);
    double low = small, high = large;
    while (high > low * 1.0001) {
      const double middle = std::sqrt(low * high);
      (ring_wins(middle) ? high : low) = middle;
    }
    if (got > 0.95 * high && got < 1.05 * high) return {};
    return fmt::format("{}: above {:.6g} bytes the ring is as fast, got {:.6g}", of, high, got);
  }
};

}  // namespace

std::unique_ptr<TaskCheck> trees() { return std::make_unique<Trees>(); }

}  // namespace ridge::lab::topology
