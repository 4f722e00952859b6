// Lab 17, task `stripes`: how a file is spread over storage targets, and what that costs. Host code only.
// Run: ./ridge check 17 --task stripes
#include <algorithm>

#include "stripes.hpp"

// TASK(stripes)
void target_bytes(const System& system, const Striping& striping, long long offset, long long bytes,
                  long long* on_target) {
  std::fill_n(on_target, system.targets, 0LL);
  for (const long long end = offset + bytes; offset < end;) {
    const long long stripe = offset / striping.stripe_bytes;
    const long long next = std::min(end, (stripe + 1) * striping.stripe_bytes);
    on_target[(striping.first + stripe % striping.count) % system.targets] += next - offset;
    offset = next;
  }
}

double makespan(const System& system, const Striping& striping, long long file_bytes, int readers,
                long long request_bytes) {
  double busy[kMostTargets] = {};
  long long on_target[kMostTargets];
  for (int rank = 0; rank < readers; ++rank) {
    const long long end = file_bytes * (rank + 1) / readers;
    for (long long at = file_bytes * rank / readers; at < end; at += request_bytes) {
      target_bytes(system, striping, at, std::min(request_bytes, end - at), on_target);
      for (int t = 0; t < system.targets; ++t)
        if (on_target[t] > 0) busy[t] += system.request_seconds + static_cast<double>(on_target[t]) / system.bandwidth;
    }
  }
  return *std::max_element(busy, busy + system.targets) + system.latency;
}

Choice choose(const System& system, long long file_bytes, int readers, long long most_request_bytes) {
  Choice best{};
  double least = -1;
  for (long long stripe = kLeastChoice; stripe <= kMostChoice; stripe *= 2)
    for (long long request = kLeastChoice; request <= std::min(kMostChoice, most_request_bytes); request *= 2)
      for (int count = 1; count <= system.targets; ++count) {
        const Striping striping{stripe, count, 0};
        const double seconds = makespan(system, striping, file_bytes, readers, request);
        if (least < 0 || seconds < least) least = seconds, best = {striping, request};
      }
  return best;
}

namespace {

// The busiest target's time for all samples.
double reading(const System& system, const Collection& c) {
  const double samples = static_cast<double>((c.samples + system.targets - 1) / system.targets);
  return samples * (system.request_seconds + static_cast<double>(c.sample_bytes) / system.bandwidth);
}

}  // namespace

double seconds_of_files(const System& system, const Collection& c) {
  return std::max(static_cast<double>(c.samples) * system.open_seconds, reading(system, c)) + 2 * system.latency;
}

double seconds_of_shards(const System& system, const Collection& c, long long per_shard) {
  const double shards = static_cast<double>((c.samples + per_shard - 1) / per_shard);
  return std::max(shards * system.open_seconds, reading(system, c)) + 2 * system.latency;
}

long long least_per_shard(const System& system, const Collection& c) {
  const double most = reading(system, c) / 100;
  const auto opens = [&](long long per_shard) {
    return static_cast<double>((c.samples + per_shard - 1) / per_shard) * system.open_seconds;
  };
  long long low = 1, high = c.samples;  // opens become fewer as shards grow
  while (low < high) {
    const long long middle = low + (high - low) / 2;
    if (opens(middle) <= most)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}
// END(stripes)
