// Task `direct`: the bytes, what was asked of the storage, and the virtual time.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ceilings/profile.hpp"
#include "checks/compare.hpp"
#include "checks/fill.hpp"
#include "checks/one_way.hpp"
#include "checks/share.hpp"
#include "tasks.hpp"

namespace ridge::lab::input_pipeline {

namespace {

constexpr std::size_t kMostAlignment = 16384;
constexpr double kRequest = 1 << 20;  // bytes of the requests that the bound has

// A request of 1 MiB occupies each of 4 targets for 282 us, and its latency is 0.5 ms.
files::Storage storage_of_direct(const Case& c) {
  files::Storage s;
  if (c.size[3] != 0) s.alignment = static_cast<int>(c.size[3]);
  s.targets = 4;
  s.target_bandwidth = 1e9;
  s.request_seconds = 20e-6;
  s.latency = 500e-6;
  s.page_cache_bandwidth = 3e9;
  return s;
}

// Bytes [first, first + to.size()) of a file, where first is a multiple of 4. Some of them tell neither their seed nor the
// others.
void stored_bytes(std::size_t first, std::span<std::byte> to, std::uint64_t one_way) {
  std::vector<std::uint32_t> words((to.size() + 3) / 4);
  fill_bits(words, one_way, first / 4);
  std::memcpy(to.data(), words.data(), to.size());
}

constexpr std::size_t kBlock = std::size_t{1} << 16;  // bytes that are made and compared at a time

// Sizes: offset, bytes, 1 for cuFile, alignment or 0 for the usual one, bytes of the file behind the range, 1 for a real
// machine. There each call has a file of its own, whose name is in in[0].
bool is_real(const Case& c) { return c.size[5] == 1; }
std::uint64_t file_seed(const Case& c, ConstBuffers in) {
  return is_real(c) ? one_way_seed(c.secret, "data", as<std::uint64_t>(in[0])[0]) : c.secret;
}
std::size_t file_bytes(const Case& c) { return static_cast<std::size_t>(c.size[0] + c.size[1] + c.size[4]); }

class Direct : public TaskCheck, public UsesFiles {
 public:
  std::string id() const override { return "direct"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    const bool real = r.backend == Backend::cuda;
    const auto add = [&](std::int64_t offset, std::int64_t bytes, bool cufile, bool measured = false,
                         std::int64_t alignment = 0, std::int64_t behind = 5001) {
      Case c{fmt::format("{}bytes {} to {}", cufile ? "cuFile, " : "", offset, offset + bytes),
             {offset, bytes, cufile ? 1 : 0, alignment, behind, real ? 1 : 0},
             measured};
      c.secret = one_way_seed(r.seed, "direct", all.size());
      all.push_back(c);
    };
    const auto any = [&](std::uint64_t i, std::int64_t n) {
      return static_cast<std::int64_t>(random_bits(r.seed, 400 + i) % static_cast<std::uint64_t>(n));
    };
    for (const bool cufile : {false, true}) {
      if (real && cufile) break;  // a worker in a sandbox reaches no cuFile
      add(0, 4096, cufile);
      add(4095, 2, cufile);  // the last byte of a block and the first of the next
      add(1000 + any(1, 3000), 1 + any(2, 50), cufile);
      add(any(3, 4096), (3 << 20) + any(4, 100000), cufile);
      // Other machines, and ranges that end with the file.
      add(700 + any(7, 9000), 40000 + any(8, 3000), cufile, false, 16384);
      add(700 + any(5, 9000), 40000 + any(6, 3000), cufile, false, 512);
      add(0, 1, cufile, false, 0, 0);
      add(4096 + any(9, 4096), 9000 + any(10, 3000), cufile, false, 0, 0);
      add(8192, 8192, cufile, false, 0, 0);
    }
    add(12345, r.mode == Mode::check ? 13000001 : 30000001, false);
    if (real)
      add(777, 100000001, false, true);
    else
      add(777, r.mode == Mode::check ? 20000000 : 40000000, false, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto bytes = static_cast<std::size_t>(c.size[1]);
    if (is_real(c)) return {{sizeof(std::uint64_t)}, {bytes, sizeof(int)}, 0};
    return {{}, {bytes, sizeof(int)}, c.size[2] == 1 ? bytes + 2 * kMostAlignment : 0};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    if (is_real(c)) as<std::uint64_t>(in[0])[0] = one_way_seed(seed, "name");
  }
  bool host_reads_inputs() const override { return true; }
  double bytes_from_host(const Case& c) const override { return (64 << 20) + 4 * static_cast<double>(c.size[1]); }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[1]);
    return {n, "byte", n, n};
  }
  std::vector<Bound> bounds(const Case& c) const override {
    const files::Storage s = storage_of_direct(c);
    const double bytes = static_cast<double>(c.size[1]);
    const double upload = kRequest / ridge::default_profile().device.at("pcie_pinned");
    return {{"virtual_time_over_bound",
             s.open_seconds + 2 * s.latency + bytes / s.targets / s.target_bandwidth +
                 bytes / kRequest * s.request_seconds + upload,
             0.9}};
  }

