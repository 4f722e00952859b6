// Contract of lab 15's tasks on the device. Three tasks have headers of their own: blocks.hpp, batcher.hpp, and step.hpp for
// `decode_graph`.
//
// A sequence that is being written has one query a step. Its keys and values of all tokens so far are in the KV cache.
// Head h of q reads head h / (heads / kv_heads) of the cache (grouped-query attention), with scale = 1 / sqrt(head_dim):
//   s[j] = scale * sum over c of q[c] * k[j][c]      lse = log(sum over j of exp(s[j]))
//   o[c] = sum over j of exp(s[j] - lse) * v[j][c]   j: the tokens 0 .. length - 1 of the sequence
// Products and sums are kept in fp32; the factors exp(s - maximum) may be rounded to bf16, and o is rounded once, at
// the end. exp(s[j]) need not fit into a float. Places of the cache beyond a sequence's length hold anything, also NaN.
//
// All tensors are row-major, their last index the fastest. All pointers are device pointers from the judge, other ones at
// each call. Tensors of floats and bf16 are at least 16-byte aligned, integers 4-byte. Work goes on `stream`; the judge
// waits for it. Calls do not overlap. A workspace is undefined at each call. No host function may wait for the device:
// lengths and block tables are known there only.
#pragma once
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstddef>

#include "page.hpp"

// Here and in Paged: heads is a multiple of kv_heads, heads / kv_heads is at most 16, and batch * kv_heads at most 4096.
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

// Task `speculate`: which drafted tokens stay. A small model has drafted `drafted` tokens for each sequence, one after the
// other, each drawn from its own probabilities. The large one has then computed all of them in one step.
struct Speculation {
  int batch, drafted, vocabulary;  // drafted <= 16; vocabulary <= 131072
};

// The tokens come out as if the target model had written them alone (Leviathan et al., 2023). For a sequence with p_i,
// q_i, drafted tokens x_i and random numbers u_i:
//   accept x_i if u_i q_i(x_i) < p_i(x_i), for i = 0, 1, ..., up to the first that is not accepted
//   at a rejected x_i: draw a token from the residual r(t) = max(0, p_i(t) - q_i(t)) with the last random number u:
//     the first t with r(0) + ... + r(t) > u * (the sum of all r)
//     if rounding has left no r above 0, p_i and q_i are equal, and x_i stays as the last token
//   with all accepted: draw one more token from p_k, in the same way ("bonus")
//   target         (batch, drafted + 1, vocabulary): p_i, after the tokens drafted before; the last one after all
//   draft          (batch, drafted, vocabulary): q_i, with q_i(x_i) > 0
//   x              (batch, drafted)
//   uniform        (batch, drafted + 1), at least 0 and below 1; the last one is u
//   lengths        (batch): tokens in both caches before this round. The last token of the text is in neither: it was
//                  the first input of both models
//   tokens         (batch, drafted + 1): the accepted ones, one more, and -1 after these
//   target_length, draft_length  (batch): how many tokens of each cache remain valid. In this round the target's cache
//                  had drafted + 1 more tokens, the draft's `drafted`: its last one was never an input
void speculate(const float* target, const float* draft, const int* x, const float* uniform, const int* lengths,
               int* tokens, int* target_length, int* draft_length, const Speculation& shape, cudaStream_t stream);
