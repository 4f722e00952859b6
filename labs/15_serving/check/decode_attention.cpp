// decode_attention: one query a sequence, grouped heads, lengths from 1 to the capacity.
#include "attention.hpp"
#include "ceilings/profile.hpp"
#include "tasks.hpp"

namespace ridge::lab::serving {

namespace {

constexpr std::size_t kMostSplits = 64;  // as in serving.hpp
constexpr float kLarge = 24;

// Sizes: batch, heads, kv_heads, head_dim, capacity.
class DecodeAttention : public TaskCheck {
 public:
  std::string id() const override { return "decode_attention"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::array<std::int64_t, 5> s, bool measured = false) {
      all.push_back({fmt::format("batch {} heads {}/{} d {} capacity {}", s[0], s[1], s[2], s[3], s[4]),
                     {s[0], s[1], s[2], s[3], s[4]},
                     measured});
    };
    add({1, 1, 1, 64, 1}), add({3, 4, 1, 128, 77}), add({5, 6, 2, 64, 333}), add({2, 16, 1, 128, 250});
    if (r.mode == Mode::grade) add({3, 8, 2, 128, random_size(r.seed, 200, 700)});
    if (r.backend == Backend::cpu) {
      add({1, 8, 2, 128, r.mode == Mode::check ? 1500 : 3001}, true);
      return all;
    }
    add({16, 32, 8, 128, 8192}, true);
    if (r.mode == Mode::grade) add({1, 32, 8, 128, 131072}, true);
    return all;
  }
  lab::Shape shape(const Case& c) const override {
    const Sizes s = sizes(c);
    const std::size_t kv = s.batch * s.kv_heads * capacity(c) * s.d * 2, q = s.rows() * s.d * 2;
    return {{q, kv, kv, s.batch * sizeof(std::int32_t)}, {q}, kMostSplits * s.rows() * (s.d + 1) * sizeof(float)};
  }
  // One sequence has all places, one has one token, the others anything between; a measured case is full. Places beyond
  // a sequence's tokens are NaN. Of 24 tokens in each KV head the keys are large: parts differ in their weight.
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const Sizes s = sizes(c);
    const std::size_t places = capacity(c);
    fill_normal(as<Bf16>(in[0]), random_bits(seed, 0));
    const auto k = as<Bf16>(in[1]), v = as<Bf16>(in[2]);
    fill_normal(k, random_bits(seed, 1)), fill_normal(v, random_bits(seed, 2));
    const auto lengths = as<std::int32_t>(in[3]);
    for (std::size_t b = 0; b < s.batch; ++b) {
      lengths[b] = static_cast<std::int32_t>(b == 0 || c.measured ? places
                                             : b == 1             ? 1
                                                                  : 1 + random_bits(seed, 100 + b) % places);
      const auto length = static_cast<std::size_t>(lengths[b]);
      for (std::size_t h = 0; h < s.kv_heads; ++h) {
        const std::size_t first = (b * s.kv_heads + h) * places * s.d;
        std::fill(k.begin() + first + length * s.d, k.begin() + first + places * s.d, kNan);
        std::fill(v.begin() + first + length * s.d, v.begin() + first + places * s.d, kNan);
        for (std::size_t i = 0; i < 24; ++i) {
          const std::size_t j = random_bits(seed, 1000 + (b * s.kv_heads + h) * 24 + i) % length;
          for (std::size_t e = first + j * s.d; e < first + (j + 1) * s.d; ++e)
            k[e] = rounded(std::clamp(k[e].as_float() * (i < 12 ? 2.0f : 4.0f), -kLarge, kLarge));
        }
      }
    }
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const Sizes s = sizes(c);
    const auto k = as<Bf16>(in[1]), v = as<Bf16>(in[2]);
    const auto lengths = as<std::int32_t>(in[3]);
    return compare_out(as<Bf16>(in[0]), as<Bf16>(out[0]), s, capacity(c), [&](std::size_t b, std::size_t h) {
      Tokens t{static_cast<std::size_t>(lengths[b]), {}, {}};
      const std::size_t first = (b * s.kv_heads + h) * capacity(c);
      for (std::size_t j = 0; j < t.length; ++j)
        t.k.push_back(k.data() + (first + j) * s.d), t.v.push_back(v.data() + (first + j) * s.d);
      return t;
    });
  }
  // Of the measured cases, whose sequences are full.
  Work work(const Case& c) const override {
    const Sizes s = sizes(c);
    const double kv = static_cast<double>(s.batch * s.kv_heads * capacity(c) * s.d),
                 q = static_cast<double>(s.rows() * s.d);
    return {4 * kv * static_cast<double>(s.group()), "flop", 4 * kv + 2 * q, 2 * q, "bf16"};
  }
  std::vector<Bound> bounds(const Case& c) const override {
    const Sizes s = sizes(c);
    const std::vector<std::size_t> lengths(s.batch, capacity(c));
    const auto& d = ridge::default_profile().device;
    const double loads = load_sectors(s, lengths);
    // A launch, the kernel, its bytes at the speed of memory, and three trips there: keys, partial results, the count.
    const double trip = d.at("l1_latency") + d.at("l2_latency") + d.at("dram_latency");
    return {{"load_sectors_over_bound", loads},
            {"virtual_time_over_bound", d.at("launch_call") + d.at("kernel_latency") + 3 * trip +
                                            32 * loads / (d.at("dram_bandwidth") * d.at("dram_efficiency"))}};
  }

 private:
  static Sizes sizes(const Case& c) {
    auto n = [&](std::size_t i) { return static_cast<std::size_t>(c.size[i]); };
    return {n(0), n(1), n(2), n(3)};
  }
  static std::size_t capacity(const Case& c) { return static_cast<std::size_t>(c.size[4]); }
};

}  // namespace

std::unique_ptr<TaskCheck> decode_attention() { return std::make_unique<DecodeAttention>(); }

}  // namespace ridge::lab::serving
