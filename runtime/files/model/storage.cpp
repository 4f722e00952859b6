#include "storage.hpp"

#include <algorithm>

namespace ridge::files {

Description Storage::description() const {
  Description d;
  d.targets = targets;
  d.cores = cores;
  d.target_bandwidth = target_bandwidth;
  d.request_seconds = request_seconds;
  d.latency = latency;
  d.open_seconds = open_seconds;
  d.page_cache_bandwidth = page_cache_bandwidth;
  d.page_cache_bytes = page_cache_bytes;
  d.core_bandwidth = core_bandwidth;
  d.call_seconds = call_seconds;
  d.stripe_size = stripe_size;
  d.stripe_count = stripe_count;
  d.alignment = alignment;
  return d;
}

std::vector<std::uint64_t> bytes_by_target(const Storage& storage, const Layout& layout, std::uint64_t offset,
                                           std::uint64_t bytes) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(storage.targets));
  const auto size = static_cast<std::uint64_t>(layout.size), count = static_cast<std::uint64_t>(layout.count);
  const auto add = [&](std::uint64_t stripe, std::uint64_t n) {
    all[(static_cast<std::uint64_t>(layout.first) + stripe % count) % all.size()] += n;
  };
  // Whole rounds over all stripes at once.
  if (const std::uint64_t rounds = bytes / (size * count); rounds > 1) {
    for (std::uint64_t s = 0; s < count; ++s) add(s, (rounds - 1) * size);
    offset += (rounds - 1) * size * count;
    bytes -= (rounds - 1) * size * count;
  }
  while (bytes > 0) {
    const std::uint64_t n = std::min(bytes, size - offset % size);
    add(offset / size, n);
    offset += n, bytes -= n;
  }
  return all;
}

double target_seconds(const Storage& storage, std::uint64_t bytes) {
  return storage.request_seconds + static_cast<double>(bytes) / storage.target_bandwidth;
}

}  // namespace ridge::files
