// Cases, inputs, expected answers and traffic of lab 07.
#include "lab/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "lab/compare.hpp"
#include "lab/memo.hpp"
#include "nn/layout.hpp"
#include "nn/reference.hpp"
#include "roofline/profile.hpp"

namespace {

using namespace ridge::lab;

Verdict refused(std::string why) { return {false, std::move(why), {}, "traffic"}; }

// Output `which` of all ranks, bit for bit.
Verdict same_bits(ConstBuffers out, std::size_t outs, std::size_t which, const char* name) {
  const auto first = floats(out[which]);
  for (std::size_t r = 1; r * outs + which < out.size(); ++r) {
    const auto other = floats(out[r * outs + which]);
    for (std::size_t i = 0; i < first.size(); ++i)
      if (std::memcmp(&first[i], &other[i], sizeof(float)) != 0)
        return {
            false,
            fmt::format("{}[{}] is {:.9g} on rank 0 and {:.9g} on rank {}: after a thousand steps these are two models",
                        name, i, static_cast<double>(first[i]), static_cast<double>(other[i]), r),
            "ranks have different answers", "agree"};
  }
  return {};
}

// What ranks send: their bytes, and how many messages.
struct Traffic {
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> messages, sent;  // of each rank
  Traffic(const Case& c, std::span<const Message> all)
      : messages(static_cast<std::size_t>(c.ranks)), sent(static_cast<std::size_t>(c.ranks)) {
    for (const Message& m : all) {
      bytes += m.bytes;
      ++messages[static_cast<std::size_t>(m.from)];
      sent[static_cast<std::size_t>(m.from)] += m.bytes;
    }
  }
};

// Tasks that train. Sizes of a case: layers, channels, heads, T, vocabulary, sequences of a micro-batch on all ranks,
// micro-batches, bucket_bytes.
class Training : public TaskCheck {
 public:
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (int p : r.ranks) {
      // Sequences that p does not divide, and more than one token of a kind.
      all.push_back(small(p, 2, 24, 3, 7, 19, p + 1));
      if (r.mode == Mode::grade) {
        const auto T = random_size(r.seed, 5, 12), V = random_size(r.seed + 1, 10, 40);
        all.push_back(small(p, 1, 40, 2, T, V, 2 * p - 1));
      }
    }
    if (!r.ranks.empty()) add_measured(r, all);
    for (Case& c : all) c.name = name_of(c);
    return all;
  }
  Shape shape(const Case& c) const override {
    return {{bytes_of_weights(c), static_cast<std::size_t>(c.size[6] * 2 * sequences(c, c.rank) * c.size[3]) * 4},
            {bytes_of_weights(c)}};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    fill_weights(c, c.shared_seed, floats(in[0]));
    fill_integers(as<std::int32_t>(in[1]), seed, 0, static_cast<std::int32_t>(c.size[4]) - 1);
  }
  Work work(const Case& c) const override {
    // Of one rank: a multiplication and an addition for each weight and token, twice as much in backward.
    const auto n = static_cast<double>(elements(c));
    const double tokens = static_cast<double>(c.size[5] * c.size[6] * c.size[3]) / c.ranks;
    return {6 * n * tokens, "flop", 4 * n, 4 * n};
  }
  // Arguments of the engine's launches.
  double bytes_from_host(const Case& c) const override {
    const auto blocks = static_cast<double>(c.size[0] * c.size[6]);
    return 64 * 1024 + 256 * (64 + blocks * (60 + 10 * static_cast<double>(sequences(c, 0))));
  }
  bool host_reads_inputs() const override { return false; }

 protected:
  virtual void add_measured(const Request&, std::vector<Case>&) const {}
  virtual std::int64_t micro_batches(int) const { return 1; }
  virtual int most_measured() const { return 4; }  // ranks
  virtual std::int64_t bucket_bytes(std::int64_t /* bytes of weights */) const { return 0; }

