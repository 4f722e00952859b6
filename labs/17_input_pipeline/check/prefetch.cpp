// Task `prefetch`: the state after the last batch, and the time.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "../codec.hpp"
#include "ceilings/profile.hpp"
#include "checks/compare.hpp"
#include "checks/fill.hpp"
#include "checks/one_way.hpp"
#include "checks/share.hpp"
#include "tasks.hpp"

namespace ridge::lab::input_pipeline {

namespace {

using Words = std::vector<std::uint32_t>;

// A request for a batch of 256 KiB occupies each of 4 targets for 282 us. One core decodes it in 1.3 ms, eight in 164 us.
files::Storage storage_of_feed(const Case& c) {
  files::Storage s;
  s.targets = 4;
  s.target_bandwidth = 0.25e9;
  s.request_seconds = 20e-6;
  s.latency = 600e-6;
  s.cores = 8;
  s.core_bandwidth = 0.2e9;
  if (c.size[2] != 0) {  // another machine
    s.targets = 5;
    s.cores = 3;
    s.alignment = static_cast<int>(c.size[2]);
  }
  return s;
}

// The batches, one after another. Encoded and decoded words are drawn, each for themselves: no key leads from the ones
// to the others, so that decoded words come from the judge's cores and from nowhere else.
Words drawn_words(const Case& c, std::uint64_t seed) {
  Words words(static_cast<std::size_t>(c.size[0] * c.size[1]));
  fill_bits(words, seed);
  return words;
}
Words encoded_words(const Case& c) { return drawn_words(c, c.secret); }
std::uint64_t decoded_seed(const Case& c) { return one_way_seed(c.secret, "decoded"); }
Words decoded_words(const Case& c) { return drawn_words(c, decoded_seed(c)); }

// On a real machine each call has a file of its own, whose name is in in[1], and whose words decode_words decodes.
bool is_real(const Case& c) { return c.size[3] == 1; }
std::uint64_t file_seed(const Case& c, ConstBuffers in) {
  return one_way_seed(c.secret, "train", as<std::uint64_t>(in[1])[0]);
}
constexpr std::size_t kBlock = 4096;  // words that are made and compared at a time

struct Batches {
  std::int64_t words;
  Words encoded, decoded;
  explicit Batches(const Case& c) : words(c.size[1]), encoded(encoded_words(c)), decoded(decoded_words(c)) {}

  // Words [first, ...) of some batch, as sent: each is looked for in its place of all batches, where it is found at once
  // in a part of one batch. Others become other words.
  files::Bytes decode(std::int64_t first, const files::Bytes& sent) const {
    files::Bytes out(sent.size());
    const auto all = static_cast<std::int64_t>(encoded.size()), n = static_cast<std::int64_t>(sent.size() / 4);
    std::int64_t batch = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      std::uint32_t word = 0;
      std::memcpy(&word, sent.data() + 4 * k, 4);
      std::uint32_t found = word * 2654435761u + 12345u;
      const std::int64_t i = first + k;
      for (std::int64_t tried = 0; i >= 0 && i < words && tried < all; tried += words) {
        if (encoded[static_cast<std::size_t>(batch * words + i)] == word) {
          found = decoded[static_cast<std::size_t>(batch * words + i)];
          break;
        }
        batch = (batch + 1) % (all / words);
      }
      std::memcpy(out.data() + 4 * k, &found, 4);
    }
    return out;
  }
};

// Sizes: batches, words, alignment of another machine or 0, 1 for a real machine.
class Prefetch : public TaskCheck, public UsesFiles {
 public:
  std::string id() const override { return "prefetch"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    const bool real = r.backend == Backend::cuda;
    const auto add = [&](std::int64_t batches, std::int64_t words, std::int64_t alignment, bool measured = false) {
      Case c{
          fmt::format("{} batches of {} words", batches, words), {batches, words, alignment, real ? 1 : 0}, measured};
      c.secret = one_way_seed(r.seed, "prefetch", all.size());
      all.push_back(c);
    };
    if (real) {  // batches are whole blocks of 4096 bytes
      for (const std::int64_t batches : {1, 7, 29}) add(batches, batches == 7 ? 3072 : 5120, 0);
      add(16, 1 << 20, 0, true);
      return all;
    }
    add(1, 1024, 0);
    add(7, 3200, 512);
    add(29, 5120, 0);
    add(11, 4096, 16384);
    add(r.mode == Mode::check ? 24 : 48, 65536, 0, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto bytes = static_cast<std::size_t>(c.size[1]) * 4;
    if (is_real(c)) return {{bytes, sizeof(std::uint64_t)}, {bytes}, bytes * kSlots};
    return {{bytes}, {bytes}, bytes * kSlots};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    fill_bits(as<std::uint32_t>(in[0]), seed);
    if (is_real(c)) as<std::uint64_t>(in[1])[0] = one_way_seed(seed, "name");
  }
  bool host_reads_inputs() const override { return true; }  // the batches come from files
  double bytes_from_host(const Case& c) const override {
    return (1 << 20) + 8 * static_cast<double>(c.size[0] * c.size[1] * 4) +
           4 * kSlots * static_cast<double>(c.size[1] * 4);
  }
  // A step of training for each batch, whose words come from the host.
  DeviceWork least_on_device(const Case& c) const override {
    return {static_cast<double>(c.size[0]), static_cast<double>(c.size[0] * c.size[1] * 4)};
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0] * c.size[1]);
    return {n, "word", 8 * n, 4 * n};
  }
  // The targets work without a pause; in front of them the first request's way, behind them the last batch's.
  std::vector<Bound> bounds(const Case& c) const override {
    const files::Storage s = storage_of_feed(c);
    const double bytes = static_cast<double>(c.size[1]) * 4;
    const double read = s.request_seconds + bytes / s.targets / s.target_bandwidth;
    const double decode = bytes / s.cores / s.core_bandwidth;
    const double upload = bytes / ridge::default_profile().device.at("pcie_pinned");
    return {{"virtual_time_over_bound",
             s.open_seconds + 2 * s.latency + static_cast<double>(c.size[0]) * read + decode + upload, 0.9}};
  }

