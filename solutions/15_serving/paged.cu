// Lab 15, task `paged`: the cache in pages, behind a table.
//
// New tokens go to their places, and the kernel of task 1 finds its tiles through the table: a tile is a page.
// Run: ./ridge check 15 --task paged
#include <cmath>

#include "splits.hpp"

// TASK(paged)
#include "decode_kernel.cuh"

namespace {

// k, v: (pages, kv_heads, kPage, d); table: (batch, columns).
struct Pages {
  const Bf16 *k, *v;
  const int* table;
  int kv_heads, columns;

  template <int d>
  __device__ std::size_t tile(unsigned sequence, unsigned head, int tile) const {
    const int* const own = table + static_cast<std::size_t>(sequence) * columns;
    return (static_cast<std::size_t>(own[tile]) * kv_heads + head) * kPage * d;
  }
};

// k, v: (tokens, kv_heads, d); starts: (batch + 1); lengths: (batch); table: (batch, columns). A warp a token, whose
// rows are `chunks` times 16 bytes.
__global__ void append_kernel(const uint4* k, const uint4* v, const int* starts, const int* lengths, const int* table,
                              uint4* k_pages, uint4* v_pages, int tokens, Paged a) {
  const int token = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32, row = a.head_dim / 8, chunks = a.kv_heads * row;
  if (token >= tokens) return;
  int b = 0;  // the first sequence that ends behind this token
  for (int high = a.batch; b < high;) {
    const int middle = (b + high) / 2;
    if (starts[middle + 1] <= token)
      b = middle + 1;
    else
      high = middle;
  }
  const int position = lengths[b] + token - starts[b];
  const std::size_t page = table[static_cast<std::size_t>(b) * a.columns + position / kPage];
  for (int i = lane; i < chunks; i += 32) {
    const std::size_t to = ((page * a.kv_heads + i / row) * kPage + position % kPage) * row + i % row;
    k_pages[to] = k[static_cast<std::size_t>(token) * chunks + i];
    v_pages[to] = v[static_cast<std::size_t>(token) * chunks + i];
  }
}

}  // namespace

void append(const Bf16* k, const Bf16* v, const int* starts, const int* lengths, const int* table, Bf16* k_pages,
            Bf16* v_pages, int tokens, const Paged& shape, cudaStream_t stream) {
  append_kernel<<<(tokens + kWarps - 1) / kWarps, kThreads, 0, stream>>>(
      reinterpret_cast<const uint4*>(k), reinterpret_cast<const uint4*>(v), starts, lengths, table,
      reinterpret_cast<uint4*>(k_pages), reinterpret_cast<uint4*>(v_pages), tokens, shape);
}

void paged_attention(const Bf16* q, const Bf16* k_pages, const Bf16* v_pages, const int* table, const int* lengths,
                     Bf16* o, const Paged& a, void* workspace, std::size_t, cudaStream_t stream) {
  decode(q, Pages{k_pages, v_pages, table, a.kv_heads, a.columns}, lengths, o, a.batch, a.heads, a.kv_heads, a.head_dim,
         a.columns * kPage, workspace, stream);
}
// END(paged)