  Case small(int p, std::int64_t layers, std::int64_t channels, std::int64_t heads, std::int64_t T, std::int64_t V,
             std::int64_t of_all) const {
    Case c;
    c.ranks = p;
    c.size = {layers, channels, heads, T, V, of_all, micro_batches(p), 0};
    c.size[7] = bucket_bytes(static_cast<std::int64_t>(bytes_of_weights(c)));
    return c;
  }
  static std::string name_of(const Case& c) {
    std::string name = fmt::format("{} rank{}, L {} C {} T {}, {} sequences", c.ranks, c.ranks == 1 ? "" : "s",
                                   c.size[0], c.size[1], c.size[3], c.size[5]);
    if (c.size[6] > 1) name += fmt::format(" x {}", c.size[6]);
    if (c.size[7] > 0) name += fmt::format(", buckets of {} KiB", (c.size[7] + 512) / 1024);
    return name;
  }

  static nn::ModelConfig config(const Case& c) {
    auto i = [&](std::size_t k) { return static_cast<int>(c.size[k]); };
    return {i(4), i(3), i(0), i(2), i(1), true};
  }
  static std::size_t elements(const Case& c) { return nn::parameter_layout(config(c)).elements; }
  static std::size_t bytes_of_weights(const Case& c) { return 4 * elements(c); }
  static std::int64_t sequences(const Case& c, int rank) {
    return c.size[5] / c.ranks + (rank < c.size[5] % c.ranks ? 1 : 0);
  }
  static void fill_weights(const Case& c, std::uint64_t seed, std::span<float> to) {
    const nn::ParameterLayout layout = nn::parameter_layout(config(c));
    std::fill(to.begin(), to.end(), 0.0f);
    // As in the middle of training: no bias is 0, no gamma is 1.
    for (const nn::Parameter& p : layout.parameters) {
      const auto part = to.subspan(p.offset, p.size());
      fill_normal(part, random_bits(seed, p.offset));
      const float spread = p.rows > 1 ? 0.6f / std::sqrt(static_cast<float>(p.cols)) : 0.1f;
      scale_and_shift(part, spread, p.mean);
    }
  }

  // The gradient of the mean loss over all tokens of all ranks, and what an honest error of each element is.
  struct Gradient {
    std::vector<double> value, deviation;
  };
  std::shared_ptr<const Gradient> expected_gradient(const Case& c, ConstBuffers in, std::size_t ins) const {
    return gradients_.get(c, in, [&] { return make_gradient(c, in, ins); });
  }
  static Gradient make_gradient(const Case& c, ConstBuffers in, std::size_t ins) {
    const nn::ModelConfig model = config(c);
    const nn::ParameterLayout layout = nn::parameter_layout(model);
    const auto flat = floats(in[0]);
    const std::vector<double> weights(flat.begin(), flat.end());
    Gradient g{std::vector<double>(layout.elements), std::vector<double>(layout.elements)};
    const auto T = static_cast<std::size_t>(c.size[3]);
    const double tokens = static_cast<double>(c.size[5] * c.size[6]) * static_cast<double>(T);
    for (int r = 0; r < c.ranks; ++r) {
      const auto words = as<std::int32_t>(in[static_cast<std::size_t>(r) * ins + 1]);
      const auto B = static_cast<std::size_t>(sequences(c, r));
      for (std::size_t i = 0; i < static_cast<std::size_t>(c.size[6]); ++i)
        nn::reference::loss(model, layout, weights, words.subspan(2 * i * B * T, B * T),
                            words.subspan((2 * i + 1) * B * T, B * T), static_cast<int>(B), static_cast<int>(T),
                            1 / tokens, g.value);
    }
    // An element is a sum over the tokens of products whose factors have come through all blocks twice, each time through sums of
    // C, C, hs, T, C, C and 4 C terms. Errors of a sum of k terms of both signs go with the square root of k, and are in
    // proportion to the tensor's large elements rather than to the element's own value.
    const double C = model.channels, length = 2 * model.layers * (9 * C + static_cast<double>(T)) + tokens;
    const double relative = kFp32.unit() * std::sqrt(length);
    for (const nn::Parameter& p : layout.parameters) {
      double largest = 0;
      for (std::size_t i = p.offset; i < p.offset + p.size(); ++i) largest = std::max(largest, std::fabs(g.value[i]));
      std::fill_n(g.deviation.begin() + static_cast<std::ptrdiff_t>(p.offset), p.size(), relative * largest);
    }
    return g;
  }
  static Expected expected(double value, double deviation, double magnitude) {
    const double tiny = std::numeric_limits<float>::min();
    return {value, deviation + tiny, 16 * deviation + tiny, magnitude};
  }
  // "block1.fc_w[3, 17]"
  static Where where(const Case& c, const char* buffer, std::size_t rank, std::size_t first = 0) {
    return [=, layout = nn::parameter_layout(config(c))](std::size_t i) {
      std::string name = "padding";
      for (const nn::Parameter& p : layout.parameters)
        if (first + i >= p.offset && first + i < p.offset + p.size()) {
          const std::size_t at = first + i - p.offset, cols = static_cast<std::size_t>(p.cols);
          name =
              p.rows > 1 ? fmt::format("{}[{}, {}]", p.name, at / cols, at % cols) : fmt::format("{}[{}]", p.name, at);
        }
      return fmt::format("rank {}, {}[{}], which is {}", rank, buffer, i, name);
    };
  }
  static Verdict verify_gradient(const Case& c, const Gradient& g, std::span<const float> got, std::size_t rank) {
    return compare_close<float>(
        got, [&](std::size_t i) { return expected(g.value[i], g.deviation[i], std::fabs(g.value[i])); },
        where(c, "gradients", rank));
  }

