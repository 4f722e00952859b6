// Lab 09, task `attention`: heads are divided among ranks, and the all-reduce of backward is hidden.
//
// Run: ./ridge check 09 --task attention
#include "tensor_parallel.hpp"

// TASK(attention)
void attention(const float* x, const float* dy, const AttentionTensors<const float*>& w, float* y, float* dx,
               const AttentionTensors<float*>& g, const AttentionSpace& s, const AttentionShape& shape,
               const Group& group) {
  const auto [B, T, C, H, hs] = shape;
  const int N = B * T, D = H * hs;
  // TODO: forward as in `mlp`, with nn::attention_forward in place of GELU.
  nn::linear_forward(group.gemm, x, w.qkv_w, s.qkv, N, C, 3 * D);
  // TODO: backward, and the all-reduce of dx beside the gradients of weights.
}
// END(attention)