  bool on_real_files() const override { return true; }
  bool past_the_page_cache() const override { return true; }
  std::vector<RealFile> real_files(const Case& c, ConstBuffers in) const override {
    return {
        {fmt::format("data-{:016x}", as<std::uint64_t>(in[0])[0]), file_bytes(c),
         [seed = file_seed(c, in)](std::size_t offset, std::span<std::byte> to) { stored_bytes(offset, to, seed); }}};
  }
  std::unique_ptr<files::Service> make_files(const Case& c, std::size_t) const override {
    auto owned = std::make_unique<files::FileSystem>(storage_of_direct(c));
    files::Bytes all(file_bytes(c));
    stored_bytes(0, std::as_writable_bytes(std::span(all)), c.secret);
    owned->put("data", std::move(all), {256 << 10, 4, 1}, files::Access::read_only);
    return owned;
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    if (as<int>(out[1])[0] != 1) return {false, "the function returned false", "the function returned false"};
    const std::span<const std::byte> got = out[0];
    const auto offset = static_cast<std::size_t>(c.size[0]), blocks = (got.size() + kBlock - 1) / kBlock;
    const std::uint64_t seed = file_seed(c, in);
    for (std::size_t block = 0; block < blocks; ++block) {
      if (!compares(block, blocks)) continue;
      const std::size_t first = block * kBlock, n = std::min(kBlock, got.size() - first),
                        from = (offset + first) / 4 * 4;
      files::Bytes made(offset + first + n - from);
      stored_bytes(from, std::as_writable_bytes(std::span(made)), seed);
      for (std::size_t i = 0; i < n; ++i)
        if (const char expected = made[offset + first - from + i]; static_cast<char>(got[first + i]) != expected)
          return {false,
                  fmt::format("byte {} of {} is {}, expected {}", first + i, got.size(),
                              static_cast<int>(got[first + i]), static_cast<int>(expected)),
                  "some bytes are wrong"};
    }
    return {};
  }
  Verdict verify_files(const Case& c, ConstBuffers, ConstBuffers, const files::Service& files) const override {
    const auto& owned = dynamic_cast<const files::FileSystem&>(files);
    if (!owned.log_is_whole())
      return {false, fmt::format("more than {} calls of files were made", files::kMostLogged),
              "so many calls of files were made that the judge has stopped to note them", "cache"};
    for (const files::Logged& l : owned.log())
      if (l.op == files::Op::read && l.result >= 0 && (l.flags & files::kDirect) == 0)
        return {false,
                fmt::format("{} bytes from byte {} came through the page cache: its file was not opened with kDirect",
                            l.result, l.offset),
                "bytes came through the page cache", "cache"};
    if (owned.counts().bytes_buffered > 0)
      return {false, fmt::format("{} bytes came through the page cache", owned.counts().bytes_buffered),
              "bytes came through the page cache", "cache"};
    const std::int64_t unit = owned.storage().alignment;
    const std::int64_t end = (c.size[0] + c.size[1] + unit - 1) / unit * unit;
    const std::int64_t needed = std::min(end, c.size[0] + c.size[1] + c.size[4]) - c.size[0] / unit * unit;
    if (owned.counts().bytes_read > static_cast<std::uint64_t>(needed))
      return {false,
              fmt::format("{} bytes were read, and the blocks of the range have {}", owned.counts().bytes_read, needed),
              "more was read than the blocks of the range", "bytes"};
    return {};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> direct() { return std::make_unique<Direct>(); }

}  // namespace ridge::lab::input_pipeline
