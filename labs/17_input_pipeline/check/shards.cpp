// Task `shards`: the files byte by byte, the batches of every rank, and what was read back.
#include "../shards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "../shards_plan.hpp"
#include "checks/compare.hpp"
#include "checks/fill.hpp"
#include "checks/one_way.hpp"
#include "tasks.hpp"

namespace ridge::lab::input_pipeline {

namespace {

using ridge::files::Bytes;
using ridge::files::Counts;

// Remembers the counts at the marks, and damages a sample.
class ShardFiles : public files::FileSystem {
 public:
  ShardFiles(std::uint64_t secret, std::size_t calls) : FileSystem(files::Storage{}) {
    put_folder("data");
    std::vector<std::int64_t> marks;
    for (std::size_t i = 0; i < calls; ++i) {
      marks.insert(marks.end(), {kWritten, kRead});
      marks.insert(marks.end(), kExamined, kDamage);
    }
    expect_marks(std::move(marks));
    on_mark([this, secret](FileSystem&, std::int64_t number, std::int64_t) -> std::int64_t {
      if (number == kWritten) written = counts(), files_written = contents(), unfinished = look_for_unfinished();
      if (number == kRead) read = counts();
      return number == kDamage ? damage(secret) : 0;
    });
  }
  Counts written, read;
  struct Examined {
    std::int64_t sample;
    bool damaged;
  };
  std::vector<Examined> examined;              // after kRead, in their order
  std::map<std::string, Bytes> files_written;  // at the first mark, so that later writes do not count
  std::string unfinished;                      // then: the file that was not synced or closed, or begun too early

