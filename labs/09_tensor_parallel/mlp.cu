// Lab 09, task `mlp`: a column-parallel layer, then a row-parallel one, forward and backward.
//
// The hidden layer is cut: no rank ever has all of it, and none needs it. Run: ./ridge check 09 --task mlp
#include "tensor_parallel.hpp"

// TASK(mlp)
void mlp(const float* x, const float* dy, const MlpTensors<const float*>& w, float* y, float* dx,
         const MlpTensors<float*>& g, const MlpSpace& s, int N, int C, int F, const Group& group) {
  const cudaStream_t stream = group.stream;
  // TODO: this is forward on one GPU, with all of the layer. What is missing where F is a rank's share of it?
  nn::linear_forward(group.gemm, x, w.A, s.pre, N, C, F);
  nn::bias_gelu(s.pre, w.a, s.act, N, F, stream);
  nn::linear_forward(group.gemm, s.act, w.B, y, N, F, C);
  nn::add_bias(y, w.b, N, C, stream);

  // TODO: backward, into dx and g. The first of its steps, with the scratch that it needs:
  nn::bias_backward(dy, g.b, N, C, s.columns, stream);
}
// END(mlp)
