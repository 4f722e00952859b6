// The end of the model: final layer norm, LM head, loss. The last stage of a pipeline calls it.
#pragma once
#include "nn/block.cuh"
#include "nn/loss.cuh"

namespace nn {

struct HeadShape {
  int rows, C, V, Vp;  // rows: B T
};

inline HeadShape head_shape(const ModelConfig& m, int B, int T) {
  return {B * T, m.channels, m.vocabulary, m.padded_vocabulary()};
}

template <class P>
struct HeadTensors {
  P w;            // (Vp, C)
  P gamma, beta;  // (C), of the final layer norm
};

template <class T>
struct HeadActivations {
  T *norm, *logits;  // (B, T, C), (B, T, Vp)
  float *mean, *rstd, *losses;

  static HeadActivations take(Arena& arena, const HeadShape& s) {
    const auto N = static_cast<std::size_t>(s.rows);
    HeadActivations a{};
    a.norm = arena.take<T>(Use::activations, N * static_cast<std::size_t>(s.C));
    a.logits = arena.take<T>(Use::activations, N * static_cast<std::size_t>(s.Vp));
    a.mean = arena.take<float>(Use::activations, N);
    a.rstd = arena.take<float>(Use::activations, N);
    a.losses = arena.take<float>(Use::activations, N);
    return a;
  }
};

// x: (B, T, C), the last block's output; targets: (B, T). Adds scale * the loss of each token to *loss (on the device),
// and leaves gradient_scale * the loss's gradient in the logits; 0 leaves the logits themselves. loss_scale: one more
// factor of that gradient, on the device, or null.
template <class T>
void head_forward(const Context<T>& ctx, const HeadShape& s, const HeadTensors<const T*>& w, const T* x,
                  const HeadActivations<T>& a, const int* targets, float scale, float gradient_scale, float* loss,
                  const float* loss_scale = nullptr) {
  layernorm_forward(x, w.gamma, w.beta, a.norm, a.mean, a.rstd, s.rows, s.C, ctx.stream);
  linear_forward(ctx.gemm, a.norm, w.w, a.logits, s.rows, s.C, s.Vp);
  cross_entropy(a.logits, targets, a.losses, gradient_scale, s.rows, s.V, s.Vp, ctx.stream, loss_scale);
  add_sum(a.losses, s.rows, scale, loss, ctx.stream);
}

// After head_forward with a gradient_scale. dx: (B, T, C), the gradient of x. Gradients of weights are added to g.
template <class T>
void head_backward(const Context<T>& ctx, const HeadShape& s, const HeadTensors<const T*>& w,
                   const HeadTensors<float*>& g, const T* x, const HeadActivations<T>& a, T* dx) {
  const Workspace<T>& k = ctx.work;
  linear_backward_weight(ctx.gemm, a.logits, a.norm, g.w, s.rows, s.C, s.Vp);
  linear_backward_input(ctx.gemm, a.logits, w.w, k.norm, s.rows, s.C, s.Vp);
  layernorm_backward<T>(k.norm, x, w.gamma, a.mean, a.rstd, nullptr, dx, g.gamma, g.beta, s.rows, s.C, k.columns,
                        ctx.stream);
}

}  // namespace nn