 private:
  // The log's order: each file's last write comes before a sync, then its close; the index's opening comes last.
  std::string look_for_unfinished() const {
    std::set<std::uint64_t> open, unsynced;  // files by number
    bool index_begun = false;
    for (const files::Logged& l : log()) {
      if (l.result < 0) continue;
      if (l.op == files::Op::open && (l.flags & files::kWrite) != 0) {
        const bool index = name_of(l.file) == kIndexPath;
        if (index && !open.empty()) return name_of(*open.begin()) + " was not closed before the index";
        if (!index && index_begun) return name_of(l.file) + " was begun after the index";
        index_begun = index_begun || index;
        open.insert(l.file);
      }
      if (l.op == files::Op::write) unsynced.insert(l.file);
      if (l.op == files::Op::sync) unsynced.erase(l.file);
      if (l.op != files::Op::close) continue;
      if (unsynced.contains(l.file)) return name_of(l.file) + " was closed without fsync";
      open.erase(l.file);
    }
    if (!unsynced.empty()) return name_of(*unsynced.begin()) + " was not synced";
    return open.empty() ? "" : name_of(*open.begin()) + " was not closed";
  }
  std::map<std::string, Bytes> contents() const {
    std::map<std::string, Bytes> all;
    for (const std::string& name : disk().list("data"))
      if (const Bytes* b = find("data/" + name)) all["data/" + name] = *b;
    return all;
  }
  // Damages a sample, or none, for the next read. -1 where there is none.
  std::int64_t damage(std::uint64_t secret) {
    if (!undamaged_path_.empty()) replace(undamaged_path_, undamaged_);
    undamaged_path_.clear();
    const Bytes* index = find(kIndexPath);
    if (index == nullptr || index->size() < sizeof(IndexEntry)) return -1;
    const std::uint64_t draw = one_way_seed(secret, "damage", examined.size());
    // A short read: the sample that the buffer has from the read before.
    const bool same = !examined.empty() && !examined.back().damaged && (draw & 3) == 0;
    const std::size_t sample =
        same ? static_cast<std::size_t>(examined.back().sample) : (draw >> 8) % (index->size() / sizeof(IndexEntry));
    IndexEntry e;
    std::memcpy(&e, index->data() + sample * sizeof e, sizeof e);
    const Bytes* shard = e.shard >= 0 ? find(shard_path(e.shard)) : nullptr;
    const auto head = static_cast<std::size_t>(e.offset), first = head + sizeof(RecordHead),
               end = first + static_cast<std::size_t>(e.bytes);
    if (shard == nullptr || e.offset < 0 || e.bytes <= 0 || end > shard->size()) return -1;
    examined.push_back({static_cast<std::int64_t>(sample), same || (draw & 3) == 1});
    if (!examined.back().damaged) return examined.back().sample;
    undamaged_path_ = shard_path(e.shard);
    undamaged_ = *shard;
    Bytes bytes = undamaged_;
    const std::size_t places[] = {head, head + sizeof(std::uint32_t), first, end - 1,
                                  first + (draw >> 40) % (end - first)};
    if (same)
      bytes.resize(end - 1);
    else
      bytes[places[draw / 4 % 5]] ^= static_cast<char>(1 << (draw >> 20 & 7));
    replace(undamaged_path_, std::move(bytes));
    return examined.back().sample;
  }
  std::string undamaged_path_;
  Bytes undamaged_;
};

// Which batch a rank's part of a step is: its length.
struct Part {
  int step, rank, ranks;
  long long samples;
};

// The parts in the order in which entry.cu plays them.
std::vector<Part> parts_of(long long samples, int batch, bool alone) {
  std::vector<Part> all;
  long long position = 0;
  int step = 0;
  for (const Phase& phase : kPhases)
    for (int s = 0; s < phase.steps; ++s, ++step) {
      const int ranks = alone ? 1 : phase.ranks;
      const long long n = std::min<long long>(batch, samples - position);
      for (int rank = 0; rank < ranks; ++rank)
        all.push_back({step, rank, ranks, n * (rank + 1) / ranks - n * rank / ranks});
      position = (position + n) % samples;
    }
  return all;
}

class Shards_ : public TaskCheck, public UsesFiles {
 public:
  std::string id() const override { return "shards"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    const auto add = [&](long long samples, int batch, long long shard_bytes) {
      Case c{fmt::format("{} samples, batches of {}", samples, batch)};
      c.size = {samples, batch, shard_bytes,
                static_cast<std::int64_t>(one_way_seed(r.seed, "shuffle", all.size()) >> 2), 0};
      c.secret = one_way_seed(r.seed, "shards", all.size());
      c.size[4] = numbers(c);
      all.push_back(c);
    };
    add(1, 4, 1 << 20);
    add(37, 8, 3000);
    add(r.mode == Mode::check ? 257 : random_size(r.seed, 230, 290), 24, 40000);
    add(r.mode == Mode::check ? 509 : random_size(r.seed + 1, 1000, 1100), 64, 300000);
    return all;
  }
  Shape shape(const Case& c) const override {
    return {{begins(c).back() * std::size_t{1}, begins(c).size() * 8},
            {static_cast<std::size_t>(c.size[4]) * 8},
            0,
            Place::pageable,
            Place::device};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    for (std::size_t i = 0; i < in[0].size(); ++i) in[0][i] = static_cast<std::byte>(random_bits(seed, i) >> 11);
    const std::vector<std::size_t> b = begins(c);
    auto to = as<long long>(in[1]);
    for (std::size_t i = 0; i < b.size(); ++i) to[i] = static_cast<long long>(b[i]);
  }
  bool host_reads_inputs() const override { return true; }
  double bytes_from_host(const Case& c) const override { return static_cast<double>((1 << 20) + c.size[4] * 16); }
  Work work(const Case& c) const override { return {static_cast<double>(c.size[0]), "sample", 0, 0}; }

  std::unique_ptr<files::Service> make_files(const Case& c, std::size_t calls) const override {
    return std::make_unique<ShardFiles>(c.secret, calls);
  }
  Verdict verify(const Case&, ConstBuffers, ConstBuffers) const override { return {}; }
  Verdict verify_files(const Case& c, ConstBuffers in, ConstBuffers out, const files::Service& files) const override {
    const auto& owned = dynamic_cast<const ShardFiles&>(files);
    if (!owned.marks_as_expected())
      return {false, "the judge was sent other marks than entry.cu's",
              "the judge was sent other marks than entry.cu's"};
    if (Verdict v = written(c, in, owned, as<long long>(out[0])[0]); !v.ok) return v;
    return taken(c, in, as<long long>(out[0]), owned);
  }
  std::vector<Mark> file_marks(const Case& c, const files::Service& files) const override {
    const auto& owned = dynamic_cast<const ShardFiles&>(files);
    const double shards = static_cast<double>(owned.files_written.size()) - 1;
    double reads = 0;
    for (const Part& p : parts_of(c.size[0], static_cast<int>(c.size[1]), false))
      reads += static_cast<double>(p.samples);
    const double opens = static_cast<double>(owned.read.opens - owned.written.opens);
    const double requests = static_cast<double>(owned.read.reads - owned.written.reads);
    const double writes = static_cast<double>(owned.written.writes);
    return {ratio("writes", writes, shards + 1, fmt::format("{} writes for {} shards and the index", writes, shards)),
            ratio("opens", opens, shards + 1, fmt::format("{} opens for {} shards and the index", opens, shards)),
            ratio("reads", requests, reads + 1, fmt::format("{} reads for {} samples and the index", requests, reads))};
  }