  // All ranks together send what all-reduces of n elements take, and each sends as much, and n more where
  // it is in the chain of a broadcast.
  static Verdict verify_all_reduce(const Case& c, const Traffic& t, bool broadcast, const char* needed) {
    const std::uint64_t p = static_cast<std::uint64_t>(c.ranks), bytes = bytes_of_weights(c);
    const std::uint64_t least = (2 + (broadcast ? 1 : 0)) * (p - 1) * bytes;
    if (t.bytes != least)
      return refused(fmt::format("all ranks together send {} bytes, and {} take {}", t.bytes, needed, least));
    // p divides the elements of each bucket: they are multiples of 64.
    const std::uint64_t most = 2 * (p - 1) * (bytes / p) + (broadcast ? bytes : 0);
    for (std::size_t r = 0; r < t.sent.size(); ++r)
      if (t.sent[r] > most)
        return refused(fmt::format("rank {} sends {} bytes, and {} need {} at most of each: others wait for its link",
                                   r, t.sent[r], needed, most));
    return {};
  }

 private:
  Memo<Gradient> gradients_{4};  // on GPUs 200 MB each
};

class After : public Training {
 public:
  std::string id() const override { return "after"; }
  Shape shape(const Case& c) const override {
    Shape s = Training::shape(c);
    s.out.push_back(s.out[0]);
    return s;
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    Training::fill(c, seed, in);
    if (c.rank != 0) fill_weights(c, seed, floats(in[0]));  // other ones
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto expected_g = expected_gradient(c, in, 2);
    const Gradient& g = *expected_g;
    const auto before = floats(in[0]);
    for (std::size_t r = 0; r < static_cast<std::size_t>(c.ranks); ++r) {
      if (Verdict v = verify_gradient(c, g, floats(out[2 * r + 1]), r); !v.ok) return v;
      Verdict v = compare_close<float>(
          floats(out[2 * r]),
          [&](std::size_t i) {
            const double w = before[i], step = kRate * g.value[i], size = std::fabs(w) + std::fabs(step);
            return expected(w - step, kRate * g.deviation[i] + kFp32.unit() * size, size);
          },
          where(c, "weights", r));
      if (!v.ok) return v;
    }
    for (std::size_t which : {std::size_t{1}, std::size_t{0}})
      if (Verdict v = same_bits(out, 2, which, which == 0 ? "weights" : "gradients"); !v.ok) return v;
    return {};
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    const auto p = static_cast<std::uint64_t>(c.ranks);
    const Traffic t(c, messages);
    if (Verdict v = verify_all_reduce(c, t, true, "a broadcast of the weights and an all-reduce of the gradients");
        !v.ok)
      return v;
    for (std::uint64_t sent : t.messages)
      if (sent > 1 + 2 * (p - 1))
        return refused(fmt::format("a rank sends {} messages, and one broadcast and one all-reduce need {} at most",
                                   sent, 1 + 2 * (p - 1)));
    return {};
  }

 private:
  static constexpr double kRate = 0.25;  // as in entry.cu
};

