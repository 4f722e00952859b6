// Task `direct`: any range of a file to the device, past the page cache.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

#include "files/cufile.hpp"
#include "files/ring.hpp"

// Page-locked memory that is given: its address is a multiple of storage().alignment.
constexpr long long kLockedBytes = 8 << 20;

// Bytes [offset, offset + bytes) of the file go to `to`, device memory with room for just them. offset and bytes are any;
// the range is within the file, and bytes >= 1. The file is read with kDirect and through a ring. Nothing beyond the
// aligned blocks that the range touches is read, and none of them twice. Returns false where a call failed. When it
// returns, the work must have ended, or be ordered before the end of `stream`.
//   locked   kLockedBytes of page-locked memory; where bytes of the file pass
bool read_direct(const char* path, long long offset, long long bytes, unsigned char* to, unsigned char* locked,
                 cudaStream_t stream);

// The same with files::read_to_device, which moves bytes from the storage to device memory past the host's. `scratch` is
// device memory with room for the range and 2 * storage().alignment bytes more; it is to be registered for the call, and
// not longer. Returns false where the machine has no cuFile.
bool read_cufile(const char* path, long long offset, long long bytes, unsigned char* to, unsigned char* scratch,
                 std::size_t scratch_bytes, cudaStream_t stream);
