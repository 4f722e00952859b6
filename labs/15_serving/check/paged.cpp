// Task `paged`: tokens are appended in three parts, then one query a sequence reads them.
#include <cstring>

#include "../page.hpp"
#include "attention.hpp"
#include "ceilings/profile.hpp"
#include "tasks.hpp"

namespace ridge::lab::serving {

namespace {

constexpr std::size_t kMostSplits = 64;  // as in serving.hpp
constexpr std::size_t kToken = kPage;

// Sizes: batch, heads, kv_heads, head_dim, pages, columns, tokens of the first part, of the second. The third part is
// the last token of each sequence.
class PagedAttention : public TaskCheck {
 public:
  std::string id() const override { return "paged"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::array<std::int64_t, 4> s, std::int64_t columns, bool measured = false) {
      Case c{fmt::format("batch {} heads {}/{} d {} up to {} tokens", s[0], s[1], s[2], s[3], (columns - 1) * kPage),
             {s[0], s[1], s[2], s[3], 0, columns},
             measured};
      c.secret = random_bits(r.seed, all.size());
      std::int64_t pages = 3;
      for (std::size_t length : lengths(c)) {
        c.size[6] += static_cast<std::int64_t>((length - 1) / 2);
        c.size[7] += static_cast<std::int64_t>(length - 1 - (length - 1) / 2);
        pages += static_cast<std::int64_t>((length + kToken - 1) / kToken);
      }
      c.size[4] = pages;
      all.push_back(c);
    };
    add({1, 1, 1, 64}, 2), add({4, 4, 1, 128}, 7), add({5, 6, 3, 64}, 20);
    if (r.mode == Mode::grade) add({3, 8, 2, 128}, 2 + static_cast<std::int64_t>(random_bits(r.seed, 50) % 30));
    if (r.backend == Backend::cpu)
      add({2, 8, 2, 128}, r.mode == Mode::check ? 34 : 60, true);
    else
      add({16, 32, 8, 128}, r.mode == Mode::check ? 129 : 257, true);
    return all;
  }
  lab::Shape shape(const Case& c) const override {
    const Sizes s = sizes(c);
    const std::size_t q = s.rows() * s.d * 2;
    return {{q, 2 * half(c), ints(c) * sizeof(std::int32_t)},
            {2 * pool(c) * sizeof(Bf16), q},
            kMostSplits * s.rows() * (s.d + 1) * sizeof(float)};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const Sizes s = sizes(c);
    for (std::size_t i = 0; i < 2; ++i) fill_normal(as<Bf16>(in[i]), random_bits(seed, i));
    // Some tokens have large keys: the pages of a sequence differ in their weight.
    const auto kv = as<Bf16>(in[1]);
    const std::size_t row = s.kv_heads * s.d;
    for (std::size_t t = 0; t < tokens(c); t += 37)
      for (std::size_t e = t * row; e < (t + 1) * row; ++e) kv[e] = rounded(kv[e].as_float() * 4);
    const auto all = lengths(c);
    const auto to = as<std::int32_t>(in[2]);
    std::size_t at = 0;
    for (int part = 0; part < 3; ++part) {
      std::int32_t start = 0;
      for (std::size_t length : all) {
        to[at++] = start;
        start += static_cast<std::int32_t>(part == 2   ? 1
                                           : part == 0 ? (length - 1) / 2
                                                       : length - 1 - (length - 1) / 2);
      }
      to[at++] = start;
    }
    for (int part = 0; part < 4; ++part)
      for (std::size_t length : all)
        to[at++] = static_cast<std::int32_t>(part == 0   ? 0
                                             : part == 1 ? (length - 1) / 2
                                             : part == 2 ? length - 1
                                                         : length);
    // Pages in an order of their own: neighbours in the table are none in the pool.
    std::vector<std::int32_t> order(pages(c));
    for (std::size_t p = 0; p < order.size(); ++p) order[p] = static_cast<std::int32_t>(p);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_bits(seed, 500 + i) % i]);
    std::size_t next = 0;
    for (std::size_t length : all)
      for (std::size_t column = 0; column < columns(c); ++column)
        to[at++] = column * kToken < length ? order[next++] : -1;
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const Placed placed(c, in);
    if (Verdict v = verify_pages(c, placed, out[0]); !v.ok) return v;
    const Sizes s = sizes(c);
    return compare_out(as<Bf16>(in[0]), as<Bf16>(out[1]), s, columns(c) * kToken, [&](std::size_t b, std::size_t h) {
      const auto& rows = placed.rows[b];
      Tokens t{rows.size(), {}, {}};
      for (std::size_t row : rows)
        t.k.push_back(placed.k + row * s.kv_heads * s.d + h * s.d),
            t.v.push_back(placed.v + row * s.kv_heads * s.d + h * s.d);
      return t;
    });
  }
  Work work(const Case& c) const override {
    const Sizes s = sizes(c);
    const double kv = static_cast<double>(tokens(c) * s.kv_heads * s.d * 2) * 2,
                 q = static_cast<double>(s.rows() * s.d * 2);
    return {2 * kv * static_cast<double>(s.group()), "flop", 2 * kv + q, kv + q, "bf16"};
  }
  // Each new token is read once, with a sector for each number that finds its place (a binary search over the starts,
  // then start, length, page); each page of the cache once for each KV head, with
  // a sector of the table. Written are the tokens, o, and partial results for each 64 tokens.
  std::vector<Bound> bounds(const Case& c) const override {
    const Sizes s = sizes(c);
    const auto all = lengths(c);
    const double search = std::ceil(std::log2(static_cast<double>(s.batch)));
    const double token = static_cast<double>(s.kv_heads * 2) * s.row(), n = static_cast<double>(tokens(c));
    double of_pages = 0, parts = 0;
    for (std::size_t length : all)
      of_pages += static_cast<double>((length + kToken - 1) / kToken), parts += static_cast<double>((length + 63) / 64);
    const double loads = n * (token + search + 4) + load_sectors(s, all) + of_pages * static_cast<double>(s.kv_heads);
    // Four kernels, one behind the other. append has a trip to memory for each step of its search, then for length,
    // page and token; attention has one for the table, for keys, for partial results and for the count.
    const auto& d = ridge::default_profile().device;
    const double trip = d.at("l1_latency") + d.at("l2_latency") + d.at("dram_latency");
    return {
        {"load_sectors_over_bound", loads},
        {"virtual_time_over_bound", d.at("launch_call") + 4 * d.at("kernel_latency") + (3 * (search + 3) + 4) * trip +
                                        32 * loads / (d.at("dram_bandwidth") * d.at("dram_efficiency"))},
        {"store_sectors_over_bound",
         n * token + static_cast<double>(s.rows()) * s.row() + static_cast<double>(s.heads) * parts * s.part()}};
  }

 private:
  static std::size_t size(const Case& c, std::size_t i) { return static_cast<std::size_t>(c.size[i]); }
  static Sizes sizes(const Case& c) { return {size(c, 0), size(c, 1), size(c, 2), size(c, 3)}; }
  static std::size_t pages(const Case& c) { return size(c, 4); }
  static std::size_t columns(const Case& c) { return size(c, 5); }
  static std::size_t tokens(const Case& c) { return size(c, 6) + size(c, 7) + size(c, 0); }
  // Bytes of k, or v, in in[1]; elements of k_pages, or v_pages; numbers of in[2].
  static std::size_t half(const Case& c) {
    const Sizes s = sizes(c);
    return (tokens(c) * s.kv_heads * s.d + 127) / 128 * 128 * sizeof(Bf16);
  }
  static std::size_t pool(const Case& c) {
    const Sizes s = sizes(c);
    return pages(c) * s.kv_heads * kToken * s.d;
  }
  static std::size_t ints(const Case& c) { return 3 * (size(c, 0) + 1) + (4 + columns(c)) * size(c, 0); }
  // One sequence is as long as the table allows, less a few tokens; one has a single token; one full pages. In a
  // measured case all are long.
  static std::vector<std::size_t> lengths(const Case& c) {
    const std::size_t most = (columns(c) - 1) * kToken;
    std::vector<std::size_t> all(size(c, 0));
    for (std::size_t b = 0; b < all.size(); ++b)
      all[b] = b == 0 || c.measured ? most - 1 - random_bits(c.secret, b) % 14
               : b == 1             ? 1
               : b == 2             ? most
                                    : 1 + random_bits(c.secret, b) % most;
    return all;
  }

  // Where the token of each row lies, and which rows a sequence has, in order.
  struct Placed {
    const Bf16 *k, *v;
    std::vector<std::vector<std::size_t>> rows;
    std::vector<std::ptrdiff_t> row_at;  // of each place of the pool, or -1
    Placed(const Case& c, ConstBuffers in)
        : k(as<Bf16>(in[1]).data()), v(k + half(c) / sizeof(Bf16)), row_at(pages(c) * kToken, -1) {
      const auto all = lengths(c);
      rows.resize(all.size());
      const auto* table = as<std::int32_t>(in[2]).data() + 3 * (all.size() + 1) + 4 * all.size();
      std::size_t row = 0;
      for (int part = 0; part < 3; ++part)
        for (std::size_t b = 0; b < all.size(); ++b) {
          const std::size_t first = (all[b] - 1) / 2, count = part == 0 ? first : part == 1 ? all[b] - 1 - first : 1;
          for (std::size_t i = 0; i < count; ++i, ++row) {
            const std::size_t j = rows[b].size();
            rows[b].push_back(row);
            const auto page = static_cast<std::size_t>(table[b * columns(c) + j / kToken]);
            row_at[page * kToken + j % kToken] = static_cast<std::ptrdiff_t>(row);
          }
        }
    }
  };

  static Verdict verify_pages(const Case& c, const Placed& placed, std::span<const std::byte> out) {
    const Sizes s = sizes(c);
    const auto got = as<std::uint32_t>(out);  // two elements each
    const std::size_t row = s.d / 2, of_page = s.kv_heads * kToken * row, each = pages(c) * of_page;
    const auto want_row = [&](std::size_t i, std::size_t head, std::size_t place) -> const Bf16* {
      const std::ptrdiff_t at = placed.row_at[i % each / of_page * kToken + place];
      if (at < 0) return nullptr;
      return (i < each ? placed.k : placed.v) + (static_cast<std::size_t>(at) * s.kv_heads + head) * s.d;
    };
    const std::size_t bad = first_where(got.size() / row, [&](std::size_t r) {
      const std::size_t i = r * row, place = r % kToken, head = r / kToken % s.kv_heads;
      const Bf16* want = want_row(i, head, place);
      if (want != nullptr) return std::memcmp(want, &got[i], s.d * sizeof(Bf16)) != 0;
      return !std::all_of(&got[i], &got[i] + row, [](std::uint32_t word) { return judges_fill(word); });
    });
    if (bad == got.size() / row) return {};
    const std::size_t i = bad * row, place = bad % kToken, head = bad / kToken % s.kv_heads;
    const std::string where =
        fmt::format("{}_pages[page {}][head {}][place {}]", i < each ? "k" : "v", i % each / of_page, head, place);
    if (want_row(i, head, place) == nullptr)
      return {false, where + " was written, and no token belongs there", "a place without a token was written"};
    const bool filled = judges_fill(got[i]);
    return {false, where + (filled ? " was not written" : " does not hold its token"),
            filled ? "a token was not stored" : "a token is not where it belongs"};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> paged() { return std::make_unique<PagedAttention>(); }

}  // namespace ridge::lab::serving
