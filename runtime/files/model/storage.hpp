// Storage of a parallel file system in virtual time: which target holds which bytes, and how long each is occupied.
#pragma once
#include <cstdint>
#include <vector>

#include "files/request.hpp"

namespace ridge::files {

// The judge's choice. Bandwidths in bytes/s, times in s. The defaults are of the order of one Lustre file system of
// NVMe targets behind a 200 Gbit/s network; they stand for no product.
struct Storage {
  int targets = 8;
  double target_bandwidth = 3e9;
  double request_seconds = 20e-6;      // a request occupies a target so long, besides its bytes
  double latency = 300e-6;             // network and server, of a request; those in flight share it
  double open_seconds = 400e-6;        // an open, create, rename or unlink occupies the metadata server
  std::int64_t stripe_size = 1 << 20;  // of files whose maker asks for none
  int stripe_count = 1;
  int alignment = 4096;  // also the page cache's page
  std::uint64_t page_cache_bytes = std::uint64_t{1} << 30;
  double page_cache_bandwidth = 8e9;  // of the copy between page cache and buffer
  int cores = 8;
  double core_bandwidth = 1e9;                      // bytes that a core decodes in a second
  double call_seconds = 1e-6;                       // host time of a call
  std::uint64_t capacity = std::uint64_t{1} << 30;  // bytes of all files, and of all writes of one run
  std::size_t most_files = 100000;

  Description description() const;
};

// Where a file's bytes are. Byte i: stripe i / size, on target (first + i / size % count) % targets.
struct Layout {
  std::int64_t size = 1 << 20;
  int count = 1, first = 0;
};

// The bytes of [offset, offset + bytes) on each target, by target number.
std::vector<std::uint64_t> bytes_by_target(const Storage& storage, const Layout& layout, std::uint64_t offset,
                                           std::uint64_t bytes);

// Seconds that a target is occupied by one request's `bytes`.
double target_seconds(const Storage& storage, std::uint64_t bytes);

}  // namespace ridge::files
