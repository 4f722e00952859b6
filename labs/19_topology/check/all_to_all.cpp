// Rows that come to each rank, sums that go back, and the bytes that cross the nodes.
#include <fmt/format.h>

#include <cstring>
#include <mutex>
#include <set>

#include "checks/memo.hpp"
#include "common.hpp"

namespace ridge::lab::topology {

namespace {

// Sizes of a case: n of rank 0, ranks of a node, experts of a rank, choices, width, capacity, rows that a batch has
// room for, seed of the routes (even: all experts alike; odd: most tokens want a few experts, and some choices are none).
struct Sizes {
  int p, node, experts, choices, width, capacity;
  std::int64_t most;  // tokens of rank 0
  explicit Sizes(const Case& c)
      : p(c.ranks),
        node(static_cast<int>(c.size[1])),
        experts(static_cast<int>(c.size[2])),
        choices(static_cast<int>(c.size[3])),
        width(static_cast<int>(c.size[4])),
        capacity(static_cast<int>(c.size[5])),
        most(c.size[0]) {}
  std::size_t tokens(int rank) const { return static_cast<std::size_t>(std::max<std::int64_t>(0, most - 5 * rank)); }
  std::size_t row() const { return static_cast<std::size_t>(width + 2 * choices); }
};

// What is right, from every token's choices.
struct Right {
  std::vector<std::vector<int>> chosen;                         // of each rank (tokens, choices); -1: none
  std::vector<int> dropped;                                     // of each rank
  std::vector<std::vector<std::pair<int, std::size_t>>> batch;  // of each rank: source and token
  std::uint64_t across = 0, inside = 0;                         // rows that leave a node, or a rank for its own node