 private:
  // Where samples begin, and the end: 1 byte to 4 KiB each, and some longer ones.
  static std::vector<std::size_t> begins(const Case& c) {
    std::vector<std::size_t> b = {0};
    for (std::int64_t i = 0; i < c.size[0]; ++i) {
      const std::uint64_t r = random_bits(c.secret, static_cast<std::uint64_t>(i));
      b.push_back(b.back() + 1 + r % (r >> 60 == 0 ? 20000 : 1500));
    }
    return b;
  }
  // Numbers of out[0].
  static std::int64_t numbers(const Case& c) {
    std::int64_t n = 1, samples = 0;
    for (const bool alone : {false, true})
      for (const Part& p : parts_of(c.size[0], static_cast<int>(c.size[1]), alone)) {
        n += 1 + p.samples;
        if (!alone) samples += p.samples;
      }
    return n + 2 * samples + 2 * kExamined + std::ssize(kOrders) * c.size[0] + kSmallOrders;
  }

  static Verdict written(const Case& c, ConstBuffers in, const ShardFiles& owned, long long returned) {
    const auto bytes = in[0];
    const auto begin = as<long long>(in[1]);
    std::vector<IndexEntry> index;
    std::vector<Bytes> shards(1);
    for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
      const auto* sample = reinterpret_cast<const unsigned char*>(bytes.data()) + begin[i];
      const auto n = static_cast<std::size_t>(begin[i + 1] - begin[i]);
      if (!shards.back().empty() && shards.back().size() + sizeof(RecordHead) + n > static_cast<std::size_t>(c.size[2]))
        shards.emplace_back();
      Bytes& shard = shards.back();
      index.push_back({static_cast<std::int64_t>(shard.size()), static_cast<std::int32_t>(shards.size()) - 1,
                       static_cast<std::int32_t>(n)});
      const RecordHead head{static_cast<std::uint32_t>(n), checksum(sample, n)};
      const auto* h = reinterpret_cast<const char*>(&head);
      shard.insert(shard.end(), h, h + sizeof head);
      shard.insert(shard.end(), sample, sample + n);
    }
    Bytes expected_index(index.size() * sizeof(IndexEntry));
    std::memcpy(expected_index.data(), index.data(), expected_index.size());
    for (std::size_t s = 0; s < shards.size(); ++s)
      if (Verdict v = equal(owned, shard_path(static_cast<int>(s)), shards[s]); !v.ok) return v;
    if (Verdict v = equal(owned, kIndexPath, expected_index); !v.ok) return v;
    if (owned.files_written.size() != shards.size() + 1)
      return {false,
              fmt::format("the folder data has {} files, {} shards and the index are expected",
                          owned.files_written.size(), shards.size()),
              "the folder data has other files than the shards and the index"};
    if (!owned.unfinished.empty())
      return {false, owned.unfinished + ": shards.hpp says how files are finished, and in which order",
              "a file was not synced or not closed, or the index came too early"};
    if (returned != static_cast<long long>(shards.size()))
      return {false, fmt::format("write_shards returned {}, and {} shards are there", returned, shards.size()),
              "write_shards returned another number than that of its shards"};
    return {};
  }
  static Verdict equal(const ShardFiles& owned, const std::string& path, const Bytes& expected) {
    const auto found = owned.files_written.find(path);
    if (found == owned.files_written.end())
      return {false, path + " was not written", "a shard or the index was not written"};
    const Bytes& got = found->second;
    const auto at = std::mismatch(got.begin(), got.end(), expected.begin(), expected.end()).first - got.begin();
    if (got == expected) return {};
    return {false,
            fmt::format("{} has {} bytes, expected {}; the first difference is at byte {}", path, got.size(),
                        expected.size(), at),
            "a shard or the index has other bytes than the format says"};
  }