// Buckets, while backward runs.
class Overlapped : public Training {
 public:
  std::string id() const override { return "overlapped"; }
  Shape shape(const Case& c) const override {
    Shape s = Training::shape(c);
    s.workspace = s.out[0];  // the gradients
    return s;
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto expected_g = expected_gradient(c, in, 2);
    const Gradient& g = *expected_g;
    for (std::size_t r = 0; r < static_cast<std::size_t>(c.ranks); ++r)
      if (Verdict v = verify_gradient(c, g, floats(out[r]), r); !v.ok) return v;
    return same_bits(out, 1, 0, "gradients");
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    const Traffic t(c, messages);
    if (Verdict v = verify_all_reduce(c, t, false, "the all-reduces of all buckets"); !v.ok) return v;
    const std::uint64_t steps = 2 * static_cast<std::uint64_t>(c.ranks - 1), wanted = buckets(c).size();
    for (std::size_t r = 0; r < t.messages.size(); ++r)
      if (t.messages[r] != steps * wanted)
        return refused(fmt::format(
            "rank {} sends {} messages, which are {:.3g} all-reduces, and buckets of {} bytes or more make {}", r,
            t.messages[r], static_cast<double>(t.messages[r]) / static_cast<double>(steps), c.size[7], wanted));
    return {};
  }

 protected:
  std::int64_t bucket_bytes(std::int64_t all) const override { return all / 3; }
  // Elements of each bucket.
  static std::vector<std::size_t> buckets(const Case& c) {
    const nn::ParameterLayout layout = nn::parameter_layout(config(c));
    std::vector<std::size_t> ends = {layout.head.end};
    for (std::size_t l = layout.blocks.size(); l-- > 0;)
      ends.insert(ends.end(), {layout.at.blocks[l].proj_w, layout.blocks[l].end});
    ends.push_back(layout.elements);
    std::vector<std::size_t> sizes;
    std::size_t begin = 0;
    for (std::size_t end : ends)
      if (4 * (end - begin) >= static_cast<std::size_t>(c.size[7]) || end == layout.elements)
        sizes.push_back(end - begin), begin = end;
    return sizes;
  }
  void add_measured(const Request& r, std::vector<Case>& all) const override {
    Case c;
    const int p = std::min(most_measured(), r.ranks.back());
    if (r.backend == Backend::cuda) {
      // On a GPU a step of so few tokens takes as long as its launches, some 200 a block. So few blocks, and wide ones: 100 MB
      // of gradients are worth hiding, and the reference has no more to compute than 16 tokens a rank.
      c = small(r.ranks.back(), 2, 1024, 16, 16, 500, r.ranks.back());
      c.size[7] = 12 << 20;
    } else {
      c = small(p, 4, 64, 2, 32, 61, 2 * p);
      if (c.size[6] > 1) c.size[6] = 2, c.size[3] = 16;  // half as long in all
      c.size[7] = 128 << 10;
      c.topology = "ethernet";
    }
    c.measured = true;
    all.push_back(c);
  }
  // What one rank alone takes for the measured case: measured on the emulator, since the bound of the kernels is no formula.
  std::vector<Bound> bounds(const Case&) const override {
    return {{"virtual_time_over_bound", 3160e-6}, {"exposed_messages", 3145e-6}};
  }
};

class Accumulated : public Overlapped {
 public:
  std::string id() const override { return "accumulated"; }

 protected:
  std::int64_t micro_batches(int p) const override { return p == 2 ? 3 : 2; }
  int most_measured() const override { return 2; }
  std::vector<Bound> bounds(const Case&) const override { return {{"exposed_messages", 3290e-6}}; }
};

