// The plain way: cuBLAS and NCCL one after the other in one stream.
#include <cstdio>
#include <cstdlib>

#include "tensor_parallel.hpp"

namespace {

constexpr int kBlock = 256;

void all_reduce(float* x, std::size_t count, ncclRedOp_t op, const Group& group) {
  ncclAllReduce(x, x, count, ncclFloat, op, group.comm, group.stream);
}

// logits: (N, Vs); top: (N). A block a row.
__global__ void top_kernel(const float* logits, float* top, int Vs, int valid) {
  __shared__ float of_warp[32];
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * Vs;
  float m = -INFINITY;
  for (int v = static_cast<int>(threadIdx.x); v < valid; v += static_cast<int>(blockDim.x))
    m = fmaxf(m, logits[row + v]);
  m = nn::block_max(m, of_warp);
  if (threadIdx.x == 0) top[blockIdx.x] = m;
}

// top, sum, of_target: (N). A block a row.
__global__ void sum_kernel(const float* logits, const int* targets, const float* top, float* sum, float* of_target,
                           int Vs, int valid, int first) {
  __shared__ float of_warp[32];
  const int n = static_cast<int>(blockIdx.x), own = targets[n] - first;
  const float* row = logits + static_cast<std::size_t>(n) * Vs;
  float s = 0;
  for (int v = static_cast<int>(threadIdx.x); v < valid; v += static_cast<int>(blockDim.x)) s += expf(row[v] - top[n]);
  s = nn::block_sum(s, of_warp);
  if (threadIdx.x == 0) sum[n] = s, of_target[n] = own >= 0 && own < valid ? row[own] : 0.0f;
}

// losses: (N); dlogits: (N, Vs). A block a row.
__global__ void gradient_kernel(const float* logits, const int* targets, const float* top, const float* sum,
                                const float* of_target, float* losses, float* dlogits, int N, int Vs, int valid,
                                int first) {
  const int n = static_cast<int>(blockIdx.x), own = targets[n] - first;
  const std::size_t row = static_cast<std::size_t>(n) * Vs;
  if (threadIdx.x == 0) losses[n] = logf(sum[n]) + (top[n] - of_target[n]);
  for (int v = static_cast<int>(threadIdx.x); v < Vs; v += static_cast<int>(blockDim.x)) {
    const float p = v < valid ? expf(logits[row + v] - top[n]) / sum[n] : 0.0f;
    dlogits[row + v] = (p - (v == own ? 1.0f : 0.0f)) / static_cast<float>(N);
  }
}

}  // namespace

void shard(const float* qkv, const float* fc2, float* qkv_shard, float* fc2_shard, int H, int hs, int C, int F,
           const Group& group) {
  const std::size_t rows = static_cast<std::size_t>(H / group.size) * hs, whole = static_cast<std::size_t>(H) * hs;
  for (std::size_t part = 0; part < 3; ++part)
    cudaMemcpyAsync(qkv_shard + part * rows * C, qkv + (part * whole + group.rank * rows) * C, rows * C * sizeof(float),
                    cudaMemcpyDeviceToDevice, group.stream);
  const std::size_t own = static_cast<std::size_t>(F / group.size) * sizeof(float);
  cudaMemcpy2DAsync(fc2_shard, own, fc2 + group.rank * (F / group.size), F * sizeof(float), own, C,
                    cudaMemcpyDeviceToDevice, group.stream);
}

void mlp(const float* x, const float* dy, const MlpTensors<const float*>& w, float* y, float* dx,
         const MlpTensors<float*>& g, const MlpSpace& s, int N, int C, int F, const Group& group) {
  const std::size_t count = static_cast<std::size_t>(N) * C;
  nn::linear_forward(group.gemm, x, w.A, s.pre, N, C, F);
  nn::bias_gelu(s.pre, w.a, s.act, N, F, group.stream);
  nn::linear_forward(group.gemm, s.act, w.B, y, N, F, C);
  all_reduce(y, count, ncclSum, group);
  nn::add_bias(y, w.b, N, C, group.stream);
  nn::bias_backward(dy, g.b, N, C, s.columns, group.stream);
  nn::linear_backward_weight(group.gemm, dy, s.act, g.B, N, F, C);
  nn::linear_backward_input(group.gemm, dy, w.B, s.d, N, F, C);
  nn::gelu_backward(s.pre, s.d, N, F, group.stream);
  nn::bias_backward(s.d, g.a, N, F, s.columns, group.stream);
  nn::linear_backward_weight(group.gemm, s.d, x, g.A, N, C, F);
  nn::linear_backward_input(group.gemm, s.d, w.A, dx, N, C, F);
  all_reduce(dx, count, ncclSum, group);
}

