// Task `stripes`: every number against the same arithmetic, done in another way.
#include <fmt/format.h>

#include <cmath>

#include "../stripes_call.hpp"
#include "checks/compare.hpp"
#include "checks/fill.hpp"
#include "tasks.hpp"

namespace ridge::lab::input_pipeline {

namespace {

// Those of runtime/files/model, which the judge's own file system charges.
std::vector<std::uint64_t> bytes_on_targets(const StripesQuestion& q, const Striping& s, long long offset,
                                            long long bytes) {
  files::Storage storage;
  storage.targets = q.system.targets;
  return files::bytes_by_target(storage, {s.stripe_bytes, s.count, s.first}, static_cast<std::uint64_t>(offset),
                                static_cast<std::uint64_t>(bytes));
}

double makespan_of(const StripesQuestion& q, const Striping& s, long long request_bytes) {
  double busy[kMostTargets] = {};
  for (int rank = 0; rank < q.readers; ++rank) {
    long long at = q.file_bytes * rank / q.readers;
    const long long end = q.file_bytes * (rank + 1) / q.readers;
    for (; at < end; at += request_bytes) {
      const auto on = bytes_on_targets(q, s, at, std::min(request_bytes, end - at));
      for (std::size_t t = 0; t < on.size(); ++t)
        if (on[t] > 0) busy[t] += q.system.request_seconds + static_cast<double>(on[t]) / q.system.bandwidth;
    }
  }
  return *std::max_element(busy, busy + q.system.targets) + q.system.latency;
}

// Over all choices.
double least_makespan(const StripesQuestion& q) {
  double least = -1;
  for (long long stripe = kLeastChoice; stripe <= kMostChoice; stripe *= 2)
    for (long long request = kLeastChoice; request <= std::min(kMostChoice, q.most_request_bytes); request *= 2)
      for (int count = 1; count <= q.system.targets; ++count) {
        const double seconds = makespan_of(q, {stripe, count, 0}, request);
        if (least < 0 || seconds < least) least = seconds;
      }
  return least;
}

bool power_of_choice(long long v) { return v >= kLeastChoice && v <= kMostChoice && (v & (v - 1)) == 0; }
bool allowed(const StripesQuestion& q, const Choice& c) {
  return power_of_choice(c.striping.stripe_bytes) && power_of_choice(c.request_bytes) && c.striping.count >= 1 &&
         c.striping.count <= q.system.targets && c.striping.first == 0 && c.request_bytes <= q.most_request_bytes;
}

double reading(const StripesQuestion& q) {
  return std::ceil(static_cast<double>(q.collection.samples) / q.system.targets) *
         (q.system.request_seconds + static_cast<double>(q.collection.sample_bytes) / q.system.bandwidth);
}
double opening(const StripesQuestion& q, long long per_shard) {
  return static_cast<double>((q.collection.samples + per_shard - 1) / per_shard) * q.system.open_seconds;
}

bool close_to(double got, double expected) { return std::fabs(got - expected) <= 1e-9 * expected; }

// Sizes: questions.
class Stripes : public TaskCheck {
 public:
  std::string id() const override { return "stripes"; }
  std::vector<Case> cases(const Request& r) const override {
    const std::int64_t n = r.mode == Mode::check ? 12 : 40;
    return {{"a file of whole stripes", {1}}, {fmt::format("{} systems", n), {n}}};
  }
  Shape shape(const Case& c) const override {
    const auto n = static_cast<std::size_t>(c.size[0]);
    return {{n * sizeof(StripesQuestion)}, {n * sizeof(StripesAnswer)}, 0, Place::pageable, Place::device};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    auto all = as<StripesQuestion>(in[0]);
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::uint64_t draw = 0;
      const auto below = [&](std::uint64_t n) { return random_bits(seed + i * 1000, ++draw) % n; };
      StripesQuestion q{};
      q.system = {static_cast<int>(2 + below(11)), 0.5e9 * static_cast<double>(1 + below(8)),
                  1e-6 * static_cast<double>(10 + below(500)), 1e-4 * static_cast<double>(1 + below(9)),
                  1e-4 * static_cast<double>(2 + below(8))};
      q.striping = {static_cast<long long>(4096 * (1 + below(40))),
                    static_cast<int>(1 + below(static_cast<std::uint64_t>(q.system.targets))),
                    static_cast<int>(below(static_cast<std::uint64_t>(q.system.targets)))};
      q.offset = static_cast<long long>(below(1 << 24));
      q.bytes = i % 5 == 4 ? 0 : static_cast<long long>(below(1 << 23));
      q.file_bytes = static_cast<long long>((64 << 20) + below(256 << 20));
      q.readers = static_cast<int>(1 + below(9));
      q.request_bytes = static_cast<long long>(100000 + below(4000000));
      q.most_request_bytes = 1LL << (20 + below(5));
      q.collection = {static_cast<long long>(100000 + below(3000000)), static_cast<long long>(1000 + below(300000))};
      q.per_shard = static_cast<long long>(1 + below(i % 3 == 0 ? 20 : 20000));  // few: opens take longer than reads
      if (c.size[0] == 1) {
        q.system.targets = 4;
        q.striping = {1 << 20, 4, 0};
        q.offset = 0, q.bytes = 8 << 20, q.file_bytes = 64 << 20, q.readers = 4, q.request_bytes = 1 << 20;
      }
      all[i] = q;
    }
  }
  bool host_reads_inputs() const override { return true; }
  double bytes_from_host(const Case&) const override { return 1 << 20; }
  Work work(const Case& c) const override { return {static_cast<double>(c.size[0]), "system", 0, 0}; }

  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    const auto questions = as<StripesQuestion>(in[0]);
    const auto answers = as<StripesAnswer>(out[0]);
    for (std::size_t i = 0; i < questions.size(); ++i)
      if (Verdict v = judge(i, questions[i], answers[i]); !v.ok) return v;
    return {};
  }
  std::vector<Mark> marks(const Case&, ConstBuffers in, ConstBuffers out, std::span<const Question>) const override {
    const auto questions = as<StripesQuestion>(in[0]);
    const auto answers = as<StripesAnswer>(out[0]);
    Mark worst{"choice", 0, "x the least", {}, "some choice is far from the best"};
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const StripesQuestion& q = questions[i];
      const Choice& c = answers[i].choice;
      const double seconds = makespan_of(q, c.striping, c.request_bytes), least = least_makespan(q);
      if (seconds / least > worst.value)
        worst.value = seconds / least,
        worst.message = fmt::format(
            "system {}: stripes of {} KiB on {} of {} targets, requests of {} KiB: {:.4g} s, and {:.4g} s are possible",
            i, c.striping.stripe_bytes >> 10, c.striping.count, q.system.targets, c.request_bytes >> 10, seconds,
            least);
    }
    return {worst};
  }

 private:
  static Verdict judge(std::size_t i, const StripesQuestion& q, const StripesAnswer& a) {
    const auto on = bytes_on_targets(q, q.striping, q.offset, q.bytes);
    for (std::size_t t = 0; t < on.size(); ++t)
      if (a.on_target[t] != static_cast<long long>(on[t]))
        return {
            false,
            fmt::format(
                "system {}: target_bytes has {} bytes on target {} of {}, expected {} (bytes {} to {}, stripes of {} on {} targets from {})",
                i, a.on_target[t], t, q.system.targets, on[t], q.offset, q.offset + q.bytes, q.striping.stripe_bytes,
                q.striping.count, q.striping.first),
            "target_bytes is wrong"};
    if (const double expected = makespan_of(q, q.striping, q.request_bytes); !close_to(a.makespan, expected))
      return {false, fmt::format("system {}: makespan is {:.9g} s, expected {:.9g} s", i, a.makespan, expected),
              "makespan is wrong"};
    if (!allowed(q, a.choice))
      return {
          false,
          fmt::format(
              "system {}: choose gave stripes of {} bytes on {} targets from {}, and requests of {} bytes: not allowed (requests up to {})",
              i, a.choice.striping.stripe_bytes, a.choice.striping.count, a.choice.striping.first,
              a.choice.request_bytes, q.most_request_bytes),
          "choose gave what is not allowed"};
    if (const double expected =
            std::max(static_cast<double>(q.collection.samples) * q.system.open_seconds, reading(q)) +
            2 * q.system.latency;
        !close_to(a.files, expected))
      return {false, fmt::format("system {}: seconds_of_files is {:.9g}, expected {:.9g}", i, a.files, expected),
              "seconds_of_files is wrong"};
    if (const double expected = std::max(opening(q, q.per_shard), reading(q)) + 2 * q.system.latency;
        !close_to(a.shards, expected))
      return {false,
              fmt::format("system {}: seconds_of_shards is {:.9g}, expected {:.9g} ({} samples a shard)", i, a.shards,
                          expected, q.per_shard),
              "seconds_of_shards is wrong"};
    long long per_shard = q.collection.samples;
    const double most = reading(q) / 100;
    if (opening(q, per_shard) <= most) {
      // Shards: as many as the time allows; then the fewest samples that need no more.
      long long shards = static_cast<long long>(most / q.system.open_seconds * (1 + 1e-12));
      while (static_cast<double>(shards + 1) * q.system.open_seconds <= most) ++shards;
      while (static_cast<double>(shards) * q.system.open_seconds > most) --shards;
      per_shard = (q.collection.samples + shards - 1) / shards;
    }
    if (a.per_shard != per_shard)
      return {false, fmt::format("system {}: least_per_shard is {}, expected {}", i, a.per_shard, per_shard),
              "least_per_shard is wrong"};
    return {};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> stripes() { return std::make_unique<Stripes>(); }

}  // namespace ridge::lab::input_pipeline
