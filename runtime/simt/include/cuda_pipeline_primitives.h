// Copies from global to shared memory that go on while the thread does (cp.async on sm_80 and later). As on a GPU, the
// data is there once the thread has waited for it, and for other threads after a barrier behind that: here it is not
// there before.
#pragma once
#include <cstddef>

#include "cuda_runtime.h"
#include "ridge_simt/device.h"

// Copies size_and_align (4, 8 or 16) bytes, of which the last `zfill` are zeros instead and are not read.
RIDGE_DEVICE void __pipeline_memcpy_async(void* __restrict__ dst_shared, const void* __restrict__ src_global,
                                          std::size_t size_and_align, std::size_t zfill = 0) {
  ridge_simt::pipeline_copy(dst_shared, src_global, static_cast<unsigned>(size_and_align),
                            static_cast<unsigned>(zfill));
}

// Ends a batch: the copies of this thread since the last one.
RIDGE_DEVICE void __pipeline_commit() { ridge_simt::pipeline_commit(); }

// Waits until all batches of this thread but the last N have arrived.
RIDGE_DEVICE void __pipeline_wait_prior(std::size_t N) { ridge_simt::pipeline_wait(static_cast<unsigned>(N)); }
