// The tasks that train: cases, inputs, a step in double precision, and traffic.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "checks/reference.hpp"
#include "common.hpp"

namespace ridge::lab::sharded_training {

namespace {

constexpr std::size_t kLarge = 1 << 22;  // elements: more are measured on GPUs, and are not looked at for suspects

Expected expected(double value, double deviation, double magnitude) {
  constexpr double kTiny = 1.2e-38;
  return {value, deviation + kTiny, 16 * deviation + kTiny, magnitude};
}

// body(i) for all i below n, on all cores.
template <class Body>
void each(std::size_t n, Body body) {
  parallel_for(n, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) body(i);
  });
}

}  // namespace

nn::ModelConfig Training::config(const Case& c) {
  auto i = [&](std::size_t k) { return static_cast<int>(c.size[k]); };
  return {i(4), i(3), i(0), i(2), i(1), true};
}

std::int64_t Training::sequences(const Case& c, int rank) {
  return c.size[5] / c.ranks + (rank < c.size[5] % c.ranks ? 1 : 0);
}

std::vector<Case> Training::cases(const Request& r) const {
  std::vector<Case> all;
  auto add = [&](int p, std::array<std::int64_t, 6> size, bool measured = false) {
    Case c;
    c.ranks = p, c.measured = measured;
    std::copy(size.begin(), size.end(), c.size.begin());
    c.name = fmt::format("{} rank{}, L {} C {} T {}, {} sequences", p, p == 1 ? "" : "s", size[0], size[1], size[3],
                         size[5]);
    if (measured && r.backend == Backend::cpu) c.topology = "ethernet";
    all.push_back(c);
  };
  for (int p : r.ranks) {
    // Fewer blocks than buffers, and more; sequences that p does not divide.
    if (p != 8) add(p, {p == 1 ? 1 : 2, 24, 3, 7, 19, p + 1});
    if (p == 2 || p == 8) add(p, {5, 16, 2, 5, 11, p + 1});
    if (r.mode == Mode::grade && p == 4)
      add(p, {4, 24, 2, random_size(r.seed, 5, 12), random_size(r.seed + 1, 10, 40), 2 * p - 1});
  }
  if (r.ranks.empty()) return all;
  const int most = r.ranks.back(), p = std::min(4, most);
  // On a GPU few and wide blocks: a step of so few tokens takes as long as its launches.
  if (r.backend == Backend::cuda)
    add(most, {4, 512, 8, 16, 500, most}, true);
  else
    add(p, {measured_blocks(), 64, 2, 64, 61, 6 * p}, true);
  return all;
}

// Operations of one rank: a multiplication and an addition for each weight and token, twice as much in backward.
Work Training::work(const Case& c) const {
  const auto n = static_cast<double>(units_of(c).elements());
  const double tokens = static_cast<double>(c.size[5] * c.size[3]) / c.ranks;
  return {6 * n * tokens, "flop", 4 * n, 4 * n};
}

// Arguments of the engine's launches.
double Training::bytes_from_host(const Case& c) const {
  return 64 * 1024 + 256 * (64 + static_cast<double>(c.size[0]) * (60 + 10 * static_cast<double>(sequences(c, 0))));
}

// No bias is 0, no gamma is 1, and what lies between the tensors is 0.
std::vector<float> Training::weights(const Case& c, std::uint64_t seed) {
  const units::Units units = units_of(c);
  std::vector<float> flat(units.elements(), 0.0f), all(units.elements());
  for (const nn::Parameter& p : units.layout.parameters) {
    const auto part = std::span(flat).subspan(p.offset, p.size());
    fill_normal(part, random_bits(seed, p.offset));
    scale_and_shift(part, p.rows > 1 ? 0.6f / std::sqrt(static_cast<float>(p.cols)) : 0.1f, p.mean);
  }
  each(all.size(), [&](std::size_t i) { all[i] = flat[units.place(i)]; });
  return all;
}

void Training::fill_own(const Case& c, std::uint64_t seed, Buffers in) {
  fill_integers(as<std::int32_t>(in[1]), seed, 0, static_cast<std::int32_t>(c.size[4]) - 1);
  fill_normal(floats(in[2]), seed + 1);
  scale_and_shift(floats(in[2]), 1e-2f, 0);
  fill_uniform(floats(in[3]), seed + 2, 1e-5f, 4e-5f);
  for (float& v : floats(in[3])) v = std::fabs(v);
}

std::shared_ptr<const Step> Training::step(const Case& c, ConstBuffers in, std::span<const float> before) const {
  return steps_.get(c, in, [&] { return make_step(c, in, before); });
}

