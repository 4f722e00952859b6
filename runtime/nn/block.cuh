// One transformer block, forward and backward, as functions of explicit weights and activations: whole models call them
// in turn, a pipeline stage calls its own, and a tensor-parallel rank calls them with its shard's shape and weights.
//
//   a   = x + proj(attention(layernorm1(x)))
//   out = a + fc2(gelu(fc(layernorm2(a))))
#pragma once
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>

#include "nn/attention.cuh"
#include "nn/elementwise.cuh"
#include "nn/fused_attention_backward.cuh"
#include "nn/gemm.hpp"
#include "nn/layernorm.cuh"
#include "nn/memory.hpp"
#include "nn/parameters.cuh"

namespace nn {

// With t tensor-parallel ranks, heads and hidden are a t-th of the model's.
struct BlockShape {
  int B, T, C, heads, head_size, hidden;
  bool fused = false;  // fused_attention.cuh, with 16-bit activations
  int rows() const { return B * T; }
  int width() const { return heads * head_size; }  // A: C where the block is whole
};

inline BlockShape block_shape(const ModelConfig& m, int B, int T, int shards = 1, bool fused = false) {
  if (fused && !fused_attention_has(m.head_size()))
    throw std::invalid_argument("nn: fused attention has heads of 16, 32, 64 or 128 channels, not of " +
                                std::to_string(m.head_size()));
  if (shards < 1 || m.heads % shards != 0)
    throw std::invalid_argument("nn: " + std::to_string(m.heads) + " heads cannot be shared by " +
                                std::to_string(shards) + " ranks; take a divisor");
  return {B, T, m.channels, m.heads / shards, m.head_size(), m.hidden() / shards, fused};
}

// Activations that backward needs. A block's input is the caller's: it is the output of the block before.
template <class T>
struct BlockActivations {
  T *ln1, *qkv, *P, *o, *mid, *ln2, *fc, *gelu;
  float *ln1_mean, *ln1_rstd, *ln2_mean, *ln2_rstd;
  float* logs;  // replaces P where attention is fused

  static BlockActivations take(Arena& arena, const BlockShape& s) {
    const std::size_t N = static_cast<std::size_t>(s.rows()), C = s.C, A = s.width(), F = s.hidden;
    auto t = [&](std::size_t n) { return arena.take<T>(Use::activations, n); };
    auto f = [&] { return arena.take<float>(Use::activations, N); };
    BlockActivations a{};
    a.ln1 = t(N * C);
    a.qkv = t(N * 3 * A);
    if (s.fused)
      a.logs = arena.take<float>(Use::activations, N * static_cast<std::size_t>(s.heads));  // (B, H, T)
    else
      a.P = t(N * static_cast<std::size_t>(s.heads) * static_cast<std::size_t>(s.T));  // (B, H, T, T)
    a.o = t(N * A);
    a.mid = t(N * C);
    a.ln2 = t(N * C);
    a.fc = t(N * F);    // before GELU
    a.gelu = t(N * F);  // after it
    a.ln1_mean = f(), a.ln1_rstd = f(), a.ln2_mean = f(), a.ln2_rstd = f();
    return a;
  }
};

// Scratch memory of forward and backward: one for all blocks.
template <class T>
struct Workspace {
  T *wide, *qkv, *norm, *scores;  // gradients: (N, F or A), (N, 3 A), (N, C), (H, T, T) of one sequence
  float* columns;                 // scratch of column_sums for the widest matrix
  float* delta;                   // (B, H, T), in place of scores where attention is fused

  static Workspace take(Arena& arena, const BlockShape& s) {
    const std::size_t N = static_cast<std::size_t>(s.rows()), C = s.C, A = s.width(), F = s.hidden;
    auto t = [&](std::size_t n) { return arena.take<T>(Use::workspace, n); };
    Workspace w{};
    w.wide = t(N * std::max(F, A));
    w.qkv = t(N * 3 * A);
    w.norm = t(N * C);
    if (s.fused)
      w.delta = arena.take<float>(Use::workspace, N * static_cast<std::size_t>(s.heads));
    else
      w.scores = t(static_cast<std::size_t>(s.heads) * s.T * s.T);
    w.columns = arena.take<float>(Use::workspace, column_scratch(static_cast<int>(std::max({F, 3 * A, C}))));
    return w;
  }
};

template <class T>
struct Context {
  const Gemm& gemm;
  cudaStream_t stream;
  Workspace<T> work;
  // Tensor parallelism: sums a (B T, C) tensor, `count` elements, over the ranks that share this block, in place and in
  // the order of the stream. Called where a row-parallel product ends (forward) and where a column-parallel one began
  // (backward).
  std::function<void(T* partial, std::size_t count)> sum_over_shards;

