// Task `shard` of lab 09, and the list of its tasks: the others are in check/.
#include "check/common.hpp"
#include "checks/variants.hpp"

namespace ridge::lab::tensor_parallel {

namespace {

class Shard : public Task {
 public:
  std::string id() const override { return "shard"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (int p : r.ranks) {
      add(all, p, p, 5, 37, 3 * p);
      add(all, p, 3 * p, 7, r.mode == Mode::grade ? random_size(r.seed, 33, 90) : 45, 11 * p);
      add(all, p, p, 2, 1101, 7 * p);  // rows longer than a block has threads
      add(all, p, 2 * p, 3, 5, 601 * p);
    }
    if (r.ranks.empty()) return all;
    const bool gpu = r.backend == Backend::cuda;
    add(all, measured_ranks(r), gpu ? 32 : 8, gpu ? 128 : 16, gpu ? 4096 : 128, gpu ? 16384 : 512);
    all.back().measured = true;
    return all;
  }
  Shape shape(const Case& c) const override {
    const Size qkv = 3 * at(c, 0) * at(c, 1) * at(c, 2) * 4, fc2 = at(c, 2) * at(c, 3) * 4, p = ranks(c);
    return {{qkv, fc2}, {qkv / p, fc2 / p}};
  }
  void fill(const Case& c, std::uint64_t, Buffers in) const override {
    fill_normal(floats(in[0]), c.shared_seed);
    fill_normal(floats(in[1]), random_bits(c.shared_seed, 1));
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const Size H = at(c, 0), hs = at(c, 1), C = at(c, 2), F = at(c, 3), p = ranks(c), own = H / p * hs * C;
    for (int r = 0; r < c.ranks; ++r) {
      const Size rank = static_cast<Size>(r);
      const auto qkv = of_rank(in, c.ranks, r, 0), fc2 = of_rank(in, c.ranks, r, 1);
      const auto qkv_shard = of_rank(out, c.ranks, r, 0), fc2_shard = of_rank(out, c.ranks, r, 1);
      Verdict v = compare_exact<float>(
          qkv_shard, [&](Size i) { return qkv[i / own * H * hs * C + rank * own + i % own]; },
          [&](Size i) {
            const Size part = i / own;
            return fmt::format("rank {}, qkv_shard, part {} ({}), row {}, column {}", r, part,
                               part == 0   ? "q"
                               : part == 1 ? "k"
                                           : "v",
                               i % own / C, i % C);
          });
      if (!v.ok) {
        const Size rows = own / C;  // of each of q, k and v
        auto range = [&](Size first, Size count) { return fmt::format("{} to {}", first, first + count - 1); };
        tell_variant(
            v, qkv_shard.size(), [&](Size i) { return qkv_shard[i]; },
            {{fmt::format("rank {}'s qkv_shard is rows {} of qkv, one range. The rows of its heads are {} (q), {} (k) "
                          "and {} (v)",
                          r, range(3 * rank * rows, 3 * rows), range(rank * rows, rows),
                          range(H * hs + rank * rows, rows), range(2 * H * hs + rank * rows, rows)),
              [&](Size i) { return double{qkv[3 * rank * own + i]}; }}},
            0);
        return v;
      }
      const Size columns = F / p;
      v = compare_exact<float>(
          fc2_shard, [&](Size i) { return fc2[i / columns * F + rank * columns + i % columns]; },
          [&](Size i) { return fmt::format("rank {}, fc2_shard[{}][{}]", r, i / columns, i % columns); });
      if (v.ok) continue;
      const Size first = rank * C * columns;
      tell_variant(
          v, fc2_shard.size(), [&](Size i) { return fc2_shard[i]; },
          {{fmt::format(
                "rank {}'s fc2_shard is elements {} to {} of fc2 as they lie there, one range. It must be columns "
                "{} to {} of each of the {} rows",
                r, first, first + C * columns - 1, rank * columns, (rank + 1) * columns - 1, C),
            [&](Size i) { return double{fc2[first + i]}; }}},
          0);
      return v;
    }
    return {};
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    return Traffic(c.ranks).compare(messages);
  }
  Work work(const Case& c) const override {
    const double bytes = 4.0 * static_cast<double>((3 * at(c, 0) * at(c, 1) + at(c, 3)) * at(c, 2)) / c.ranks;
    return {bytes / 4, "element", bytes, bytes};
  }

 private:
  static Size ranks(const Case& c) { return static_cast<Size>(c.ranks); }
  static void add(std::vector<Case>& all, int p, std::int64_t H, std::int64_t hs, std::int64_t C, std::int64_t F) {
    all.push_back(made(p, {H, hs, C, F}, fmt::format("H {}, hs {}, C {}, F {}", H, hs, C, F)));
  }
};

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(std::make_unique<Shard>());
  checks.push_back(mlp());
  checks.push_back(attention());
  checks.push_back(cross_entropy());
  checks.push_back(sequence_parallel());
  checks.push_back(overlap());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("09_tensor_parallel", make);

}  // namespace

}  // namespace ridge::lab::tensor_parallel
