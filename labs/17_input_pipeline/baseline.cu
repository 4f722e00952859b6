// What the tasks are held against on a GPU, on the same storage. prefetch: a read of the same batches, as many in flight
// as there are slots, and nothing else: the storage's own speed. direct: a plain loop of aligned reads with O_DIRECT, a
// copy to the device after each. The others are not timed.
#include <algorithm>

#include "direct.hpp"
#include "prefetch.hpp"
#include "shards.hpp"
#include "stripes.hpp"

void train(const Feed& feed, const Slots& slots, std::uint32_t*, cudaStream_t) {
  const int fd = files::open(feed.path, files::kDirect);
  files::Ring ring(kSlots);
  int asked = 0;
  for (int b = 0; b < feed.batches; ++b) {
    for (; asked < feed.batches && asked < b + kSlots; ++asked)
      ring.read(fd, slots.encoded[asked % kSlots], feed.bytes(), asked * feed.bytes());
    ring.wait();
  }
  files::close(fd);
}

bool read_direct(const char* path, long long offset, long long bytes, unsigned char* to, unsigned char* locked,
                 cudaStream_t stream) {
  constexpr long long part = 1 << 20;
  const long long unit = files::storage().alignment, end = offset + bytes;
  const int fd = files::open(path, files::kDirect);
  if (fd < 0) return false;
  for (long long from = offset / unit * unit; from < end; from += part) {
    const long long wanted = std::min(part, (end - from + unit - 1) / unit * unit);
    const long long first = std::max(offset, from), last = std::min(end, from + wanted);
    if (files::pread(fd, locked, static_cast<std::size_t>(wanted), from) < last - from) return false;
    cudaMemcpyAsync(to + (first - offset), locked + (first - from), static_cast<std::size_t>(last - first),
                    cudaMemcpyHostToDevice, stream);
    cudaStreamSynchronize(stream);
  }
  return files::close(fd) == 0;
}

bool read_cufile(const char*, long long, long long, unsigned char*, unsigned char*, std::size_t, cudaStream_t) {
  return false;
}

int write_shards(const Samples&, long long) { return 0; }
bool open_shards(Shards&) { return false; }
long long read_sample(const Shards&, long long, unsigned char*) { return -1; }
void epoch_order(std::uint64_t, long long, std::vector<long long>&) {}
void next_batch(const Epochs&, Cursor&, int, int, std::vector<long long>&) {}
void target_bytes(const System&, const Striping&, long long, long long, long long*) {}
double makespan(const System&, const Striping&, long long, int, long long) { return 0; }
Choice choose(const System&, long long, int, long long) { return {}; }
double seconds_of_files(const System&, const Collection&) { return 0; }
double seconds_of_shards(const System&, const Collection&, long long) { return 0; }
long long least_per_shard(const System&, const Collection&) { return 1; }