class Sharded : public Training {
 public:
  std::string id() const override { return "sharded"; }
  Shape shape(const Case& c) const override {
    Shape s = Training::shape(c);
    const std::size_t own = bytes_of_weights(c) / static_cast<std::size_t>(c.ranks);
    s.in.insert(s.in.end(), {own, own});
    s.out.insert(s.out.end(), {own, own});
    s.workspace = bytes_of_weights(c);
    return s;
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    Training::fill(c, seed, in);
    fill_normal(floats(in[2]), seed + 1);
    scale_and_shift(floats(in[2]), 1e-2f, 0);
    fill_uniform(floats(in[3]), seed + 2, 1e-5f, 4e-5f);
    for (float& v : floats(in[3])) v = std::fabs(v);
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto expected_g = expected_gradient(c, in, 4);
    const Gradient& g = *expected_g;
    const std::size_t p = static_cast<std::size_t>(c.ranks), own = g.value.size() / p;
    const auto before = floats(in[0]);
    // As in entry.cu.
    constexpr double rate = 0.01f, beta1 = 0.9f, beta2 = 0.95f, epsilon = 1e-6f, decay = 0.1f, step = 10;
    const double c1 = 1 / (1 - std::pow(beta1, step)), c2 = 1 / (1 - std::pow(beta2, step)), u = kFp32.unit();
    std::vector<Expected> w(g.value.size()), m(g.value.size()), v(g.value.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double m0 = floats(in[4 * (i / own) + 2])[i % own], v0 = floats(in[4 * (i / own) + 3])[i % own];
      const double gi = g.value[i], dg = g.deviation[i], m1 = beta1 * m0 + (1 - beta1) * gi,
                   v1 = beta2 * v0 + (1 - beta2) * gi * gi;
      const double m_size = std::fabs(beta1 * m0) + std::fabs((1 - beta1) * gi);
      // 1 - beta is rounded, too; so two units each.
      const double dm = (1 - beta1) * dg + 2 * u * m_size, dv = 2 * (1 - beta2) * std::fabs(gi) * dg + 2 * u * v1;
      const double root = std::sqrt(v1 * c2), update = m1 * c1 / (root + epsilon);
      const double d_update = c1 * dm / root + std::fabs(update) * (dv / (2 * v1) + 4 * u);
      const double moved = rate * (update + decay * before[i]), size = std::fabs(before[i]) + std::fabs(moved);
      m[i] = expected(m1, dm, m_size);
      v[i] = expected(v1, dv, v1);
      w[i] = expected(before[i] - moved, rate * d_update + 2 * u * size, size);
    }
    for (std::size_t r = 0; r < p; ++r) {
      Verdict verdict = compare_close<float>(
          floats(out[3 * r + 1]), [&](std::size_t i) { return m[r * own + i]; }, where(c, "m", r, r * own));
      if (verdict.ok)
        verdict = compare_close<float>(
            floats(out[3 * r + 2]), [&](std::size_t i) { return v[r * own + i]; }, where(c, "v", r, r * own));
      if (verdict.ok)
        verdict = compare_close<float>(
            floats(out[3 * r]), [&](std::size_t i) { return w[i]; }, where(c, "weights", r));
      if (!verdict.ok) return verdict;
    }
    return same_bits(out, 3, 0, "weights");
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    return verify_all_reduce(c, Traffic(c, messages), false, "a reduce-scatter and an all-gather");
  }
};

