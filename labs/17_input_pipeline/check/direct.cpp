// Task `direct`: the bytes, what was asked of the storage, and the virtual time.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ceilings/profile.hpp"
#include "checks/compare.hpp"
#include "checks/fill.hpp"
#include "checks/one_way.hpp"
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

// Some of these bytes tell neither their seed nor the others.
files::Bytes stored_bytes(std::size_t n, std::uint64_t one_way) {
  std::vector<std::uint32_t> words((n + 3) / 4);
  fill_bits(words, one_way);
  files::Bytes bytes(n);
  std::memcpy(bytes.data(), words.data(), n);
  return bytes;
}

// Sizes: offset, bytes, 1 for cuFile, alignment or 0 for the usual one, bytes of the file behind the range.
class Direct : public TaskCheck, public UsesFiles {
 public:
  std::string id() const override { return "direct"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    const auto add = [&](std::int64_t offset, std::int64_t bytes, bool cufile, bool measured = false,
                         std::int64_t alignment = 0, std::int64_t behind = 5001) {
      Case c{fmt::format("{}bytes {} to {}", cufile ? "cuFile, " : "", offset, offset + bytes),
             {offset, bytes, cufile ? 1 : 0, alignment, behind},
             measured};
      c.secret = one_way_seed(r.seed, "direct", all.size());
      all.push_back(c);
    };
    const auto any = [&](std::uint64_t i, std::int64_t n) {
      return static_cast<std::int64_t>(random_bits(r.seed, 400 + i) % static_cast<std::uint64_t>(n));
    };
    for (const bool cufile : {false, true}) {
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
    add(777, r.mode == Mode::check ? 20000000 : 40000000, false, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto bytes = static_cast<std::size_t>(c.size[1]);
    return {{}, {bytes, sizeof(int)}, c.size[2] == 1 ? bytes + 2 * kMostAlignment : 0};
  }
  void fill(const Case&, std::uint64_t, Buffers) const override {}
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

  std::unique_ptr<files::Service> make_files(const Case& c, std::size_t) const override {
    auto owned = std::make_unique<files::FileSystem>(storage_of_direct(c));
    owned->put("data", contents(c), {256 << 10, 4, 1}, files::Access::read_only);
    return owned;
  }
  Verdict verify(const Case& c, ConstBuffers, ConstBuffers out) const override {
    if (as<int>(out[1])[0] != 1) return {false, "the function returned false", "the function returned false"};
    const files::Bytes all = contents(c);
    const auto got = as<char>(out[0]);
    for (std::size_t i = 0; i < got.size(); ++i)
      if (got[i] != all[static_cast<std::size_t>(c.size[0]) + i])
        return {false,
                fmt::format("byte {} of {} is {}, expected {}", i, got.size(), static_cast<int>(got[i]),
                            static_cast<int>(all[static_cast<std::size_t>(c.size[0]) + i])),
                "some bytes are wrong"};
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

 private:
  static files::Bytes contents(const Case& c) {
    return stored_bytes(static_cast<std::size_t>(c.size[0] + c.size[1] + c.size[4]), c.secret);
  }
};

}  // namespace

std::unique_ptr<TaskCheck> direct() { return std::make_unique<Direct>(); }

}  // namespace ridge::lab::input_pipeline
