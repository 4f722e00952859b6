// Contract of lab 15's tasks on the device. Those on the host have headers of their own: blocks.hpp.
//
// A sequence that is being written has one query a step. Its keys and values of all tokens so far are in the KV cache.
// Head h of q reads head h / (heads / kv_heads) of the cache (grouped-query attention), with scale = 1 / sqrt(head_dim):
//   s[j] = scale * sum over c of q[c] * k[j][c]      lse = log(sum over j of exp(s[j]))
//   o[c] = sum over j of exp(s[j] - lse) * v[j][c]   j: the tokens 0 .. length - 1 of the sequence
// Products and sums are kept in fp32; the factors exp(s - maximum) may be rounded to bf16, and o is rounded once, at
// the end. exp(s[j]) need not fit into a float. Places of the cache beyond a sequence's length hold anything, also NaN.
//
// All tensors are row-major, their last index the fastest. All pointers are device pointers from the judge, at least
// 256-byte aligned, other ones at each call. Work goes on `stream`; the judge waits for it. A workspace is undefined at
// each call. No host function may wait for the device: lengths and block tables are known there only.
#pragma once
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstddef>

#include "page.hpp"

// heads is a multiple of kv_heads, heads / kv_heads is at most 16, and batch * kv_heads at most 4096.
struct Decode {
  int batch, heads, kv_heads;
  int head_dim;  // 64 or 128
  int capacity;  // places for each sequence; 1 <= lengths[b] <= capacity
};

constexpr int kMostSplits = 64;

// One query a sequence, with a cache in which each sequence has its own place.
//   q, o       (batch, heads, head_dim)
//   k, v       (batch, kv_heads, capacity, head_dim)
//   lengths    (batch)
//   workspace  kMostSplits * batch * heads * (head_dim + 1) floats
void decode_attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, const int* lengths,
                      __nv_bfloat16* o, const Decode& shape, void* workspace, std::size_t workspace_bytes,
                      cudaStream_t stream);

// Task `paged`: the cache is a pool of pages of kPage tokens. Token j of sequence b lies in page table[b][j / kPage], at
// place j % kPage. A sequence has ceil(length / kPage) pages; the other columns of its row hold -1.
struct Paged {
  int batch, heads, kv_heads;
  int head_dim;  // 64 or 128
  int pages;     // in the pool
  int columns;   // of the table; each length is at most columns * kPage
};

// Stores new tokens in their places, and touches no other place.
//   k, v              (tokens, kv_heads, head_dim); sequence b has the rows starts[b] .. starts[b + 1] - 1
//   starts            (batch + 1), starts[0] = 0, starts[batch] = tokens; a sequence may have none
//   lengths           (batch): tokens of each sequence before the call
//   table             (batch, columns), with the pages of the new tokens
//   k_pages, v_pages  (pages, kv_heads, kPage, head_dim)
void append(const __nv_bfloat16* k, const __nv_bfloat16* v, const int* starts, const int* lengths, const int* table,
            __nv_bfloat16* k_pages, __nv_bfloat16* v_pages, int tokens, const Paged& shape, cudaStream_t stream);

// The same as decode_attention, from pages.
//   q, o              (batch, heads, head_dim)
//   k_pages, v_pages  (pages, kv_heads, kPage, head_dim)
//   table             (batch, columns);  lengths (batch), at least 1
//   workspace         kMostSplits * batch * heads * (head_dim + 1) floats
void paged_attention(const __nv_bfloat16* q, const __nv_bfloat16* k_pages, const __nv_bfloat16* v_pages,
                     const int* table, const int* lengths, __nv_bfloat16* o, const Paged& shape, void* workspace,
                     std::size_t workspace_bytes, cudaStream_t stream);