// Sizes of a case: n, k, 1 where many magnitudes are equal.
class Compressed : public TaskCheck {
 public:
  std::string id() const override { return "compressed"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (int p : r.ranks) {
      add(all, p, 37, 37, false);
      add(all, p, 1000 + 13 * p, 100 + p, true);
      if (r.mode == Mode::grade)
        add(all, p, random_size(r.seed, 2000, 9000), random_size(r.seed + 1, 100, 1900), p > 1);
    }
    if (r.ranks.empty()) return all;
    const bool gpu = r.backend == Backend::cuda;
    const std::int64_t n = r.mode == Mode::check ? (gpu ? 1 << 22 : 1 << 17) : (gpu ? 1 << 24 : 1 << 18);
    add(all, gpu ? r.ranks.back() : std::min(4, r.ranks.back()), n, n / 256, false);
    if (!gpu) all.back().topology = "ethernet";
    all.back().measured = true;
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto n = static_cast<std::size_t>(c.size[0]), k = static_cast<std::size_t>(c.size[1]);
    return {{4 * n, 4 * n}, {4 * n, 4 * n}, 4 * n + 8 * k * (static_cast<std::size_t>(c.ranks) + 1) + 65536};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    for (std::size_t b : {std::size_t{0}, std::size_t{1}}) {
      const auto values = floats(in[b]);
      if (c.size[2] == 0) {
        fill_lognormal(values, seed + b, 1.5);
        continue;
      }
      // -2.5 to 2.5 in halves, without 0; sums of both are among few numbers, and exact.
      std::vector<std::int32_t> few(values.size());
      fill_integers(few, seed + b, 0, 9);
      for (std::size_t i = 0; i < few.size(); ++i)
        values[i] = 0.5f * static_cast<float>(few[i] < 5 ? few[i] - 5 : few[i] - 4);
    }
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto n = static_cast<std::size_t>(c.size[0]), k = static_cast<std::size_t>(c.size[1]);
    const auto p = static_cast<std::size_t>(c.ranks);
    // Of each rank: what it adds up, with 0 where it is sent, and which elements are sent.
    std::vector<std::vector<float>> left(p), all(p);
    std::vector<std::vector<std::size_t>> sent(p);
    parallel_for(
        p,
        [&](std::size_t from, std::size_t to) {
          for (std::size_t r = from; r < to; ++r) {
            const auto gradient = floats(in[2 * r]), residual = floats(in[2 * r + 1]);
            all[r].resize(n), sent[r].resize(n);
            for (std::size_t i = 0; i < n; ++i) all[r][i] = gradient[i] + residual[i];
            std::iota(sent[r].begin(), sent[r].end(), std::size_t{0});
            std::nth_element(sent[r].begin(), sent[r].begin() + static_cast<std::ptrdiff_t>(k) - 1, sent[r].end(),
                             [&](std::size_t i, std::size_t j) {
                               const float x = std::fabs(all[r][i]), y = std::fabs(all[r][j]);
                               return x > y || (x == y && i < j);
                             });
            sent[r].resize(k);
            left[r] = all[r];
            for (std::size_t i : sent[r]) left[r][i] = 0;
          }
        },
        1);
    std::vector<double> sum(n), magnitude(n), squares(n);
    for (std::size_t r = 0; r < p; ++r) {
      for (std::size_t i : sent[r]) {
        const double x = all[r][i];
        sum[i] += x, magnitude[i] += std::fabs(x), squares[i] += x * x;
      }
      const auto got = floats(out[2 * r + 1]);
      std::vector<float> residual(got.begin(), got.end());
      for (float& x : residual) x = x == 0 ? 0 : x;  // whatever the sign of 0
      Verdict v = compare_exact<float>(
          residual, [&](std::size_t i) { return left[r][i] == 0 ? 0 : left[r][i]; },
          [&](std::size_t i) { return fmt::format("rank {}, residual[{}]", r, i); });
      if (!v.ok) return v;
    }
    const SumTolerance tolerance = Tolerance{}.of_length(static_cast<double>(p) + 2);
    const double part = 1.0 / static_cast<double>(p);
    for (std::size_t r = 0; r < p; ++r) {
      Verdict v = compare_close<float>(
          floats(out[2 * r]),
          [&](std::size_t i) { return tolerance.of(part * sum[i], part * magnitude[i], part * part * squares[i]); },
          [&](std::size_t i) { return fmt::format("rank {}, mean[{}]", r, i); });
      if (!v.ok) return v;
    }
    return same_bits(out, 2, 0, "mean");
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    const auto p = static_cast<std::uint64_t>(c.ranks), k = static_cast<std::uint64_t>(c.size[1]);
    const std::uint64_t most = 8 * k * p * (p - 1);
    if (const Traffic t(c, messages); t.bytes > most)
      return refused(fmt::format("all ranks together send {} bytes, and 8 k p (p - 1) = {} would do", t.bytes, most));
    return {};
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {n, "element", 8 * n, 8 * n};
  }
  // An all-reduce of all n elements, on the links of collectives/topologies/ethernet.toml.
  std::vector<Bound> bounds(const Case& c) const override {
    constexpr double alpha = 25e-6, beta = 2.94e9;
    const double p = c.ranks, bytes = 4 * static_cast<double>(c.size[0]);
    return {{"virtual_time_over_bound",
             ridge::default_profile().device.at("kernel_latency") + 2 * (p - 1) * (alpha + bytes / (p * beta))}};
  }
  bool host_reads_inputs() const override { return false; }

 private:
  static void add(std::vector<Case>& all, int ranks, std::int64_t n, std::int64_t k, bool ties) {
    Case c;
    c.ranks = ranks;
    c.size = {n, k, ties ? 1 : 0};
    c.name =
        fmt::format("{} rank{}, n {}, k {}{}", ranks, ranks == 1 ? "" : "s", n, k, ties ? ", equal magnitudes" : "");
    all.push_back(std::move(c));
  }
};

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(std::make_unique<After>());
  checks.push_back(std::make_unique<Overlapped>());
  checks.push_back(std::make_unique<Accumulated>());
  checks.push_back(std::make_unique<Sharded>());
  checks.push_back(std::make_unique<Compressed>());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("07_ddp", make);

}  // namespace
