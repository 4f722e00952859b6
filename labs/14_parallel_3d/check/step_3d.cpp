// One training step on a grid of ranks, against the same step on one rank in double precision.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "../shards.hpp"
#include "checks/memo.hpp"
#include "checks/reference.hpp"
#include "common.hpp"

namespace ridge::lab::parallel_3d {

namespace {

using shards::Run;
using shards::Shard;

// Of the whole model, by element of its flat buffer. The embedding's gradient has two parts: of its tokens, and of the
// head.
struct Step {
  std::vector<double> gradient, deviation;
  std::vector<std::vector<double>> of_replica;
  std::size_t head_at = 0;         // where the token embedding begins
  std::vector<double> head_part;   // of its elements
  double squares = 0, spread = 0;  // of the gradient; what an honest error of the squares is
};

struct State {
  float loss_scale, squares, overflow;
};

class Step3d : public TaskCheck {
 public:
  std::string id() const override { return "step_3d"; }

  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::array<int, 3> grid, int blocks, int m, int B, int T, int kind) {
      Case c;
      c.ranks = grid[0] * grid[1] * grid[2];
      c.size = {grid[0], grid[1], grid[2], blocks, m, Run::pair(B, T), Run::pair(24, 4), Run::pair(19, kind)};
      c.name = fmt::format("data {}, pipeline {}, tensor {}, {} micro-batch{}, {}", grid[0], grid[1], grid[2], m,
                           m == 1 ? "" : "es",
                           kind == 0   ? "not clipped"
                           : kind == 1 ? "clipped"
                                       : "an overflow");
      all.push_back(c);
    };
    for (const int p : r.ranks) {
      if (p == 1) add({1, 1, 1}, 2, 3, 1, 5, 1), add({1, 1, 1}, 1, 1, 2, 4, 2);
      if (p == 2)
        add({2, 1, 1}, 1, 2, 1, 7, 0), add({1, 2, 1}, 1, 3, 1, 5, 1), add({1, 1, 2}, 2, 1, 2, 5, 1),
            add({1, 2, 1}, 2, 1, 1, 6, 2);
      if (p == 4) {
        add({1, 2, 2}, 1, 2, 1, 5, 1), add({2, 2, 1}, 1, 3, 1, 6, 0), add({1, 4, 1}, 1, 2, 1, 5, 1),
            add({2, 1, 2}, 1, 2, 1, 5, 2);
        if (r.mode == Mode::grade) add({1, 1, 4}, 1, 2, 1, 7, 1);
      }
      if (p == 8) {
        add({2, 2, 2}, 1, 2, 1, 5, 1), add({2, 1, 4}, 1, 2, 1, 5, 0), add({2, 2, 2}, 1, 1, 1, 6, 2);
        if (r.mode == Mode::grade) add({2, 4, 1}, 1, 3, 1, 5, 1);
      }
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    const Run run(c.size.data());
    const auto [p, t] = stage_and_part(run, c.rank);
    const std::size_t part = 4 * Shard(run, nn::parameter_layout(run.model()), p, t).elements;
    return {{part, 8 * run.tokens(), 4}, {part, part, sizeof(State)}, shards::memory_of(run, p).total(run)};
  }
  void fill(const Case& c, std::uint64_t, Buffers in) const override {
    const Run run(c.size.data());
    const nn::ParameterLayout layout = nn::parameter_layout(run.model());
    const auto [p, t] = stage_and_part(run, c.rank);
    const Shard shard(run, layout, p, t);
    const std::vector<float> whole = weights(run, layout, c.shared_seed);
    const auto own = floats(in[0]);
    std::fill(own.begin(), own.end(), 0.0f);
    for (const shards::Piece& piece : shard.pieces)
      for (std::size_t i = 0; i < piece.count(); ++i) own[piece.place + i] = whole[piece.flat(i)];
    const auto replica = static_cast<std::uint64_t>(c.rank / run.tensor % run.data);
    fill_integers(as<std::int32_t>(in[1]), random_bits(c.shared_seed, 100 + replica), 0, run.vocabulary - 1);
    floats(in[2])[0] = run.loss_scale();
  }
  Work work(const Case& c) const override {
    const Run run(c.size.data());
    const auto n = static_cast<double>(nn::parameter_layout(run.model()).elements);
    return {6 * n * static_cast<double>(run.tokens()) / (run.pipeline * run.tensor), "flop", 4 * n, 4 * n};
  }
  bool host_may_wait() const override { return false; }
  bool host_may_read() const override { return false; }
  // Arguments of the engine's launches.
  double bytes_from_host(const Case& c) const override {
    const Run run(c.size.data());
    return 64 * 1024 + 256.0 * run.micro_batches * (64 + run.blocks * (60 + 10.0 * run.batch)) +
           256.0 * 64 * run.blocks;
  }

  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const Run run(c.size.data());
    const auto ranks = static_cast<std::size_t>(c.ranks);
    auto state = [&](std::size_t r) { return as<State>(out[3 * r + 2])[0]; };
    auto same = [](float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; };  // also where both are no number
    const bool overflows = run.kind == 2;
    const float scale = overflows ? run.loss_scale() / 2 : run.loss_scale();
    for (std::size_t r = 0; r < ranks; ++r)
      if (!same(state(r).overflow, state(0).overflow) || !same(state(r).loss_scale, state(0).loss_scale))
        return {false,
                fmt::format("rank {} says overflow {:g} and has the loss scale {:g}, rank {} says {:g} and has {:g}", 0,
                            state(0).overflow, state(0).loss_scale, r, state(r).overflow, state(r).loss_scale),
                "ranks do not agree on an overflow and on the loss scale", "agree"};
    const nn::ParameterLayout layout = nn::parameter_layout(run.model());
    const auto s = steps_.get(c, in, [&] { return make_step(run, layout, in); });
    if (overflows && !does_overflow(*s, run))
      return {false, "no gradient overflows in this case, or all do: this is a fault of the course, please report it"};
    for (std::size_t r = 0; r < ranks; ++r)
      if (state(r).overflow != (overflows ? 1 : 0) || state(r).loss_scale != scale)
        return {
            false,
            fmt::format("rank {}: overflow is {:g} and the loss scale is {:g}, got {:g} and {:g}{}", r,
                        overflows ? 1.0 : 0.0, scale, state(r).overflow, state(r).loss_scale,
                        std::isnan(state(r).overflow) ? ": `squares` and `overflow` are undefined at the call" : ""),
            "the overflow or the loss scale is wrong"};
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto before = floats(in[3 * r]), after = floats(out[3 * r]);
      if (overflows) {
        Verdict v = compare_exact<float>(
            after, [&](std::size_t i) { return before[i]; },
            [&](std::size_t i) { return where(run, layout, r, "weights", i) + ", after an overflow"; });
        if (!v.ok) return v;
        continue;
      }
      if (Verdict v = gradients(run, layout, *s, floats(out[3 * r + 1]), r); !v.ok) return v;
    }
    if (overflows) return {};
    if (Verdict v = squares(run, layout, *s, state(0).squares); !v.ok) return v;
    for (std::size_t r = 1; r < ranks; ++r)
      if (!(std::fabs(state(r).squares - s->squares) <= s->spread))
        return {
            false,
            fmt::format("rank {} has squares of {:.9g} and rank 0 of {:.9g}", r, state(r).squares, state(0).squares),
            "ranks have different norms", "agree"};
    for (std::size_t r = 0; r < ranks; ++r) {
      const Shard shard = shard_of(run, layout, r);
      const auto before = floats(in[3 * r]), after = floats(out[3 * r]);
      const std::vector<std::size_t> flat = flat_of(shard);
      const double norm = std::sqrt(s->squares), limit = run.max_norm(), factor = norm > limit ? limit / norm : 1;
      Verdict v = compare_close<float>(
          after,
          [&](std::size_t i) {
            if (flat[i] == kGap) return Expected{0, 1e-30, 1e-30, 0};
            const double g = s->gradient[flat[i]], moved = Run::kRate * factor * g,
                         size = std::fabs(before[i]) + std::fabs(moved);
            const double d = Run::kRate * factor * s->deviation[flat[i]] +
                             std::fabs(moved) * s->spread / (s->squares * 16) + 2 * kFp32.unit() * size;
            return Expected{before[i] - moved, d, 16 * d, size};
          },
          [&](std::size_t i) { return where(run, layout, r, "weights", i); });
      if (!v.ok) return v;
      const std::size_t replica =
          r % static_cast<std::size_t>(run.tensor) +
          r / static_cast<std::size_t>(run.tensor * run.data) * static_cast<std::size_t>(run.tensor * run.data);
      if (std::memcmp(out[3 * r].data(), out[3 * replica].data(), out[3 * r].size()) != 0)
        return {false,
                fmt::format("the weights of rank {} are not, bit for bit, those of its replica, rank {}", r, replica),
                "replicas have different weights", "agree"};
    }
    return copies(run, layout, out);
  }

  // What each rank must send. An all-reduce of n bytes among p ranks sends 2 (p - 1) / p n from each.
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    const Run run(c.size.data());
    const nn::ParameterLayout layout = nn::parameter_layout(run.model());
    auto ring = [](double bytes, int p) { return 2.0 * (p - 1) / p * bytes; };
    for (int r = 0; r < c.ranks; ++r) {
      const auto [p, t] = stage_and_part(run, r);
      const Shard shard(run, layout, p, t);
      const double activation = 4.0 * static_cast<double>(run.rows()) * run.channels;
      const bool end = run.pipeline > 1 && (p == 0 || p + 1 == run.pipeline);
      const double stages = run.micro_batches * activation * ((p > 0 ? 1 : 0) + (p + 1 < run.pipeline ? 1 : 0));
      const double within = run.micro_batches * run.blocks * 4.0 * ring(activation, run.tensor);
      const double embedding = end ? ring(4.0 * run.model().padded_vocabulary() * run.channels, 2) : 0;
      const double all = stages + within + embedding + ring(4.0 * static_cast<double>(shard.elements), run.data);
      double sent = 0;
      for (const Message& m : messages)
        if (m.from == r) sent += static_cast<double>(m.bytes);
      // Sums that p does not divide, and a few numbers for norm and overflow.
      if (sent > 1.005 * all + 1024)
        return {
            false,
            fmt::format(
                "rank {} sends {:.0f} bytes, and {:.0f} are needed: {:.0f} to other stages, {:.0f} within its tensor "
                "group, {:.0f} "
                "to other replicas, {:.0f} for the embedding",
                r, sent, all, stages, within, all - stages - within - embedding, embedding),
            "a rank sends more bytes than a step needs", "traffic"};
    }
    return {};
  }

 private:
  static constexpr std::size_t kGap = ~std::size_t{0};

  static std::pair<int, int> stage_and_part(const Run& run, int rank) {
    return {rank / (run.tensor * run.data), rank % run.tensor};
  }
  static Shard shard_of(const Run& run, const nn::ParameterLayout& layout, std::size_t rank) {
    const auto [p, t] = stage_and_part(run, static_cast<int>(rank));
    return {run, layout, p, t};
  }
  // The flat element of each element of a rank's buffer, or kGap.
  static std::vector<std::size_t> flat_of(const Shard& shard) {
    std::vector<std::size_t> flat(shard.elements, kGap);
    for (const shards::Piece& piece : shard.pieces)
      for (std::size_t i = 0; i < piece.count(); ++i) flat[piece.place + i] = piece.flat(i);
    return flat;
  }
  static std::string where(const Run& run, const nn::ParameterLayout& layout, std::size_t r, const char* buffer,
                           std::size_t i) {
    for (const shards::Piece& piece : shard_of(run, layout, r).pieces)
      if (i >= piece.place && i < piece.place + piece.count())
        return fmt::format("rank {}, {} of {}, element {}", r, buffer, piece.name, i - piece.place);
    return fmt::format("rank {}, {}, a gap between two tensors", r, buffer);
  }
  // No bias is 0 and no gamma is 1. Where a gradient is to overflow, one hidden channel of one block is very large:
  // only the gradient of its column of fc2_w is, too, which one rank of each tensor group has.
  static std::vector<float> weights(const Run& run, const nn::ParameterLayout& layout, std::uint64_t seed) {
    std::vector<float> flat(layout.elements, 0.0f);
    for (const nn::Parameter& p : layout.parameters) {
      const auto part = std::span(flat).subspan(p.offset, p.size());
      fill_normal(part, random_bits(seed, p.offset));
      scale_and_shift(part, p.rows > 1 ? 0.6f / std::sqrt(static_cast<float>(p.cols)) : 0.1f, p.mean);
    }
    if (run.kind != 2) return flat;
    const std::size_t C = static_cast<std::size_t>(run.channels), F = 4 * C;
    const auto& block = layout.at.blocks[layout.at.blocks.size() / 2];
    flat[block.fc_b + F - 1] = 3e4f;
    for (std::size_t c = 0; c < C; ++c) flat[block.fc2_w + c * F + F - 1] *= 1e-4f;
    return flat;
  }
  static bool does_overflow(const Step& s, const Run& run) {
    std::size_t over = 0;
    for (const double g : s.gradient) over += std::fabs(g) * run.loss_scale() > 4e38 ? 1 : 0;
    return over > 0 && over <= 2 * static_cast<std::size_t>(run.channels);
  }

  // The embedding and the head with matrices of their own give both parts of its gradient.
  static Step make_step(const Run& run, const nn::ParameterLayout& layout, ConstBuffers in) {
    nn::ModelConfig apart = run.model();
    apart.tied = false;
    const nn::ParameterLayout two = nn::parameter_layout(apart);
    std::vector<float> whole(layout.elements, 0.0f);
    const std::size_t ranks = in.size() / 3;
    for (std::size_t r = 0; r < ranks; ++r)
      for (const shards::Piece& piece : shard_of(run, layout, r).pieces)
        for (std::size_t i = 0; i < piece.count(); ++i) whole[piece.flat(i)] = floats(in[3 * r])[piece.place + i];
    auto named = [&](const std::string& name) {
      for (const nn::Parameter& p : two.parameters)
        if (p.name == name) return p.offset;
      throw std::logic_error("no parameter " + name);
    };
    std::vector<double> values(two.elements, 0);
    for (const nn::Parameter& p : layout.parameters)
      for (std::size_t i = 0; i < p.size(); ++i) values[named(p.name) + i] = whole[p.offset + i];
    const std::size_t head = two.at.head_w, embedding = static_cast<std::size_t>(run.model().padded_vocabulary()) *
                                                        static_cast<std::size_t>(run.channels);
    for (std::size_t i = 0; i < embedding; ++i) values[head + i] = whole[layout.at.wte + i];

    Step s;
    s.gradient.assign(layout.elements, 0), s.deviation.assign(layout.elements, 0), s.head_part.assign(embedding, 0);
    s.head_at = layout.at.wte;
    const double tokens = static_cast<double>(run.tokens()) * run.data;
    for (int d = 0; d < run.data; ++d) {
      const auto words = as<std::int32_t>(in[3 * static_cast<std::size_t>(d * run.tensor) + 1]);
      std::vector<double> part(two.elements, 0), own(layout.elements, 0);
      nn::reference::loss(apart, two, values, words.first(run.tokens()), words.subspan(run.tokens(), run.tokens()),
                          run.batch * run.micro_batches, run.sequence, 1 / tokens, part);
      for (const nn::Parameter& p : layout.parameters)
        for (std::size_t i = 0; i < p.size(); ++i) own[p.offset + i] = part[named(p.name) + i];
      for (std::size_t i = 0; i < embedding; ++i)
        own[layout.at.wte + i] += part[head + i], s.head_part[i] += part[head + i];
      for (std::size_t i = 0; i < own.size(); ++i) s.gradient[i] += own[i];
      s.of_replica.push_back(std::move(own));
    }
    // As in lab 13: an element is a sum over the tokens of products whose factors have come through all blocks twice.
    const double length = 2.0 * run.model().layers * (9.0 * run.channels + run.sequence) + tokens;
    double errors = 0;
    for (const nn::Parameter& p : layout.parameters) {
      double largest = 0;
      for (std::size_t i = p.offset; i < p.offset + p.size(); ++i)
        largest = std::max(largest, std::fabs(s.gradient[i]));
      for (std::size_t i = p.offset; i < p.offset + p.size(); ++i) {
        s.deviation[i] = kFp32.unit() * std::sqrt(length) * largest;
        s.squares += s.gradient[i] * s.gradient[i], errors += s.deviation[i] * s.deviation[i];
      }
    }
    s.spread = 16 * (2 * std::sqrt(s.squares * errors) +
                     kFp32.unit() * s.squares * std::sqrt(static_cast<double>(layout.elements)));
    return s;
  }

  struct Suspect {
    const char* what;
    double (*value)(const Run& run, const Step& s, std::size_t replica, bool first, std::size_t flat);
  };
  static Verdict gradients(const Run& run, const nn::ParameterLayout& layout, const Step& s, std::span<const float> got,
                           std::size_t r) {
    const Shard shard = shard_of(run, layout, r);
    const std::vector<std::size_t> flat = flat_of(shard);
    auto expected = [&](std::size_t i) {
      if (flat[i] == kGap) return Expected{0, 1e-30, 1e-30, 0};
      const double g = s.gradient[flat[i]], d = s.deviation[flat[i]] + 1.2e-38;
      return Expected{g, d, 16 * d, std::fabs(g)};
    };
    Verdict v =
        compare_close<float>(got, expected, [&](std::size_t i) { return where(run, layout, r, "gradients", i); });
    if (v.ok) return v;
    static const Suspect suspects[] = {
        {"those of this replica alone: the other replicas' are not in them",
         [](const Run&, const Step& x, std::size_t replica, bool, std::size_t f) { return x.of_replica[replica][f]; }},
        {"d times too large: the loss is the mean over all replicas, whose gradients are added",
         [](const Run& q, const Step& x, std::size_t, bool, std::size_t f) { return q.data * x.gradient[f]; }},
        {"the gradient divided by d once more",
         [](const Run& q, const Step& x, std::size_t, bool, std::size_t f) { return x.gradient[f] / q.data; }},
        {"t times too large: these tensors have the same gradient on all ranks of the tensor group already",
         [](const Run& q, const Step& x, std::size_t, bool, std::size_t f) { return q.tensor * x.gradient[f]; }},
        {"still multiplied by the loss scale",
         [](const Run& q, const Step& x, std::size_t, bool, std::size_t f) { return q.loss_scale() * x.gradient[f]; }},
        {"one part of the embedding's gradient: the first stage has that of its tokens, the last one that of the head",
         [](const Run&, const Step& x, std::size_t, bool first, std::size_t f) {
           if (f < x.head_at || f >= x.head_at + x.head_part.size()) return x.gradient[f];
           const double head = x.head_part[f - x.head_at];
           return first ? x.gradient[f] - head : head;
         }}};
    const auto replica = r / static_cast<std::size_t>(run.tensor) % static_cast<std::size_t>(run.data);
    const bool first = r < static_cast<std::size_t>(run.tensor * run.data);
    for (const Suspect& suspect : suspects) {
      std::size_t wrong = 0, alike = 0;
      for (std::size_t i = 0; i < got.size(); ++i) {
        const Expected e = expected(i);
        if (flat[i] == kGap || std::fabs(got[i] - e.value) <= e.worst) continue;
        const double value = suspect.value(run, s, replica, first, flat[i]);
        ++wrong, alike += std::fabs(got[i] - value) <=
                                  e.worst * (1 + std::fabs(value) / std::max(std::fabs(e.value), e.deviation))
                              ? 1
                              : 0;
      }
      if (wrong < 4 || alike < wrong - wrong / 20) continue;
      if (const std::size_t end = v.message.find(" are wrong"); end != std::string::npos) v.message.resize(end + 10);
      v.message += fmt::format("; the wrong elements are {}", suspect.what);
      break;
    }
    return v;
  }

  // Tensors that several ranks of one copy of the model have: what is not cut, in a tensor group; and the embedding, on
  // the first and the last stage.
  static Verdict copies(const Run& run, const nn::ParameterLayout& layout, ConstBuffers out) {
    const auto t = static_cast<std::size_t>(run.tensor), stage = t * static_cast<std::size_t>(run.data);
    const std::size_t last = stage * static_cast<std::size_t>(run.pipeline - 1);
    for (std::size_t r = 0; r < last + stage; ++r) {
      for (const shards::Piece& piece : shard_of(run, layout, r).pieces) {
        auto same = [&](std::size_t other) {
          for (const shards::Piece& its : shard_of(run, layout, other).pieces)
            if (its.name == piece.name)
              return std::memcmp(floats(out[3 * r]).data() + piece.place, floats(out[3 * other]).data() + its.place,
                                 piece.count() * sizeof(float)) == 0;
          return true;
        };
        auto differ = [&](std::size_t other) {
          return Verdict{false,
                         fmt::format("the weights of {} on rank {} are not, bit for bit, those on rank {}, which has "
                                     "the same tensor",
                                     piece.name, r, other),
                         "copies of a tensor have different weights", "agree"};
        };
        if (const std::size_t leader = r - r % t; !piece.cut && !same(leader)) return differ(leader);
        if (const std::size_t first = r % stage; piece.embedding && r >= last && !same(first)) return differ(first);
      }
    }
    return {};
  }

  static Verdict squares(const Run& run, const nn::ParameterLayout& layout, const Step& s, double got) {
    if (std::fabs(got - s.squares) <= s.spread) return {};  // false for NaN
    double cut = 0, embedding = 0, own = 0;
    for (std::size_t i = layout.at.wte; i < layout.at.wte + s.head_part.size(); ++i)
      embedding += s.gradient[i] * s.gradient[i];
    for (int p = 0; p < run.pipeline; ++p)
      for (int t = 0; t < run.tensor; ++t)
        for (const shards::Piece& piece : Shard(run, layout, p, t).pieces)
          for (std::size_t i = 0; i < piece.count(); ++i) {
            const double g = s.gradient[piece.flat(i)];
            cut += piece.cut ? g * g : 0, own += p == 0 && t == 0 ? g * g : 0;
          }
    const double common = s.squares - cut, twice = run.pipeline > 1 ? embedding : 0;
    const struct {
      double value;
      const char* what;
    } suspects[] = {
        {own, "those of this rank's own tensors alone"},
        {s.squares + twice, "both copies of the embedding are counted"},
        {s.squares + (run.tensor - 1) * common,
         "tensors that all ranks of a tensor group have are counted for each of them"},
        {s.squares + twice + (run.tensor - 1) * (common + twice),
         "tensors that several ranks have are counted several times"},
        {run.data * s.squares, "each replica is counted"},
        {run.data * (s.squares + twice + (run.tensor - 1) * (common + twice)),
         "all ranks' tensors are counted, also where several ranks have the same"},
        {s.squares - common + common / run.tensor, "tensors that all have are divided among the tensor group"},
        {s.squares - embedding, "the embedding is missing"},
        {std::sqrt(s.squares), "this is the norm: squares is without the root"}};
    for (const auto& suspect : suspects)
      if (std::fabs(got - suspect.value) <= 4 * s.spread * std::max(1.0, suspect.value / s.squares))
        return {false, fmt::format("squares: expected {:.9g}, got {:.9g}: {}", s.squares, got, suspect.what),
                suspect.what};
    return {false, fmt::format("squares: expected {:.9g}, got {:.9g}", s.squares, got)};
  }

  Memo<Step> steps_{3};
};

}  // namespace

std::unique_ptr<TaskCheck> step_3d() { return std::make_unique<Step3d>(); }

}  // namespace ridge::lab::parallel_3d