  Verdict taken(const Case& c, ConstBuffers in, std::span<const long long> numbers, const ShardFiles& owned) const {
    const long long samples = c.size[0];
    const int batch = static_cast<int>(c.size[1]);
    std::size_t at = 1;
    std::vector<long long> together[2];
    std::string shorter;
    for (const bool alone : {false, true})
      for (const Part& p : parts_of(samples, batch, alone)) {
        const long long n = numbers[at++];
        if (n != p.samples)
          return {false,
                  fmt::format("step {}, rank {} of {}: {} samples, expected {}{}", p.step, p.rank, p.ranks, n,
                              p.samples, tail(samples, batch)),
                  "a rank's part of a step has another number of samples than the contract says"};
        for (long long i = 0; i < n; ++i) {
          const long long sample = numbers[at++];
          if (sample < 0 || sample >= samples)
            return {false,
                    fmt::format("step {}, rank {} of {}: there is no sample {}", p.step, p.rank, p.ranks, sample),
                    "a batch has a sample that is not there"};
          together[alone].push_back(sample);
        }
      }
    if (Verdict v = epochs(together[0], samples); !v.ok) return v;
    if (together[0] != together[1]) {
      const auto i =
          std::mismatch(together[0].begin(), together[0].end(), together[1].begin()).first - together[0].begin();
      return {
          false,
          fmt::format(
              "sample number {} of the run is {} with several ranks, and {} with one: the order must not depend on them",
              i, together[0][static_cast<std::size_t>(i)], together[1][static_cast<std::size_t>(i)]),
          "the order of the samples depends on the number of ranks"};
    }
    const auto begin = as<long long>(in[1]);
    for (long long sample : together[0]) {
      const long long bytes = numbers[at++], sum = numbers[at++],
                      expected = begin[static_cast<std::size_t>(sample) + 1] - begin[static_cast<std::size_t>(sample)];
      const auto* from = reinterpret_cast<const unsigned char*>(in[0].data()) + begin[static_cast<std::size_t>(sample)];
      if (bytes != expected || sum != checksum(from, static_cast<std::size_t>(expected)))
        return {false,
                fmt::format("read_sample({}) gave {} bytes, expected {}{}", sample, bytes, expected,
                            bytes == expected ? ", and others than were written" : ""),
                "read_sample gave other bytes than were written"};
    }
    if (Verdict v = from_the_files(c, in, numbers, owned); !v.ok) return v;
    for (const ShardFiles::Examined& e : owned.examined) {
      const long long bytes = numbers[at++], sum = numbers[at++];
      const auto sample = static_cast<std::size_t>(e.sample);
      const long long expected = begin[sample + 1] - begin[sample];
      const auto* from = reinterpret_cast<const unsigned char*>(in[0].data()) + begin[sample];
      if (e.damaged && bytes != -1)
        return {false,
                fmt::format("a record was damaged in its shard, or cut short, and read_sample gave {} in place of -1",
                            bytes),
                "a damaged sample was taken for a good one"};
      if (!e.damaged && (bytes != expected || sum != checksum(from, static_cast<std::size_t>(expected))))
        return {false, fmt::format("read_sample({}) gave {} bytes, expected {}", e.sample, bytes, expected),
                "a good sample was taken for a damaged one"};
    }
    return orders(numbers.subspan(at), static_cast<std::size_t>(samples));
  }
  // Each order is a permutation; the seed and the epoch decide, each for itself, and nothing else does.
  static Verdict orders(std::span<const long long> numbers, std::size_t samples) {
    std::vector<std::vector<long long>> all;
    for (std::size_t k = 0; k < std::size(kOrders); ++k) {
      const auto part = numbers.subspan(k * samples, samples);
      all.emplace_back(part.begin(), part.end());
      std::vector<long long> sorted = all.back();
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t i = 0; i < samples; ++i)
        if (sorted[i] != static_cast<long long>(i))
          return {false, "epoch_order gave no permutation", "epoch_order gave no permutation"};
    }
    if (all.front() != all.back())
      return {false, "epoch_order gave two orders for the same seed and epoch",
              "epoch_order gave two orders for the same seed and epoch"};
    if (samples >= 16 && all[0] == all[1])
      return {false, "two seeds have the same order of an epoch", "two seeds have the same order of an epoch"};
    if (samples >= 16 && all[0] == all[2])
      return {false, "seed s in epoch 1 and seed s + 1 in epoch 0 have the same order: both count, each for itself",
              "two seeds have the same orders, an epoch apart"};
    if (samples < 16) return {};  // a larger case says it better
    // Pearson's chi-square over all orders of 4 samples: 23 degrees of freedom, exceeded once in 10^9 times.
    constexpr double kMostChiSquare = 92;
    std::map<long long, int> count;
    for (const long long number : numbers.subspan(std::size(kOrders) * samples)) ++count[number];
    constexpr int kPermutations = 24;
    const double expected = double{kSmallOrders} / kPermutations;
    double chi = (kPermutations - std::min<double>(kPermutations, static_cast<double>(count.size()))) * expected;
    for (const auto& [number, n] : count) chi += (n - expected) * (n - expected) / expected;
    if (chi > kMostChiSquare)
      return {
          false,
          fmt::format("of {} epochs of {} samples some orders come too often: chi-square is {:.0f}, and beyond {:.0f} "
                      "once in 10^9 times",
                      kSmallOrders, kFewSamples, chi, kMostChiSquare),
          "the orders of epochs are not equally probable"};
    return {};
  }
  // What read_sample gave was read for this call: neither kept from the writing nor from an earlier call.
  static Verdict from_the_files(const Case& c, ConstBuffers in, std::span<const long long> numbers,
                                const ShardFiles& owned) {
    const auto begin = as<long long>(in[1]);
    std::uint64_t calls = 0, bytes = static_cast<std::uint64_t>(c.size[0]) * sizeof(IndexEntry);
    std::size_t at = 1;
    for (const Part& p : parts_of(c.size[0], static_cast<int>(c.size[1]), false)) {
      ++at;
      for (long long i = 0; i < p.samples; ++i, ++calls) {
        const auto sample = static_cast<std::size_t>(numbers[at++]);
        bytes += sizeof(RecordHead) + static_cast<std::uint64_t>(begin[sample + 1] - begin[sample]);
      }
    }
    const std::uint64_t reads = owned.read.reads - owned.written.reads,
                        got = owned.read.bytes_read - owned.written.bytes_read;
    if (reads >= calls + 1 && got >= bytes) return {};
    return {
        false,
        fmt::format("{} samples and the index have {} bytes, and {} reads gave {}: each call of read_sample reads its "
                    "record from the shard, and nothing is kept between calls",
                    calls, bytes, reads, got),
        "samples were kept between calls of read_sample, and not read"};
  }
  static std::string tail(long long samples, int batch) {
    return samples % batch == 0 ? "" : fmt::format(" (an epoch ends with a batch of {})", samples % batch);
  }
  // Each epoch has each sample once; no two epochs have the same order, and none is the identity.
  static Verdict epochs(const std::vector<long long>& run, long long samples) {
    const auto n = static_cast<std::size_t>(samples);
    std::vector<std::vector<long long>> orders;
    for (std::size_t at = 0; at < run.size(); at += n) {
      const std::size_t end = std::min(run.size(), at + n);
      std::vector<long long> order(run.begin() + static_cast<std::ptrdiff_t>(at),
                                   run.begin() + static_cast<std::ptrdiff_t>(end)),
          sorted = order;
      std::sort(sorted.begin(), sorted.end());
      if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
        return {false, fmt::format("epoch {}: sample {} comes twice", orders.size(), *twice),
                "a sample comes twice in an epoch"};
      orders.push_back(std::move(order));
    }
    if (n < 16) return {};
    for (std::size_t e = 0; e < orders.size(); ++e) {
      // In a random order the mean distance from the place in the file is n / 3.
      double moved = 0;
      for (std::size_t i = 0; i < orders[e].size(); ++i)
        moved += std::abs(static_cast<double>(orders[e][i]) - static_cast<double>(i));
      if (orders[e].size() == n && moved / static_cast<double>(n) < 0.2 * static_cast<double>(n))
        return {
            false,
            fmt::format("epoch {} is hardly shuffled: a sample moves by {:.1f} places on average, {:.1f} are expected",
                        e, moved / static_cast<double>(n), static_cast<double>(n) / 3),
            "an epoch is hardly shuffled"};
      for (std::size_t f = 0; f < e; ++f) {
        const std::size_t both = std::min(orders[e].size(), orders[f].size());
        std::size_t same = 0;
        for (std::size_t i = 0; i < both; ++i) same += orders[e][i] == orders[f][i] ? 1 : 0;
        if (both >= 16 && same > both / 2)
          return {false, fmt::format("epochs {} and {} have {} of {} samples at the same place", f, e, same, both),
                  "two epochs have the same order"};
      }
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> shards() { return std::make_unique<Shards_>(); }

}  // namespace ridge::lab::input_pipeline
