// Transformer blocks of runtime/nn with weights of their own, of random numbers: what tensor.cu and pipeline.cu run. Zeros would need
// less power, and clocks would be higher.
#pragma once
#include <cstdint>
#include <vector>

#include "nn/block.cuh"

namespace bench {

using T = __nv_bfloat16;

// to: (n) numbers between -scale and scale.
static __global__ void fill_kernel(T* to, std::size_t n, float scale, std::uint64_t seed) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const auto bits = static_cast<std::uint32_t>(nn::mix(seed + i) >> 40);
    to[i] = __float2bfloat16((static_cast<float>(bits) / (1 << 23) - 1) * scale);
  }
}
inline void fill(T* to, std::size_t n, float scale, cudaStream_t stream) {
  fill_kernel<<<1024, 256, 0, stream>>>(to, n, scale, reinterpret_cast<std::uintptr_t>(to));
  nn::check_launch("fill_kernel");
}

struct Blocks {
  std::vector<nn::BlockTensors<T*>> tensors;
  std::vector<nn::BlockGradients> gradients;
  std::size_t weight_count = 0, gradient_count = 0;  // elements, padding included

  static Blocks take(nn::Arena& arena, const nn::BlockShape& s, int count) {
    Blocks b;
    const std::size_t weights = arena.used()[nn::Use::weights], gradients = arena.used()[nn::Use::gradients];
    for (int i = 0; i < count; ++i) {
      b.tensors.push_back(of<T>(arena, nn::Use::weights, s));
      b.gradients.push_back(of<float>(arena, nn::Use::gradients, s));
    }
    b.weight_count = (arena.used()[nn::Use::weights] - weights) / sizeof(T);
    b.gradient_count = (arena.used()[nn::Use::gradients] - gradients) / sizeof(float);
    return b;
  }
  nn::BlockWeights<T> weights(std::size_t i) const {
    const nn::BlockTensors<T*>& t = tensors[i];
    return {t.ln1_gamma, t.ln1_beta, t.qkv_w, t.qkv_b, t.proj_w, t.proj_b,
            t.ln2_gamma, t.ln2_beta, t.fc_w,  t.fc_b,  t.fc2_w,  t.fc2_b};
  }
  // An arena gives what is for one use as one piece.
  void fill(cudaStream_t stream) const { bench::fill(tensors[0].ln1_gamma, weight_count, 0.03f, stream); }
  void clear_gradients(cudaStream_t stream) const {
    nn::check(cudaMemsetAsync(gradients[0].ln1_gamma, 0, gradient_count * sizeof(float), stream), "clearing gradients");
  }

 private:
  template <class W>
  static nn::BlockTensors<W*> of(nn::Arena& arena, nn::Use use, const nn::BlockShape& s) {
    auto take = [&](int rows, int cols) {
      return arena.take<W>(use, static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
    };
    const int A = s.width();
    nn::BlockTensors<W*> t{};
    t.ln1_gamma = take(1, s.C), t.ln1_beta = take(1, s.C);
    t.qkv_w = take(3 * A, s.C), t.qkv_b = take(1, 3 * A);
    t.proj_w = take(s.C, A), t.proj_b = take(1, s.C);
    t.ln2_gamma = take(1, s.C), t.ln2_beta = take(1, s.C);
    t.fc_w = take(s.hidden, s.C), t.fc_b = take(1, s.hidden);
    t.fc2_w = take(s.C, s.hidden), t.fc2_b = take(1, s.C);
    return t;
  }
};

}  // namespace bench
