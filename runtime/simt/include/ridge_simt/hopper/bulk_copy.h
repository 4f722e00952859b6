// PTX's bulk copies (TMA): cp.async.bulk and cp.async.bulk.tensor. They go on while their thread does. PTX ISA, "cp.async.bulk".
#pragma once
#include <cstdint>

#include "../device.h"

namespace ridge_simt {

enum class BulkReduction : unsigned char { none, add_, min_, max_, inc_, dec_, and_, or_, xor_ };
enum class BulkType : unsigned char { b32, u32, s32, b64, u64, s64, f16, bf16, f32, f64 };

// A box of a tensor: its map (a CUtensorMap) and its first element.
struct BulkTensor {
  const void* map;
  int at[5];
  unsigned rank;
};

// Addresses of shared memory are PTX's. `blocks`: those of the cluster that get a copy, as bits; 0: this one.
void bulk_tensor_load(unsigned to, const BulkTensor& from, unsigned barrier, unsigned blocks);
void bulk_tensor_store(const BulkTensor& to, unsigned from, BulkReduction operation);
void bulk_load(unsigned to, const void* from, unsigned bytes, unsigned barrier, unsigned blocks);
void bulk_store(void* to, unsigned from, unsigned bytes, BulkReduction operation, BulkType type);
// From this block's shared memory to another block's.
void bulk_exchange(unsigned to, unsigned from, unsigned bytes, unsigned barrier, BulkReduction operation, BulkType type);
// This thread's stores so far are a group; wait until all but `left` groups are done, or have `read` what they store.
void bulk_commit();
void bulk_wait(unsigned left, bool read);

}  // namespace ridge_simt