  Right(const Sizes& s, ConstBuffers in) {
    for (int r = 0; r < s.p; ++r) {
      const auto rows = as<float>(in[2 * static_cast<std::size_t>(r)]);
      std::vector<int> wanted(static_cast<std::size_t>(s.p * s.experts), 0), own;
      int lost = 0;
      for (std::size_t t = 0; t < s.tokens(r); ++t)
        for (int j = 0; j < s.choices; ++j) {
          const int e = static_cast<int>(rows[t * s.row() + static_cast<std::size_t>(s.width + j)]);
          const bool late = e >= 0 && wanted[static_cast<std::size_t>(e)]++ >= s.capacity;
          own.push_back(late ? -1 : e), lost += late ? 1 : 0;
        }
      chosen.push_back(std::move(own)), dropped.push_back(lost);
    }
    batch.resize(static_cast<std::size_t>(s.p));
    for (int place = 0; place < s.node; ++place)
      for (int r = place; r < s.p; r += s.node)
        for (std::size_t t = 0; t < s.tokens(r); ++t) {
          std::set<int> ranks, nodes;
          for (int j = 0; j < s.choices; ++j)
            if (const int e = chosen[static_cast<std::size_t>(r)]
                                    [t * static_cast<std::size_t>(s.choices) + static_cast<std::size_t>(j)];
                e >= 0)
              ranks.insert(e / s.experts), nodes.insert(e / s.experts / s.node);
          for (const int q : ranks) {
            batch[static_cast<std::size_t>(q)].push_back({r, t});
            if (q % s.node != place) ++inside;  // handed on by the rank at the source's place
          }
          for (const int b : nodes) across += b != r / s.node ? 1 : 0;
        }
  }
};

class AllToAll : public TaskCheck {
 public:
  std::string id() const override { return "all_to_all"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](int ranks, int node, int experts, int choices, std::int64_t n, int width, int capacity, int kind) {
      if (std::find(r.ranks.begin(), r.ranks.end(), ranks) == r.ranks.end()) return;
      Case c;
      c.ranks = ranks;
      // The routes depend on the sizes alone: the host may see them without seeing any row.
      const auto seed = static_cast<std::int64_t>(one_way_seed(r.seed, "routes", all.size()) >> 8);
      c.size = {n, node, experts, choices, width, capacity, 0, seed * 2 + kind};
      const Sizes s(c);
      for (int q = 0; q < ranks; ++q) c.size[6] += static_cast<std::int64_t>(s.tokens(q));
      c.name = fmt::format("{} rank{}, {} a node, {} expert{} each, {} of them a token, {} tokens, capacity {}{}",
                           ranks, ranks == 1 ? "" : "s", node, experts, experts == 1 ? "" : "s", choices, n, capacity,
                           kind == 1 ? ", uneven" : "");
      c.topology = "infiniband", c.node = node;
      all.push_back(c);
    };
    add(4, 2, 2, 2, 37, 8, 1000, 0), add(1, 1, 4, 2, 19, 5, 1000, 0), add(2, 2, 3, 3, 23, 7, 1000, 0);
    add(2, 1, 2, 1, 31, 9, 1000, 0), add(6, 2, 1, 3, 41, 6, 1000, 1), add(4, 2, 2, 2, 67, 10, 11, 1);
    add(8, 4, 2, 4, 53, 12, 9, 1), add(3, 1, 2, 2, 3, 4, 2, 0);
    if (r.mode == Mode::grade) {
      Draw draw(one_way_seed(r.seed, "experts"));
      for (const int ranks : {4, 6, 8})
        add(ranks, ranks == 6 ? 3 : 2, draw.integer(1, 4), draw.integer(1, 3), draw.integer(30, 90),
            draw.integer(3, 40), draw.integer(4, 30), draw.integer(0, 1));
    }
    if (!r.ranks.empty() && r.ranks.back() == 8) {
      add(8, 4, 4, 4, r.mode == Mode::check ? 96 : 160, 256, 40, 0);
      all.back().measured = true;
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    const Sizes s(c);
    const std::size_t n = s.tokens(c.rank), room = static_cast<std::size_t>(c.size[6]), rows = 4 * s.row();
    const std::size_t nodes = static_cast<std::size_t>(s.p / s.node), most = static_cast<std::size_t>(s.most);
    const std::size_t width = static_cast<std::size_t>(s.width);
    const std::size_t own =
        rows * (2 * most * nodes + most * nodes * static_cast<std::size_t>(s.node)) * 3 / 2 + (1 << 16);
    return {{std::max<std::size_t>(4, rows * n), 4 * static_cast<std::size_t>(s.experts) * width},
            {std::max<std::size_t>(4, 4 * n * width), rows * room, 2 * 4, 4 * room * width},
            own + rows * n + 4 * n * static_cast<std::size_t>(s.choices) + 4096};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const Sizes s(c);
    const auto rows = as<float>(in[0]);
    fill_normal(rows, seed);
    fill_normal(as<float>(in[1]), one_way_seed(seed, "weights"));
    Draw draw(one_way_seed(static_cast<std::uint64_t>(c.size[7]), "rank", static_cast<std::uint64_t>(c.rank)));
    Draw gates(one_way_seed(seed, "gates"));
    const bool uneven = c.size[7] % 2 == 1;
    const int all = s.p * s.experts;
    for (std::size_t t = 0; t < s.tokens(c.rank); ++t) {
      float* row = &rows[t * s.row()];
      for (int j = 0; j < s.choices; ++j) {
        int e = 0;
        do
          e = uneven && draw.integer(0, 2) != 0 ? draw.integer(0, std::max(s.choices, all / 4) - 1)
                                                : draw.integer(0, all - 1);
        while (std::find(row + s.width, row + s.width + j, static_cast<float>(e)) != row + s.width + j);
        row[s.width + j] = static_cast<float>(e);
        row[s.width + s.choices + j] = static_cast<float>(gates.real(0.1, 1));
      }
      for (int j = 0; uneven && j < s.choices; ++j)
        if (draw.integer(0, 7) == 0) row[s.width + j] = -1;
    }
  }
  Work work(const Case& c) const override {
    const double bytes = 4.0 * static_cast<double>(c.size[0] * c.size[4]);
    return {static_cast<double>(c.size[0]), "token", bytes, bytes};
  }
  double bytes_from_host(const Case& c) const override {
    return 64 * 1024 + 16.0 * static_cast<double>(c.size[0] * c.size[3]) * c.ranks;  // indices
  }

  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const Sizes s(c);
    const auto right = right_of(c, in);
    for (int r = 0; r < s.p; ++r) {
      const auto told = as<std::int32_t>(out[kOut * static_cast<std::size_t>(r) + 2]);
      if (told[1] != right->dropped[static_cast<std::size_t>(r)])
        return {
            false,
            fmt::format(
                "limit, rank {}: with a capacity of {} tokens of a rank for an expert, {} choices become -1, got {}", r,
                s.capacity, right->dropped[static_cast<std::size_t>(r)], told[1]),
            "limit takes away other choices than it should"};
      if (Verdict v = verify_batch(s, *right, in, out, r, told[0]); !v.ok) return v;
    }
    for (int r = 0; r < s.p; ++r)
      if (Verdict v = verify_sums(s, *right, in, out, r); !v.ok) return v;
    if (Verdict v = verify_order(s, *right, out); !v.ok) return v;
    std::lock_guard lock(mutex_);
    last_ = right;
    return {};
  }
  // The rows of the last verified inputs, whose messages these are.
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    const Sizes s(c);
    std::shared_ptr<const Right> right;
    {
      std::lock_guard lock(mutex_);
      right = last_;
    }
    if (right == nullptr) return {};
    std::uint64_t across = 0, inside = 0;
    for (const Message& m : messages) {
      if (m.host) return {false, "data is sent by MPI where NCCL is the task", {}, "traffic"};
      if (m.from != m.to) (m.from / s.node != m.to / s.node ? across : inside) += m.bytes;
    }
    // There with experts and gates, back without; a count for each pair of ranks that may exchange rows.
    const std::uint64_t row = 4 * (s.row() + static_cast<std::size_t>(s.width));
    const auto p = static_cast<std::uint64_t>(s.p), node = static_cast<std::uint64_t>(s.node);
    const std::uint64_t most_across = right->across * row + 4 * p * (p / node - 1);
    const std::uint64_t most_inside = right->inside * row + 4 * p * (node - 1);
    if (across > most_across)
      return {
          false,
          fmt::format("{} bytes cross the nodes; {} tokens have experts in another node, each node counted once, and "
                      "with the counts {} bytes are enough",
                      across, right->across, most_across),
          {},
          "traffic"};
    if (inside > most_inside)
      return {
          false,
          fmt::format("{} bytes pass inside the nodes; {} tokens are to be handed on, each rank counted once, and with "
                      "the counts {} bytes are enough",
                      inside, right->inside, most_inside),
          {},
          "traffic"};
    return {};
  }
  std::vector<Bound> bounds(const Case& c) const override {
    const Sizes s(c);
    const double n = static_cast<double>(s.most), width = 4.0 * s.width;
    const double rows = n * width;  // from one rank to another, in each hop
    const double d = default_profile().device.at("launch_call");
    return {{"virtual_time_over_bound", d + exchange_seconds(4, true) + exchange_seconds(4, false) +
                                            2 * exchange_seconds(rows, true) + 2 * exchange_seconds(rows, false) +
                                            6 * kernel_seconds(2 * n * width)}};
  }