  bool on_real_files() const override { return true; }
  std::vector<RealFile> real_files(const Case& c, ConstBuffers in) const override {
    const auto bytes = static_cast<std::size_t>(c.size[0] * c.size[1]) * 4;
    return {{fmt::format("train-{:016x}", as<std::uint64_t>(in[1])[0]), bytes,
             [seed = file_seed(c, in)](std::size_t offset, std::span<std::byte> to) {
               fill_bits({reinterpret_cast<std::uint32_t*>(to.data()), to.size() / 4}, seed, offset / 4);
             }}};
  }
  std::unique_ptr<files::Service> make_files(const Case& c, std::size_t) const override {
    const files::Storage s = storage_of_feed(c);
    auto owned = std::make_unique<files::FileSystem>(s);
    auto batches = std::make_shared<const Batches>(c);
    files::Bytes bytes(batches->encoded.size() * 4);
    std::memcpy(bytes.data(), batches->encoded.data(), bytes.size());
    // A batch lies on all targets in equal parts.
    const std::int64_t stripe =
        std::max<std::int64_t>(s.alignment, c.size[1] * 4 / s.targets / s.alignment * s.alignment);
    owned->put("train", std::move(bytes), {stripe, s.targets, 0}, files::Access::read_only);
    owned->on_compute([batches](std::int64_t first, const files::Bytes& sent) { return batches->decode(first, sent); });
    return owned;
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto begin = as<std::uint32_t>(in[0]), got = as<std::uint32_t>(out[0]);
    const auto words = static_cast<std::size_t>(c.size[1]), blocks = (words + kBlock - 1) / kBlock;
    const bool real = is_real(c);
    const std::uint64_t seed = real ? file_seed(c, in) : decoded_seed(c);
    for (std::size_t block = 0; block < blocks; ++block) {
      if (!compares(block, blocks)) continue;
      const std::size_t first = block * kBlock, n = std::min(kBlock, words - first);
      Words state(begin.begin() + static_cast<std::ptrdiff_t>(first),
                  begin.begin() + static_cast<std::ptrdiff_t>(first + n)),
          batch(n), decoded(n);
      for (std::size_t b = 0; b < static_cast<std::size_t>(c.size[0]); ++b) {
        fill_bits(batch, seed, b * words + first);
        if (real) decode_words(batch.data(), decoded.data(), n * 4, static_cast<long long>(first));
        for (std::size_t i = 0; i < n; ++i) state[i] = state[i] * 1664525u + (real ? decoded : batch)[i] + 1013904223u;
      }
      for (std::size_t i = 0; i < n; ++i)
        if (state[i] != got[first + i])
          return {false,
                  fmt::format("state[{}] is {}, expected {}: a batch is wrong, missing, or out of order (a buffer that "
                              "was read, decoded or copied too early, or filled again too early?)",
                              first + i, got[first + i], state[i]),
                  "a batch is wrong, missing, or out of order"};
    }
    return {};
  }
  Verdict verify_files(const Case& c, ConstBuffers, ConstBuffers, const files::Service& files) const override {
    const auto& counts = dynamic_cast<const files::FileSystem&>(files).counts();
    const auto batch = static_cast<std::uint64_t>(c.size[1]) * 4,
               needed = static_cast<std::uint64_t>(c.size[0]) * batch;
    const std::uint64_t came =
        std::accumulate(counts.target_bytes.begin(), counts.target_bytes.end(), std::uint64_t{0});
    if (came < needed)
      return {false, fmt::format("{} bytes came from the storage, and the batches have {}", came, needed),
              "batches did not come from the storage"};
    if (counts.computed_bytes < needed)
      return {false, fmt::format("cores have decoded {} bytes, and the batches have {}", counts.computed_bytes, needed),
              "batches were not decoded by cores"};
    if (counts.most_bytes_in_flight > kSlots * batch)
      return {false,
              fmt::format("reads of {} bytes were in flight at once, and the {} slots have room for {}",
                          counts.most_bytes_in_flight, kSlots, kSlots * batch),
              "more reads were in flight than the slots have room for"};
    return {};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> prefetch() { return std::make_unique<Prefetch>(); }

}  // namespace ridge::lab::input_pipeline
