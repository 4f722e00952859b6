// Contract of lab 09. Each task is one host function that all ranks of a tensor-parallel group call.
//
// All matrices are row-major floats on the device. A linear layer is y = x W^T + bias with W: (out, in), as in runtime/nn, whose
// products and kernels may be used: nn/gemm.hpp, nn/elementwise.cuh, nn/columns.cuh, nn/layernorm.cuh, nn/attention.cuh.
// Letters: t ranks; B sequences of T tokens, N = B T rows; C channels; H heads of hs channels; F width of the hidden layer; V
// vocabulary. "alike": equal on all ranks. What a task writes alike must have the same bits on all ranks.
//
// Gradients hold zeros at the call (nn's functions add to them). Everything else that is written is undefined at the call.
// Work must have ended, or be ordered before the end of `stream`, when a function returns. Streams, events and communicators may be made once
// and kept (function-local static). Collectives are NCCL's; every rank calls them in the same order. Helpers belong into an unnamed
// namespace: the files are linked together.
#pragma once
#include <cuda_runtime.h>
#include <nccl.h>

#include "nn/attention.cuh"
#include "nn/columns.cuh"
#include "nn/elementwise.cuh"
#include "nn/gemm.hpp"
#include "nn/layernorm.cuh"

// One rank of the t = `size` ones that share a layer; t may be 1.
struct Group {
  int rank, size;
  ncclComm_t comm;
  const nn::Gemm& gemm;  // its products go to `stream`
  cudaStream_t stream;
};

// Cuts a checkpoint's matrices into this rank's shards, with a kernel of your own; nothing is sent. H and F are multiples of t.
//   qkv        (3, H, hs, C), alike: the rows of all heads' q, then k, then v
//   fc2        (C, F), alike
//   qkv_shard  (3, H / t, hs, C): of each of q, k and v the rows of heads rank * H / t to (rank + 1) * H / t
//   fc2_shard  (C, F / t): columns rank * F / t to (rank + 1) * F / t
void shard(const float* qkv, const float* fc2, float* qkv_shard, float* fc2_shard, int H, int hs, int C, int F,
           const Group& group);

// The MLP of a transformer block, forward and backward: y = gelu(x A^T + a) B^T + b. F is the width of a rank's shard, the whole
// layer has t F. Exactly one all-reduce in each direction.
//   x, dy    (N, C), alike: the input, and the gradient of y
//   weights  A: (F, C), a: (F): rows of the whole A and a; B: (C, F): columns of the whole B; b: (C), alike
//   y, dx    (N, C), alike
//   g        gradients of the weights, of the same shapes; that of b alike
template <class P>
struct MlpTensors {
  P A, a, B, b;
};
struct MlpSpace {
  float *pre, *act, *d;  // (N, F): before GELU, after it, and a gradient
  float* columns;        // scratch of nn::bias_backward
};
void mlp(const float* x, const float* dy, const MlpTensors<const float*>& w, float* y, float* dx,
         const MlpTensors<float*>& g, const MlpSpace& space, int N, int C, int F, const Group& group);

// Causal self attention and its projection, forward and backward: y = attention(x Wqkv^T + bqkv) Wproj^T + bproj. H is the
// number of a rank's heads, the whole layer has t H; D = H hs. One all-reduce in each direction; the one of dx runs beside the
// gradients of weights, which do not wait for it.
//   x, dy    (B, T, C), alike
//   weights  qkv_w: (3, H, hs, C) and qkv_b: (3, H, hs), as `shard` cuts them; proj_w: (C, D): columns of the whole; proj_b: (C), alike
//   y, dx    (B, T, C), alike
//   g        gradients of the weights; that of proj_b alike
template <class P>
struct AttentionTensors {
  P qkv_w, qkv_b, proj_w, proj_b;
};
struct AttentionSpace {
  float *qkv, *d_qkv;  // (B, T, 3, H, hs)
  float* P;            // (B, H, T, T)
  float *o, *d_o;      // (B, T, H, hs)
  float* scores;       // scratch of nn::attention_backward: (H, T, T)
  float* columns;
};
struct AttentionShape {
  int B, T, C, H, hs;
};
void attention(const float* x, const float* dy, const AttentionTensors<const float*>& w, float* y, float* dx,
               const AttentionTensors<float*>& g, const AttentionSpace& space, const AttentionShape& shape,
               const Group& group);

// Cross entropy where each rank has some columns of the logits, with kernels of your own. Rank r has columns r Vs to (r + 1) Vs;
// t Vs >= V. Columns from V on are padding: they hold anything, take no part, and their gradient is 0. A rank may have padding only.
//   logits   (N, Vs): this rank's columns; finite where they are no padding, but exp of them need not be
//   targets  (N), alike: 0 to V - 1
//   losses   (N), alike: log(sum over v < V of exp(logits[n][v])) - logits[n][targets[n]]
//   dlogits  (N, Vs): this rank's columns of the gradient of the mean of the losses
//   space    (3 t + 6) N floats
void cross_entropy(const float* logits, const int* targets, float* losses, float* dlogits, float* space, int N, int Vs,
                   int V, const Group& group);

// Layer norm and MLP with sequence parallelism, forward and backward: y = gelu(layernorm(x) A^T + a) B^T + b. Outside of the two
// products a rank has its own rows only: N rows of the whole are rank by rank n = N / t rows (N is a multiple of t). F as in `mlp`.
// Forward has an all-gather and a reduce-scatter, backward two all-gathers, a reduce-scatter, and one small all-reduce.
//   x, dy    (n, C): this rank's rows
//   weights  gamma, beta, b: (C), alike; A: (F, C), a: (F), B: (C, F) as in `mlp`
//   y, dx    (n, C): this rank's rows
//   g        gradients of the weights, summed over all N rows; those of gamma, beta and b alike, and in this order one array of 3 C
template <class P>
struct SequenceTensors {
  P gamma, beta, b, A, a, B;
};
struct SequenceSpace {
  float *norm, *d_norm;  // (n, C)
  float *mean, *rstd;    // (n)
  float* gathered;       // (N, C), not kept for backward: the normed rows are gathered again there
  float *pre, *act, *d;  // (N, F)
  float* partial;        // (N, C): what a reduce-scatter reads
  float* columns;
};
void sequence_parallel(const float* x, const float* dy, const SequenceTensors<const float*>& w, float* y, float* dx,
                       const SequenceTensors<float*>& g, const SequenceSpace& space, int N, int C, int F,
                       const Group& group);

// Forward only, without the norm, and with the transfers hidden: y = gelu(x A^T + a) B^T + b. Each rank's n rows are cut into
// chunks of m = ceil(n / chunks) rows, the last of which may be short or missing; chunk c of all ranks is gathered, multiplied and
// scattered while others travel.
//   x, y     (n, C): this rank's rows
//   weights  as in `mlp`
//   chunks   1 to kMostChunks
constexpr int kMostChunks = 16;
struct OverlapSpace {
  float* gathered;   // (N, C)
  float *pre, *act;  // (N, F)
  float* partial;    // (N, C)
};
void overlap(const float* x, const MlpTensors<const float*>& w, float* y, const OverlapSpace& space, int N, int C,
             int F, int chunks, const Group& group);
