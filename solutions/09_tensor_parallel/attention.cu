// Lab 09, task `attention`: heads are divided among ranks, and the all-reduce of backward is hidden.
//
// Run: ./ridge check 09 --task attention
#include "tensor_parallel.hpp"

// TASK(attention)
namespace {

struct Side {
  cudaStream_t messages;
  cudaEvent_t ready, done;
  Side() {
    cudaStreamCreateWithFlags(&messages, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  }
};

}  // namespace

void attention(const float* x, const float* dy, const AttentionTensors<const float*>& w, float* y, float* dx,
               const AttentionTensors<float*>& g, const AttentionSpace& s, const AttentionShape& shape,
               const Group& group) {
  static const Side side;
  const auto [B, T, C, H, hs] = shape;
  const int N = B * T, D = H * hs;
  const std::size_t count = static_cast<std::size_t>(N) * C;
  const cudaStream_t stream = group.stream;

  // Column-parallel: all of q, k and v that this rank's heads need. A head needs no other.
  nn::linear_forward(group.gemm, x, w.qkv_w, s.qkv, N, C, 3 * D);
  nn::add_bias(s.qkv, w.qkv_b, N, 3 * D, stream);
  nn::attention_forward(group.gemm, s.qkv, s.P, s.o, B, T, H, hs, stream);
  // Row-parallel.
  nn::linear_forward(group.gemm, s.o, w.proj_w, y, N, D, C);
  ncclAllReduce(y, y, count, ncclFloat, ncclSum, group.comm, stream);
  nn::add_bias(y, w.proj_b, N, C, stream);

  nn::linear_backward_input(group.gemm, dy, w.proj_w, s.d_o, N, D, C);
  nn::attention_backward(group.gemm, s.d_o, s.qkv, s.P, s.d_qkv, s.scores, B, T, H, hs, stream);
  // First what others wait for. Nothing here waits for the sum, so the gradients of weights are made while it travels.
  nn::linear_backward_input(group.gemm, s.d_qkv, w.qkv_w, dx, N, C, 3 * D);
  cudaEventRecord(side.ready, stream);
  cudaStreamWaitEvent(side.messages, side.ready);
  ncclAllReduce(dx, dx, count, ncclFloat, ncclSum, group.comm, side.messages);
  cudaEventRecord(side.done, side.messages);

  nn::linear_backward_weight(group.gemm, s.d_qkv, x, g.qkv_w, N, C, 3 * D);
  nn::bias_backward(s.d_qkv, g.qkv_b, N, 3 * D, s.columns, stream);
  nn::linear_backward_weight(group.gemm, dy, s.o, g.proj_w, N, D, C);
  nn::bias_backward(dy, g.proj_b, N, C, s.columns, stream);
  cudaStreamWaitEvent(stream, side.done);
}
// END(attention)