Step Training::make_step(const Case& c, ConstBuffers in, std::span<const float> before) {
  const units::Units units = units_of(c);
  const std::size_t n = units.elements(), p = static_cast<std::size_t>(c.ranks);
  const auto T = static_cast<std::size_t>(c.size[3]);
  const double tokens = static_cast<double>(c.size[5]) * static_cast<double>(T);
  std::vector<double> flat(n);
  each(n, [&](std::size_t i) { flat[units.place(i)] = before[i]; });
  Step s;
  s.gradient.assign(n, 0), s.deviation.assign(n, 0);
  std::vector<double> sum(n, 0), spread(n, 0);
  for (std::size_t r = 0; r < p; ++r) {
    const auto words = as<std::int32_t>(in[4 * r + 1]);
    const auto B = static_cast<std::size_t>(sequences(c, static_cast<int>(r)));
    auto add_to = [&](std::vector<double>& gradient) {
      if (B > 0)
        nn::reference::loss(config(c), units.layout, flat, words.subspan(0, B * T), words.subspan(B * T, B * T),
                            static_cast<int>(B), static_cast<int>(T), 1 / tokens, gradient);
    };
    if (n > kLarge) {
      add_to(sum);
      continue;
    }
    std::vector<double> part(n, 0), own(n);
    add_to(part);
    for (std::size_t i = 0; i < n; ++i) sum[i] += part[i];
    for (std::size_t i = 0; i < n; ++i) own[i] = part[units.place(i)];
    s.of_rank.push_back(std::move(own));
  }
  // An element is a sum over the tokens of products whose factors have come through all blocks twice, each time through sums of C, C,
  // hs, T, C, C and 4 C terms. Errors of a sum of k terms of both signs go with the square root of k, and are in proportion to the
  // tensor's large elements rather than to the element's own value.
  const double C = static_cast<double>(c.size[1]);
  const double length = 2 * static_cast<double>(c.size[0]) * (9 * C + static_cast<double>(T)) + tokens;
  for (const nn::Parameter& q : units.layout.parameters) {
    double largest = 0;
    for (std::size_t i = q.offset; i < q.offset + q.size(); ++i) largest = std::max(largest, std::fabs(sum[i]));
    std::fill_n(spread.begin() + static_cast<std::ptrdiff_t>(q.offset), q.size(),
                kFp32.unit() * std::sqrt(length) * largest);
  }
  each(n, [&](std::size_t i) { s.gradient[i] = sum[units.place(i)], s.deviation[i] = spread[units.place(i)]; });
  return s;
}

Training::Updated Training::updated(const Case& c, const units::Units& units, const Step& s, ConstBuffers in,
                                    double before, std::size_t i) {
  // AdamW as in entry.cu.
  constexpr double rate = 0.01f, beta1 = 0.9f, beta2 = 0.95f, epsilon = 1e-6f, decay = 0.1f, number = 10;
  static const double c1 = 1 / (1 - std::pow(beta1, number)), c2 = 1 / (1 - std::pow(beta2, number));
  const double u = kFp32.unit();
  const auto [r, j] = units.owner(i, static_cast<std::size_t>(c.ranks));
  const double g = s.gradient[i], dg = s.deviation[i], m0 = floats(in[4 * r + 2])[j], v0 = floats(in[4 * r + 3])[j];
  const double m = beta1 * m0 + (1 - beta1) * g, v = beta2 * v0 + (1 - beta2) * g * g;
  const double m_size = std::fabs(beta1 * m0) + std::fabs((1 - beta1) * g);
  // 1 - beta is rounded, too; so two units each.
  const double dm = (1 - beta1) * dg + 2 * u * m_size, dv = 2 * (1 - beta2) * std::fabs(g) * dg + 2 * u * v;
  const double root = std::sqrt(v * c2), update = m * c1 / (root + epsilon);
  const double d_update = c1 * dm / root + std::fabs(update) * (dv / (2 * v) + 4 * u);
  const double moved = rate * (update + decay * before), size = std::fabs(before) + std::fabs(moved);
  return {expected(before - moved, rate * d_update + 2 * u * size, size), expected(m, dm, m_size), expected(v, dv, v)};
}

Where Training::where(const Case& c, const char* buffer, std::size_t rank, bool own) {
  const auto p = static_cast<std::size_t>(c.ranks);
  return [=, units = units_of(c)](std::size_t i) {
    const std::size_t flat = own ? units.of_own(i, p, rank) : i, at = units.place(flat);
    std::string name = "between two tensors";
    for (const nn::Parameter& q : units.layout.parameters)
      if (at >= q.offset && at < q.offset + q.size()) name = fmt::format("{}[{}]", q.name, at - q.offset);
    return fmt::format("rank {}, {}[{}], unit {}, {}", rank, buffer, i, units.unit_of(flat), name);
  };
}

Verdict compare_with(std::span<const float> got, const std::function<Expected(std::size_t)>& right, const Where& where,
                     const std::vector<Suspect>& suspects) {
  Verdict v = compare_close<float>(got, right, where);
  if (v.ok || got.size() > kLarge) return v;
  for (const Suspect& s : suspects) {
    std::size_t wrong = 0, alike = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const Expected e = right(i);
      if (std::fabs(got[i] - e.value) <= e.worst) continue;
      ++wrong;
      const double value = s.value(i);
      alike +=
          std::fabs(got[i] - value) <= e.worst * (1 + std::fabs(value) / std::max(std::fabs(e.value), e.deviation));
    }
    if (wrong < 4 || alike < wrong - wrong / 20) continue;
    if (const std::size_t end = v.message.find(" are wrong"); end != std::string::npos) v.message.resize(end + 10);
    v.message += "; the wrong elements are " + s.what;
    break;
  }
  return v;
}

