// Lab 15, task `paged`: the cache in pages, behind a table.
//
// New tokens go to their places, and the kernel of task 1 finds its tiles through the table: a tile is a page.
// Run: ./ridge check 15 --task paged
#include <cmath>

#include "splits.hpp"

// TASK(paged)
namespace {

using Bf16 = __nv_bfloat16;

// TODO: a kernel that stores new tokens in their places. Which sequence has row `token`? The one with starts[b] <= token
// < starts[b + 1].

// TODO: your kernel of task 1, with `table` in place of two pointers: tile i of a sequence is page table[b][i].

}  // namespace

void append(const Bf16* k, const Bf16* v, const int* starts, const int* lengths, const int* table, Bf16* k_pages,
            Bf16* v_pages, int tokens, const Paged& shape, cudaStream_t stream) {
  (void)k, (void)v, (void)starts, (void)lengths, (void)table, (void)k_pages, (void)v_pages, (void)tokens, (void)shape,
      (void)stream;
}

void paged_attention(const Bf16* q, const Bf16* k_pages, const Bf16* v_pages, const int* table, const int* lengths,
                     Bf16* o, const Paged& shape, void* workspace, std::size_t, cudaStream_t stream) {
  (void)q, (void)k_pages, (void)v_pages, (void)table, (void)lengths, (void)o, (void)shape, (void)workspace,
      (void)stream;
}
// END(paged)
