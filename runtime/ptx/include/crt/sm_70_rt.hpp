// Clang's intrinsics include this file of the Toolkit for the functions that compare values over a warp.
#pragma once
static __device__ inline unsigned __match_any_sync(unsigned mask, unsigned value) {
  return __nvvm_match_any_sync_i32(mask, value);
}
static __device__ inline unsigned __match_any_sync(unsigned mask, int value) {
  return __nvvm_match_any_sync_i32(mask, (unsigned)value);
}
