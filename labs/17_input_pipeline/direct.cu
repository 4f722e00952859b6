// Lab 17, task `direct`: any range of a file to the device, past the page cache.
// Run: ./ridge check 17 --task direct
#include <algorithm>

#include "direct.hpp"

// TASK(direct)
bool read_direct(const char* path, long long offset, long long bytes, unsigned char* to, unsigned char* locked,
                 cudaStream_t stream) {
  // TODO: this goes through the page cache, one request after the other.
  const int fd = files::open(path);
  if (fd < 0) return false;
  for (long long at = 0; at < bytes; at += kLockedBytes) {
    const long long n = std::min(kLockedBytes, bytes - at);
    if (files::pread(fd, locked, static_cast<std::size_t>(n), offset + at) != n) return false;
    cudaMemcpyAsync(to + at, locked, static_cast<std::size_t>(n), cudaMemcpyHostToDevice, stream);
    cudaStreamSynchronize(stream);
  }
  return files::close(fd) == 0;
}

bool read_cufile(const char* path, long long offset, long long bytes, unsigned char* to, unsigned char* scratch,
                 std::size_t scratch_bytes, cudaStream_t stream) {
  // TODO: register `scratch`, read the aligned blocks into it, and copy the range.
  (void)path, (void)offset, (void)bytes, (void)to, (void)scratch, (void)scratch_bytes, (void)stream;
  return files::cufile_available();
}
// END(direct)
