// Lab 15, task `decode_attention`: one query a sequence, and all of its keys and values.
//
// A block has a part of one sequence's tokens and all query heads that read them. Its warps take tiles of 16 tokens in
// turn. Three pieces are missing: the step of a tile, and two merges. Run: ./ridge check 15 --task decode_attention
#include <cmath>

#include "splits.hpp"

// TASK(decode_attention)
#include "decode_kernel.cuh"

namespace {

// k, v: (batch, kv_heads, capacity, d).
struct Rows {
  const Bf16 *k, *v;
  int kv_heads, capacity;

  template <int d>
  __device__ std::size_t tile(unsigned sequence, unsigned head, int tile) const {
    return (static_cast<std::size_t>(sequence * kv_heads + head) * capacity + tile * kRows) * d;
  }
};

}  // namespace

void decode_attention(const Bf16* q, const Bf16* k, const Bf16* v, const int* lengths, Bf16* o, const Decode& a,
                      void* workspace, std::size_t, cudaStream_t stream) {
  decode(q, Rows{k, v, a.kv_heads, a.capacity}, lengths, o, a.batch, a.heads, a.kv_heads, a.head_dim, a.capacity,
         workspace, stream);
}
// END(decode_attention)