void attention(const float* x, const float* dy, const AttentionTensors<const float*>& w, float* y, float* dx,
               const AttentionTensors<float*>& g, const AttentionSpace& s, const AttentionShape& shape,
               const Group& group) {
  const auto [B, T, C, H, hs] = shape;
  const int N = B * T, D = H * hs;
  const std::size_t count = static_cast<std::size_t>(N) * C;
  nn::linear_forward(group.gemm, x, w.qkv_w, s.qkv, N, C, 3 * D);
  nn::add_bias(s.qkv, w.qkv_b, N, 3 * D, group.stream);
  nn::attention_forward(group.gemm, s.qkv, s.P, s.o, B, T, H, hs, group.stream);
  nn::linear_forward(group.gemm, s.o, w.proj_w, y, N, D, C);
  all_reduce(y, count, ncclSum, group);
  nn::add_bias(y, w.proj_b, N, C, group.stream);
  nn::bias_backward(dy, g.proj_b, N, C, s.columns, group.stream);
  nn::linear_backward_weight(group.gemm, dy, s.o, g.proj_w, N, D, C);
  nn::linear_backward_input(group.gemm, dy, w.proj_w, s.d_o, N, D, C);
  nn::attention_backward(group.gemm, s.d_o, s.qkv, s.P, s.d_qkv, s.scores, B, T, H, hs, group.stream);
  nn::bias_backward(s.d_qkv, g.qkv_b, N, 3 * D, s.columns, group.stream);
  nn::linear_backward_weight(group.gemm, s.d_qkv, x, g.qkv_w, N, C, 3 * D);
  nn::linear_backward_input(group.gemm, s.d_qkv, w.qkv_w, dx, N, C, 3 * D);
  all_reduce(dx, count, ncclSum, group);
}

void cross_entropy(const float* logits, const int* targets, float* losses, float* dlogits, float* space, int N, int Vs,
                   int V, const Group& group) {
  const int first = group.rank * Vs, valid = V <= first ? 0 : V - first < Vs ? V - first : Vs;
  float *top = space, *sum = space + N, *of_target = space + 2 * N;
  top_kernel<<<N, kBlock, 0, group.stream>>>(logits, top, Vs, valid);
  all_reduce(top, N, ncclMax, group);
  sum_kernel<<<N, kBlock, 0, group.stream>>>(logits, targets, top, sum, of_target, Vs, valid, first);
  all_reduce(sum, N, ncclSum, group);
  all_reduce(of_target, N, ncclSum, group);
  gradient_kernel<<<N, kBlock, 0, group.stream>>>(logits, targets, top, sum, of_target, losses, dlogits, N, Vs, valid,
                                                  first);
}

void sequence_parallel(const float*, const float*, const SequenceTensors<const float*>&, float*, float*,
                       const SequenceTensors<float*>&, const SequenceSpace&, int, int, int, const Group&) {
  std::fprintf(stderr, "sequence_parallel has no baseline: it is not timed\n");
  std::exit(1);
}

void overlap(const float* x, const MlpTensors<const float*>& w, float* y, const OverlapSpace& s, int N, int C, int F,
             int, const Group& group) {
  const std::size_t own = static_cast<std::size_t>(N / group.size) * C;
  ncclAllGather(x, s.gathered, own, ncclFloat, group.comm, group.stream);
  nn::linear_forward(group.gemm, s.gathered, w.A, s.pre, N, C, F);
  nn::bias_gelu(s.pre, w.a, s.act, N, F, group.stream);
  nn::linear_forward(group.gemm, s.act, w.B, s.partial, N, F, C);
  ncclReduceScatter(s.partial, y, own, ncclFloat, ncclSum, group.comm, group.stream);
  nn::add_bias(y, w.b, N / group.size, C, group.stream);
}