 private:
  std::shared_ptr<const Right> right_of(const Case& c, ConstBuffers in) const {
    return right_.get(c, in, [&] { return Right(Sizes(c), in); });
  }
  static Verdict verify_batch(const Sizes& s, const Right& right, ConstBuffers in, ConstBuffers out, int r, int count) {
    const auto& batch = right.batch[static_cast<std::size_t>(r)];
    if (count != static_cast<int>(batch.size()))
      return {false,
              fmt::format("dispatch, rank {}: {} tokens have an expert here, got a batch of {} rows", r, batch.size(),
                          count),
              "a batch has another number of rows than tokens have experts there"};
    const auto got = as<float>(out[kOut * static_cast<std::size_t>(r) + 1]);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto [source, token] = batch[i];
      if (same_row(s, right, in, source, token, &got[i * s.row()])) continue;
      std::string text =
          fmt::format("dispatch, rank {}, row {} of the batch: token {} of rank {} is right", r, i, token, source);
      for (std::size_t k = 0; k < batch.size(); ++k)
        if (same_row(s, right, in, batch[k].first, batch[k].second, &got[i * s.row()])) {
          text += fmt::format(", got token {} of rank {}: the order is lost", batch[k].second, batch[k].first);
          break;
        }
      return {false, text, "a batch has other rows than it should, or in another order"};
    }
    return {};
  }
  static bool same_row(const Sizes& s, const Right& right, ConstBuffers in, int source, std::size_t token,
                       const float* got) {
    const auto rows = as<float>(in[2 * static_cast<std::size_t>(source)]);
    for (std::size_t k = 0; k < s.row(); ++k) {
      float value = rows[token * s.row() + k];
      const std::size_t w = static_cast<std::size_t>(s.width), choices = static_cast<std::size_t>(s.choices);
      if (k >= w && k < w + choices)
        value = static_cast<float>(right.chosen[static_cast<std::size_t>(source)][token * choices + k - w]);
      if (std::memcmp(&value, &got[k], sizeof value) != 0) return false;
    }
    return true;
  }
  static Verdict verify_sums(const Sizes& s, const Right& right, ConstBuffers in, ConstBuffers out, int r) {
    const auto rows = as<float>(in[2 * static_cast<std::size_t>(r)]);
    const auto width = static_cast<std::size_t>(s.width), choices = static_cast<std::size_t>(s.choices);
    const SumTolerance tolerance = Tolerance{}.of_length(2 + s.choices);
    auto expected = [&](std::size_t i) {
      const std::size_t t = i / width, at = i % width;
      double sum = 0, magnitude = 0, squares = 0;
      for (std::size_t j = 0; j < choices; ++j) {
        const int e = right.chosen[static_cast<std::size_t>(r)][t * choices + j];
        if (e < 0) continue;
        const auto weights = as<float>(in[2 * static_cast<std::size_t>(e / s.experts) + 1]);
        const double x = static_cast<double>(rows[t * s.row() + at]) *
                         static_cast<double>(rows[t * s.row() + width + choices + j]) *
                         static_cast<double>(weights[static_cast<std::size_t>(e % s.experts) * width + at]);
        sum += x, magnitude += std::fabs(x), squares += x * x;
      }
      return tolerance.of(sum, magnitude, squares);
    };
    auto where = [&](std::size_t i) { return fmt::format("combine: rank {}, out[{}][{}]", r, i / width, i % width); };
    const auto got = as<float>(out[kOut * static_cast<std::size_t>(r)]).first(s.tokens(r) * width);
    return compare_close<float>(got, expected, where, choices);
  }

  // The same additions in the contract's order, of the results that the experts really had.
  static Verdict verify_order(const Sizes& s, const Right& right, ConstBuffers out) {
    const auto width = static_cast<std::size_t>(s.width);
    std::vector<std::vector<std::vector<std::pair<int, std::size_t>>>>
        had;  // of each token: ranks, rows of their batches
    for (int r = 0; r < s.p; ++r) had.emplace_back(s.tokens(r));
    for (int q = 0; q < s.p; ++q) {
      const auto& batch = right.batch[static_cast<std::size_t>(q)];
      for (std::size_t i = 0; i < batch.size(); ++i)
        had[static_cast<std::size_t>(batch[i].first)][batch[i].second].push_back({q, i});
    }
    for (int r = 0; r < s.p; ++r) {
      const auto got = as<float>(out[kOut * static_cast<std::size_t>(r)]);
      for (std::size_t t = 0; t < s.tokens(r); ++t)
        for (std::size_t at = 0; at < width; ++at) {
          float sum = 0, of_node = 0;
          int node = 0;
          for (const auto& [q, row] : had[static_cast<std::size_t>(r)][t]) {
            if (q / s.node != node) sum += of_node, of_node = 0, node = q / s.node;
            of_node += as<float>(out[kOut * static_cast<std::size_t>(q) + 3])[row * width + at];
          }
          sum += of_node;
          if (got[t * width + at] == sum) continue;
          return {
              false,
              fmt::format("combine: rank {}, out[{}][{}]: additions by ascending rank within a node, then by ascending "
                          "node, give {:.9g}, got {:.9g}: right but for the rounding of another order",
                          r, t, at, sum, got[t * width + at]),
              "combine adds in another order than the contract's"};
        }
    }
    return {};
  }

  static constexpr std::size_t kOut = 4;  // outputs of a rank
  Memo<Right> right_{16};
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Right> last_;
};

}  // namespace

std::unique_ptr<TaskCheck> all_to_all() { return std::make_unique<AllToAll>(); }

}  // namespace ridge::lab::topology
