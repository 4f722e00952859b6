// The tasks that train: cases, inputs, and the gradient that all of them compute.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "checks/reference.hpp"
#include "common.hpp"

namespace ridge::lab::ddp {

Verdict refused(std::string why) { return {false, std::move(why), {}, "traffic"}; }

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

Traffic::Traffic(const Case& c, std::span<const Message> all)
    : messages(static_cast<std::size_t>(c.ranks)), sent(static_cast<std::size_t>(c.ranks)) {
  for (const Message& m : all) {
    bytes += m.bytes;
    ++messages[static_cast<std::size_t>(m.from)];
    sent[static_cast<std::size_t>(m.from)] += m.bytes;
  }
}

std::vector<Case> Training::cases(const Request& r) const {
  std::vector<Case> all;
  for (int p : r.ranks) {
    // Sequences that p does not divide, and more than one token of a kind.
    all.push_back(small(p, 2, 24, 3, 7, 19, p + 1));
    add_small(p, all);
    if (r.mode == Mode::grade) {
      const auto T = random_size(r.seed, 5, 12), V = random_size(r.seed + 1, 10, 40);
      all.push_back(small(p, 1, 40, 2, T, V, 2 * p - 1));
    }
  }
  if (!r.ranks.empty()) add_measured(r, all);
  for (Case& c : all) c.name = name_of(c);
  return all;
}

Shape Training::shape(const Case& c) const {
  return {{bytes_of_weights(c), static_cast<std::size_t>(c.size[6] * 2 * sequences(c, c.rank) * c.size[3]) * 4},
          {bytes_of_weights(c)}};
}

void Training::fill(const Case& c, std::uint64_t seed, Buffers in) const {
  fill_weights(c, c.shared_seed, floats(in[0]));
  fill_integers(as<std::int32_t>(in[1]), seed, 0, static_cast<std::int32_t>(c.size[4]) - 1);
}

// Operations of one rank: a multiplication and an addition for each weight and token, twice as much in backward.
Work Training::work(const Case& c) const {
  const auto n = static_cast<double>(elements(c));
  const double tokens = static_cast<double>(c.size[5] * c.size[6] * c.size[3]) / c.ranks;
  return {6 * n * tokens, "flop", 4 * n, 4 * n};
}

// Arguments of the engine's launches.
double Training::bytes_from_host(const Case& c) const {
  const auto blocks = static_cast<double>(c.size[0] * c.size[6]);
  return 64 * 1024 + 256 * (64 + blocks * (60 + 10 * static_cast<double>(sequences(c, 0))));
}

Case Training::small(int p, std::int64_t layers, std::int64_t channels, std::int64_t heads, std::int64_t T,
                     std::int64_t V, std::int64_t of_all) const {
  Case c;
  c.ranks = p;
  c.size = {layers, channels, heads, T, V, of_all, micro_batches(p), 0};
  c.size[7] = bucket_bytes(static_cast<std::int64_t>(bytes_of_weights(c)));
  return c;
}

std::string Training::name_of(const Case& c) {
  std::string name = fmt::format("{} rank{}, L {} C {} T {}, {} sequences", c.ranks, c.ranks == 1 ? "" : "s", c.size[0],
                                 c.size[1], c.size[3], c.size[5]);
  if (c.size[6] > 1) name += fmt::format(" x {}", c.size[6]);
  if (c.size[7] > 0) name += fmt::format(", buckets of {} bytes", c.size[7]);
  return name;
}

nn::ModelConfig Training::config(const Case& c) {
  auto i = [&](std::size_t k) { return static_cast<int>(c.size[k]); };
  return {i(4), i(3), i(0), i(2), i(1), true};
}

nn::ParameterLayout Training::layout(const Case& c) { return nn::parameter_layout(config(c)); }

std::int64_t Training::sequences(const Case& c, int rank) {
  return c.size[5] / c.ranks + (rank < c.size[5] % c.ranks ? 1 : 0);
}

// As in the middle of training: no bias is 0, no gamma is 1.
void Training::fill_weights(const Case& c, std::uint64_t seed, std::span<float> to) {
  std::fill(to.begin(), to.end(), 0.0f);
  for (const nn::Parameter& p : layout(c).parameters) {
    const auto part = to.subspan(p.offset, p.size());
    fill_normal(part, random_bits(seed, p.offset));
    const float spread = p.rows > 1 ? 0.6f / std::sqrt(static_cast<float>(p.cols)) : 0.1f;
    scale_and_shift(part, spread, p.mean);
  }
}

std::shared_ptr<const Gradient> Training::expected_gradient(const Case& c, ConstBuffers in, std::size_t ins) const {
  return gradients_.get(c, in, [&] { return make_gradient(c, in, ins); });
}

void Training::add_gradient(const Case& c, ConstBuffers in, std::size_t ins, int rank, bool own_weights, int only,
                            std::vector<double>& to) {
  const std::size_t first = static_cast<std::size_t>(rank) * ins;
  const auto flat = floats(in[own_weights ? first : 0]);
  const std::vector<double> weights(flat.begin(), flat.end());
  const auto T = static_cast<std::size_t>(c.size[3]), count = static_cast<std::size_t>(c.size[6]);
  const double tokens = static_cast<double>(c.size[5] * c.size[6]) * static_cast<double>(T);
  const auto words = as<std::int32_t>(in[first + 1]);
  const auto B = static_cast<std::size_t>(sequences(c, rank));
  for (std::size_t i = only < 0 ? 0 : static_cast<std::size_t>(only);
       i < (only < 0 ? count : static_cast<std::size_t>(only) + 1); ++i)
    nn::reference::loss(config(c), layout(c), weights, words.subspan(2 * i * B * T, B * T),
                        words.subspan((2 * i + 1) * B * T, B * T), static_cast<int>(B), static_cast<int>(T), 1 / tokens,
                        to);
}

Gradient Training::make_gradient(const Case& c, ConstBuffers in, std::size_t ins) {
  const nn::ModelConfig model = config(c);
  Gradient g{std::vector<double>(elements(c)), std::vector<double>(elements(c))};
  for (int r = 0; r < c.ranks; ++r) add_gradient(c, in, ins, r, false, -1, g.value);
  // An element is a sum over the tokens of products whose factors have come through all blocks twice, each time through sums of
  // C, C, hs, T, C, C and 4 C terms. Errors of a sum of k terms of both signs go with the square root of k, and are in
  // proportion to the tensor's large elements rather than to the element's own value.
  const double tokens = static_cast<double>(c.size[5] * c.size[6] * c.size[3]);
  const double C = model.channels, length = 2 * model.layers * (9 * C + static_cast<double>(c.size[3])) + tokens;
  const double relative = kFp32.unit() * std::sqrt(length);
  for (const nn::Parameter& p : layout(c).parameters) {
    double largest = 0;
    for (std::size_t i = p.offset; i < p.offset + p.size(); ++i) largest = std::max(largest, std::fabs(g.value[i]));
    std::fill_n(g.deviation.begin() + static_cast<std::ptrdiff_t>(p.offset), p.size(), relative * largest);
  }
  return g;
}

std::vector<std::vector<double>> Training::parts(const Case& c, ConstBuffers in, std::size_t ins, bool own_weights,
                                                 int only) {
  std::vector<std::vector<double>> all(static_cast<std::size_t>(c.ranks), std::vector<double>(elements(c)));
  for (int r = 0; r < c.ranks; ++r) add_gradient(c, in, ins, r, own_weights, only, all[static_cast<std::size_t>(r)]);
  return all;
}

Expected Training::expected(double value, double deviation, double magnitude) {
  const double tiny = std::numeric_limits<float>::min();
  return {value, deviation + tiny, 16 * deviation + tiny, magnitude};
}

Where Training::where(const Case& c, const char* buffer, std::size_t rank, std::size_t first) {
  return [=, layout = layout(c)](std::size_t i) {
    std::string name = "padding";
    for (const nn::Parameter& p : layout.parameters)
      if (first + i >= p.offset && first + i < p.offset + p.size()) {
        const std::size_t at = first + i - p.offset, cols = static_cast<std::size_t>(p.cols);
        name = p.rows > 1 ? fmt::format("{}[{}, {}]", p.name, at / cols, at % cols) : fmt::format("{}[{}]", p.name, at);
      }
    return fmt::format("rank {}, {}[{}], which is {}", rank, buffer, i, name);
  };
}

Verdict Training::verify_all_reduce(const Case& c, const Traffic& t, bool broadcast, const char* needed) {
  const std::uint64_t p = static_cast<std::uint64_t>(c.ranks), bytes = bytes_of_weights(c);
  const std::uint64_t least = (2 + (broadcast ? 1 : 0)) * (p - 1) * bytes;
  if (t.bytes != least)
    return refused(fmt::format("all ranks together send {} bytes, and {} take {}", t.bytes, needed, least));
  // p divides the elements of each bucket: they are multiples of 64.
  const std::uint64_t most = 2 * (p - 1) * (bytes / p) + (broadcast ? bytes : 0);
  for (std::size_t r = 0; r < t.sent.size(); ++r)
    if (t.sent[r] > most)
      return refused(fmt::format("rank {} sends {} bytes, and {} need {} at most of each: others wait for its link", r,
                                 t.sent[r], needed, most));
  return {};
}

}  // namespace ridge::lab::ddp