namespace {

// Which units have wrong gradients, where others have right ones: that tells whose weights or buffers are at fault.
std::string wrong_units(const Step& s, const units::Units& units, std::span<const float> got,
                        const std::function<std::size_t(std::size_t)>& at) {
  std::vector<int> wrong, right;
  std::vector<bool> bad(static_cast<std::size_t>(units.blocks()) + 1, false);
  for (std::size_t j = 0; j < got.size(); ++j) {
    const std::size_t i = at(j);
    if (!(std::fabs(got[j] - s.gradient[i]) <= 16 * s.deviation[i] + 1e-37))
      bad[static_cast<std::size_t>(units.unit_of(i))] = true;
  }
  for (int u = 0; u <= units.blocks(); ++u) (bad[static_cast<std::size_t>(u)] ? wrong : right).push_back(u);
  if (wrong.empty() || right.empty()) return {};
  return fmt::format("; wrong elements are in units {}, and units {} are right", fmt::join(wrong, ", "),
                     fmt::join(right, ", "));
}

}  // namespace

Verdict Training::verify_own(const Case& c, const Step& s, ConstBuffers in, ConstBuffers out, std::size_t rank) {
  const units::Units units = units_of(c);
  const auto p = static_cast<std::size_t>(c.ranks);
  auto at = [&](std::size_t j) { return units.of_own(j, p, rank); };
  std::vector<Suspect> of_g;
  if (p > 1 && !s.of_rank.empty())
    of_g = {{"this rank's part of the sum alone: the other ranks' gradients are not in it",
             [&](std::size_t j) { return s.of_rank[rank][at(j)]; }},
            {"the sum divided by p: `scale` has divided by the tokens of all ranks already",
             [&](std::size_t j) { return s.gradient[at(j)] / static_cast<double>(p); }},
            {"the sum of the ranks' means: divide by the tokens of all ranks", [&](std::size_t j) {
               double sum = 0;
               for (std::size_t r = 0; r < p; ++r)
                 sum += s.of_rank[r][at(j)] * static_cast<double>(c.size[5]) /
                        static_cast<double>(sequences(c, static_cast<int>(r)));
               return sum;
             }}};
  for (std::size_t q = 0; q < p; ++q)
    if (q != rank)
      of_g.push_back({fmt::format("those of rank {}'s own part", q),
                      [&, q](std::size_t j) { return s.gradient[units.of_own(j, p, q)]; }});
  Verdict v = compare_with(
      floats(out[4 * rank + 1]),
      [&](std::size_t j) {
        const std::size_t i = at(j);
        return expected(s.gradient[i], s.deviation[i], std::fabs(s.gradient[i]));
      },
      where(c, "gradients", rank, true), of_g);
  if (!v.ok) v.message += wrong_units(s, units, floats(out[4 * rank + 1]), at);
  auto moment = [&](std::size_t k, Expected Updated::*which, const char* name) {
    const auto before = floats(in[4 * rank + k]);
    return compare_with(
        floats(out[4 * rank + k]), [&](std::size_t j) { return updated(c, units, s, in, 0, at(j)).*which; },
        where(c, name, rank, true), {{"as they came: nothing updated them", [=](std::size_t j) { return before[j]; }}});
  };
  if (v.ok) v = moment(2, &Updated::m, "m");
  if (v.ok) v = moment(3, &Updated::v, "v");
  return v;
}

Verdict Training::verify_messages(const Case& c, std::span<const Message> messages) const {
  const units::Units units = units_of(c);
  const auto p = static_cast<std::uint64_t>(c.ranks);
  std::uint64_t least = 0;
  std::vector<std::uint64_t> wanted;  // bytes of each transfer of a rank
  for (int u = 0; u <= units.blocks(); ++u) {
    const std::uint64_t part = units.size(u) / p, times = static_cast<std::uint64_t>(gathers(c, u)) * (p - 1);
    wanted.insert(wanted.end(), p - 1, 4 * part);
    wanted.insert(wanted.end(), times, bytes_of_weight() * part);
    least += (p - 1) * 4 * part + times * bytes_of_weight() * part;
  }
  std::sort(wanted.begin(), wanted.end());
  for (int r = 0; r < c.ranks; ++r) {
    std::vector<std::uint64_t> sent;
    std::uint64_t bytes = 0;
    for (const Message& m : messages)
      if (m.from == r) sent.push_back(m.bytes), bytes += m.bytes;
    std::sort(sent.begin(), sent.end());
    if (bytes != least)
      return {false, fmt::format("rank {} sends {} bytes, and {} take {}", r, bytes, needed(), least), {}, "traffic"};
    if (sent != wanted)
      return {false,
              fmt::format("rank {} sends the right number of bytes in {} transfers, and {} take {}, each with a "
                          "p-th of a unit",
                          r, sent.size(), needed(), wanted.size()),
              {},
              "traffic"};
  }
  return {};
}

}  // namespace ridge::lab::sharded_training
