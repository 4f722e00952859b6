// Lab 17, task `direct`: any range of a file to the device, past the page cache.
// Run: ./ridge check 17 --task direct
#include <algorithm>

#include "direct.hpp"

// TASK(direct)
namespace {

// The aligned blocks that a range touches.
struct Blocks {
  long long begin, end;
};
Blocks blocks_of(long long offset, long long bytes, long long unit) {
  return {offset / unit * unit, (offset + bytes + unit - 1) / unit * unit};
}

constexpr int kParts = 8;  // of the page-locked memory
constexpr long long kPart = kLockedBytes / kParts;

// An event after the copy out of each part. Kept: events are made once.
struct Copied {
  cudaEvent_t event[kParts];
  Copied() {
    for (cudaEvent_t& e : event) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  }
};

}  // namespace

bool read_direct(const char* path, long long offset, long long bytes, unsigned char* to, unsigned char* locked,
                 cudaStream_t stream) {
  static const Copied copied;
  const Blocks all = blocks_of(offset, bytes, files::storage().alignment);
  const int fd = files::open(path, files::kDirect);
  if (fd < 0) return false;
  const long long requests = (all.end - all.begin + kPart - 1) / kPart;
  files::Ring ring(kParts);
  bool good = true;
  const auto ask = [&](long long i) {
    const long long from = all.begin + i * kPart;
    const auto n = static_cast<std::size_t>(std::min(kPart, all.end - from));
    good = ring.read(fd, locked + i % kParts * kPart, n, from) == 0 && good;
  };
  for (long long i = 0; i < std::min<long long>(requests, kParts); ++i) ask(i);
  for (long long i = 0; i < requests; ++i) {
    const long long from = all.begin + i * kPart;
    // What of this part belongs to the range.
    const long long first = std::max(offset, from), end = std::min(offset + bytes, from + kPart);
    good = ring.wait().result >= end - from && good;
    cudaMemcpyAsync(to + (first - offset), locked + i % kParts * kPart + (first - from),
                    static_cast<std::size_t>(end - first), cudaMemcpyHostToDevice, stream);
    cudaEventRecord(copied.event[i % kParts], stream);
    // The part of the request before is free when its copy has ended, which it has meanwhile.
    if (i > 0 && i - 1 + kParts < requests) {
      cudaEventSynchronize(copied.event[(i - 1) % kParts]);
      ask(i - 1 + kParts);
    }
  }
  cudaStreamSynchronize(stream);  // the page-locked memory is the caller's again
  return files::close(fd) == 0 && good;
}

bool read_cufile(const char* path, long long offset, long long bytes, unsigned char* to, unsigned char* scratch,
                 std::size_t scratch_bytes, cudaStream_t stream) {
  if (!files::cufile_available()) return false;
  const Blocks all = blocks_of(offset, bytes, files::storage().alignment);
  const int fd = files::open(path, files::kDirect);
  if (fd < 0) return false;
  cudaStreamSynchronize(stream);  // read_to_device waits for no stream
  bool good = files::register_buffer(scratch, scratch_bytes) == 0;
  const auto n = static_cast<std::size_t>(all.end - all.begin);
  good = good && files::read_to_device(fd, scratch, n, all.begin, 0) >= offset + bytes - all.begin;
  cudaMemcpyAsync(to, scratch + (offset - all.begin), static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice,
                  stream);
  cudaStreamSynchronize(stream);
  files::deregister_buffer(scratch);
  return files::close(fd) == 0 && good;
}
// END(direct)