  void sum(T* partial, const BlockShape& s) const {
    if (sum_over_shards) sum_over_shards(partial, static_cast<std::size_t>(s.rows()) * s.C);
  }
};

// x, mid: (B, T, C); mid = x + proj(attention(layernorm1(x))).
template <class T>
void attention_branch_forward(const Context<T>& ctx, const BlockShape& s, const BlockWeights<T>& w, const T* x,
                              const BlockActivations<T>& a) {
  const int N = s.rows(), A = s.width();
  layernorm_forward(x, w.ln1_gamma, w.ln1_beta, a.ln1, a.ln1_mean, a.ln1_rstd, N, s.C, ctx.stream);
  linear_forward(ctx.gemm, a.ln1, w.qkv_w, a.qkv, N, s.C, 3 * A);
  add_bias(a.qkv, w.qkv_b, N, 3 * A, ctx.stream);
  if constexpr (sizeof(T) == 2) {
    if (s.fused) fused_attention_forward(a.qkv, a.o, a.logs, s.B, s.T, s.heads, s.head_size, ctx.stream);
  }
  if (!s.fused) attention_forward(ctx.gemm, a.qkv, a.P, a.o, s.B, s.T, s.heads, s.head_size, ctx.stream);
  linear_forward(ctx.gemm, a.o, w.proj_w, a.mid, N, A, s.C);
  ctx.sum(a.mid, s);
  bias_residual(x, a.mid, w.proj_b, a.mid, N, s.C, ctx.stream);
}

// out: (B, T, C) = mid + fc2(gelu(fc(layernorm2(mid)))).
template <class T>
void mlp_branch_forward(const Context<T>& ctx, const BlockShape& s, const BlockWeights<T>& w,
                        const BlockActivations<T>& a, T* out) {
  const int N = s.rows();
  layernorm_forward(a.mid, w.ln2_gamma, w.ln2_beta, a.ln2, a.ln2_mean, a.ln2_rstd, N, s.C, ctx.stream);
  linear_forward(ctx.gemm, a.ln2, w.fc_w, a.fc, N, s.C, s.hidden);
  bias_gelu(a.fc, w.fc_b, a.gelu, N, s.hidden, ctx.stream);
  linear_forward(ctx.gemm, a.gelu, w.fc2_w, out, N, s.hidden, s.C);
  ctx.sum(out, s);
  bias_residual(a.mid, out, w.fc2_b, out, N, s.C, ctx.stream);
}

// x: (B, T, C), the block's input; out: (B, T, C).
template <class T>
void block_forward(const Context<T>& ctx, const BlockShape& s, const BlockWeights<T>& w, const T* x,
                   const BlockActivations<T>& a, T* out) {
  attention_branch_forward(ctx, s, w, x, a);
  mlp_branch_forward(ctx, s, w, a, out);
}

// d: (B, T, C), the gradient of out, becomes that of mid. Gradients of weights are added to g.
template <class T>
void mlp_branch_backward(const Context<T>& ctx, const BlockShape& s, const BlockWeights<T>& w, const BlockGradients& g,
                         const BlockActivations<T>& a, T* d) {
  const int N = s.rows();
  const Workspace<T>& k = ctx.work;
  bias_backward(d, g.fc2_b, N, s.C, k.columns, ctx.stream);
  linear_backward_weight(ctx.gemm, d, a.gelu, g.fc2_w, N, s.hidden, s.C);
  linear_backward_input(ctx.gemm, d, w.fc2_w, k.wide, N, s.hidden, s.C);
  gelu_backward(a.fc, k.wide, N, s.hidden, ctx.stream);
  bias_backward(k.wide, g.fc_b, N, s.hidden, k.columns, ctx.stream);
  linear_backward_weight(ctx.gemm, k.wide, a.ln2, g.fc_w, N, s.C, s.hidden);
  linear_backward_input(ctx.gemm, k.wide, w.fc_w, k.norm, N, s.C, s.hidden);
  ctx.sum(k.norm, s);
  layernorm_backward(k.norm, a.mid, w.ln2_gamma, a.ln2_mean, a.ln2_rstd, d, d, g.ln2_gamma, g.ln2_beta, N, s.C,
                     k.columns, ctx.stream);
}

// d: (B, T, C), the gradient of mid, becomes that of x.
template <class T>
void attention_branch_backward(const Context<T>& ctx, const BlockShape& s, const BlockWeights<T>& w,
                               const BlockGradients& g, const T* x, const BlockActivations<T>& a, T* d) {
  const int N = s.rows(), A = s.width();
  const Workspace<T>& k = ctx.work;
  bias_backward(d, g.proj_b, N, s.C, k.columns, ctx.stream);
  linear_backward_weight(ctx.gemm, d, a.o, g.proj_w, N, A, s.C);
  linear_backward_input(ctx.gemm, d, w.proj_w, k.wide, N, A, s.C);
  if constexpr (sizeof(T) == 2) {
    if (s.fused)
      fused_attention_backward(k.wide, a.qkv, a.o, a.logs, k.qkv, k.delta, s.B, s.T, s.heads, s.head_size, ctx.stream);
  }
  if (!s.fused)
    attention_backward(ctx.gemm, k.wide, a.qkv, a.P, k.qkv, k.scores, s.B, s.T, s.heads, s.head_size, ctx.stream);
  bias_backward(k.qkv, g.qkv_b, N, 3 * A, k.columns, ctx.stream);
  linear_backward_weight(ctx.gemm, k.qkv, a.ln1, g.qkv_w, N, s.C, 3 * A);
  linear_backward_input(ctx.gemm, k.qkv, w.qkv_w, k.norm, N, s.C, 3 * A);
  ctx.sum(k.norm, s);
  layernorm_backward(k.norm, x, w.ln1_gamma, a.ln1_mean, a.ln1_rstd, d, d, g.ln1_gamma, g.ln1_beta, N, s.C, k.columns,
                     ctx.stream);
}

// x: (B, T, C), the block's input; d: (B, T, C), the gradient of its output, becomes that of its input. A residual is
// why d can stay in one buffer: what comes past a branch and what comes through it are added.
template <class T>
void block_backward(const Context<T>& ctx, const BlockShape& s, const BlockWeights<T>& w, const BlockGradients& g,
                    const T* x, const BlockActivations<T>& a, T* d) {
  mlp_branch_backward(ctx, s, w, g, a, d);
  attention_branch_backward(ctx, s, w, g, x, a, d);
}

}  // namespace nn
