// Lab 09, task `sequence_parallel`: layer norm and MLP, with the rows divided wherever the channels are not.
//
// Run: ./ridge check 09 --task sequence_parallel
#include "tensor_parallel.hpp"

// TASK(sequence_parallel)
void sequence_parallel(const float* x, const float* dy, const SequenceTensors<const float*>& w, float* y, float* dx,
                       const SequenceTensors<float*>& g, const SequenceSpace& s, int N, int C, int F,
                       const Group& group) {
  const int n = N / group.size;
  const std::size_t own = static_cast<std::size_t>(n) * C;
  const cudaStream_t stream = group.stream;
  auto gather = [&](const float* rows) { ncclAllGather(rows, s.gathered, own, ncclFloat, group.comm, stream); };
  auto scatter_sum = [&](float* rows) {
    ncclReduceScatter(s.partial, rows, own, ncclFloat, ncclSum, group.comm, stream);
  };

  nn::layernorm_forward(x, w.gamma, w.beta, s.norm, s.mean, s.rstd, n, C, stream);
  gather(s.norm);
  nn::linear_forward(group.gemm, s.gathered, w.A, s.pre, N, C, F);
  nn::bias_gelu(s.pre, w.a, s.act, N, F, stream);
  nn::linear_forward(group.gemm, s.act, w.B, s.partial, N, F, C);
  scatter_sum(y);
  nn::add_bias(y, w.b, n, C, stream);

  nn::bias_backward(dy, g.b, n, C, s.columns, stream);  // of the own rows only
  gather(dy);
  nn::linear_backward_weight(group.gemm, s.gathered, s.act, g.B, N, F, C);
  nn::linear_backward_input(group.gemm, s.gathered, w.B, s.d, N, F, C);
  nn::gelu_backward(s.pre, s.d, N, F, stream);
  nn::bias_backward(s.d, g.a, N, F, s.columns, stream);
  nn::linear_backward_input(group.gemm, s.d, w.A, s.partial, N, C, F);
  scatter_sum(s.d_norm);
  gather(s.norm);  // was kept as rows, a t-th of it
  nn::linear_backward_weight(group.gemm, s.d, s.gathered, g.A, N, C, F);
  nn::layernorm_backward<float>(s.d_norm, x, w.gamma, s.mean, s.rstd, nullptr, dx, g.gamma, g.beta, n, C, s.columns,
                                stream);
  // These three are sums over rows, and each rank has seen its own.
  ncclAllReduce(g.gamma, g.gamma, 3 * static_cast<std::size_t>(C), ncclFloat, ncclSum, group.comm, stream);
}
// END(sequence_parallel)
