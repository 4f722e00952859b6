// replaces: mlp.cu; fails: mlp/traffic; backend: cpu
// The sum is made on rank 0 and sent out from there: no more bytes, but not shared out evenly.
#include "tensor_parallel.hpp"

void mlp(const float* x, const float* dy, const MlpTensors<const float*>& w, float* y, float* dx,
         const MlpTensors<float*>& g, const MlpSpace& s, int N, int C, int F, const Group& group) {
  const std::size_t count = static_cast<std::size_t>(N) * C;
  const cudaStream_t stream = group.stream;

  // Column-parallel: F of the t F hidden channels, complete. GELU takes each by itself.
  nn::linear_forward(group.gemm, x, w.A, s.pre, N, C, F);
  nn::bias_gelu(s.pre, w.a, s.act, N, F, stream);
  // Row-parallel: the product's inner dimension is cut, so each rank has one of t summands.
  nn::linear_forward(group.gemm, s.act, w.B, y, N, F, C);
  ncclReduce(y, y, count, ncclFloat, ncclSum, 0, group.comm, stream);
  ncclBroadcast(y, y, count, ncclFloat, 0, group.comm, stream);
  nn::add_bias(y, w.b, N, C, stream);  // to the sum, not to the summands

  nn::bias_backward(dy, g.b, N, C, s.columns, stream);  // alike on all ranks, as dy is
  nn::linear_backward_weight(group.gemm, dy, s.act, g.B, N, F, C);
  nn::linear_backward_input(group.gemm, dy, w.B, s.d, N, F, C);
  nn::gelu_backward(s.pre, s.d, N, F, stream);
  nn::bias_backward(s.d, g.a, N, F, s.columns, stream);
  nn::linear_backward_weight(group.gemm, s.d, x, g.A, N, C, F);
  // All ranks read x: its gradient is the sum of what comes back from each.
  nn::linear_backward_input(group.gemm, s.d, w.A, dx, N, C, F);
  ncclReduce(dx, dx, count, ncclFloat, ncclSum, 0, group.comm, stream);
  ncclBroadcast(dx, dx, count, ncclFloat, 0, group.comm, stream);
}
