// Contract of lab 12. Each task is one host function; you own the kernels behind it and how they are launched.
//
// Attention of one head, with scale = 1 / sqrt(head_dim):
//   s[i][j] = scale * sum over c of q[i][c] * k[j][c]        query i and key j
//   lse[i]  = log(sum over j of exp(s[i][j]))                 natural logarithm, "log-sum-exp"
//   o[i][c] = sum over j of exp(s[i][j] - lse[i]) * v[j][c]
// The sums run over the keys that query i sees. Where it sees none, o[i][c] = 0 and lse[i] = -infinity, the logarithm
// of an empty sum. Inputs are finite, except for masked scores of online_softmax, and exp(s[i][j]) need not fit into a
// float.
//
// All tensors are row-major, their last index the fastest. All pointers are device pointers from the judge, at least
// 256-byte aligned, other ones at each call. Work goes on `stream`; the judge waits for it. Only `backward` has a
// workspace: the others get workspace_bytes = 0. Sizes are at least 1; lengths are multiples of nothing.
#pragma once
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstddef>

// One query a row, with its scores given and one value for each of its keys:
//   lse[r] = log(sum over j of exp(scores[r][j]))    out[r] = sum over j of exp(scores[r][j] - lse[r]) * values[r][j]
//   scores, values  (rows, cols); a score may be -infinity: that key is masked
//   out, lse        (rows)
void online_softmax(const float* scores, const float* values, float* out, float* lse, int rows, int cols,
                    void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

// Attention in fp32 in which each query sees all keys.
//   q, k, v, o  (batch, heads, length, head_dim)
//   lse         (batch, heads, length)
//   head_dim    64 or 128
void forward(const float* q, const float* k, const float* v, float* o, float* lse, int batch, int heads, int length,
             int head_dim, void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

// The shape of the other tasks. heads is a multiple of kv_heads: head h of q reads head h / (heads / kv_heads) of k and
// v (grouped-query attention).
// causal: query i sees the keys j <= i + keys - queries. The last query sees all keys; with fewer queries than keys the
// queries are the last ones of the sequence, and with more the first queries see no key.
struct Attention {
  int batch, heads, kv_heads;
  int queries, keys;
  int head_dim;  // 64 or 128
  bool causal;
};

// The same in bf16 on tensor cores. Products and sums are kept in fp32; the factors exp(s - maximum) may be rounded to
// bf16, and o is rounded once, at the end.
//   q, o   (batch, heads, queries, head_dim)
//   k, v   (batch, kv_heads, keys, head_dim)
//   lse    (batch, heads, queries), fp32
void tensor(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* o, float* lse,
            const Attention& shape, void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

// Gradients of a loss, from d_o, its gradient with respect to o. With p[i][j] = exp(s[i][j] - lse[i]):
//   delta[i]    = sum over c of d_o[i][c] * o[i][c]
//   ds[i][j]    = p[i][j] * (sum over c of d_o[i][c] * v[j][c] - delta[i])
//   dq[i][c]    = scale * sum over j of ds[i][j] * k[j][c]
//   dk[j][c]    = scale * sum over i of ds[i][j] * q[i][c]      i: the queries of all heads that read this head of k
//   dv[j][c]    = sum over i of p[i][j] * d_o[i][c]
// p and ds may be rounded to bf16 as factors. The same bits at each call, and for equal sequences of one call: no sum
// may depend on the order of the blocks. lse and o are inputs: of large cases they are not those of q, k and v.
//   q, o, d_o, dq  (batch, heads, queries, head_dim)
//   k, v, dk, dv   (batch, kv_heads, keys, head_dim)
//   lse            (batch, heads, queries), fp32
//   workspace      batch * heads * queries floats, for delta
void backward(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, const __nv_bfloat16* o,
              const float* lse, const __nv_bfloat16* d_o, __nv_bfloat16* dq, __nv_bfloat16* dk, __nv_bfloat16* dv,
              const Attention& shape, void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

// The same as `tensor`, with TMA and wgmma. Needs sm_90a, which the emulator has; skipped on other GPUs.
void hopper(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* o, float* lse,
            const Attention& shape, void* workspace, std::size_t workspace_bytes, cudaStream_t stream);
