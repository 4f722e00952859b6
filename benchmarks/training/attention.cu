// Causal attention alone, bf16, forward and backward: fused (runtime/nn) and as products and a softmax. One line of JSON for each shape;
// torch_attention.py prints the same for PyTorch's scaled_dot_product_attention.
//
//   nvcc -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a -I runtime benchmarks/training/attention.cu -lcublas -o attention
//   ./attention
#include <algorithm>
#include <cstdio>
#include <vector>

#include "blocks.cuh"

namespace {

using bench::T;

// Seconds of a call: the median of 9 turns of `calls`.
template <class Work>
double seconds(cudaStream_t stream, Work&& work, int calls = 10) {
  cudaEvent_t from, to;
  nn::check(cudaEventCreate(&from), "an event");
  nn::check(cudaEventCreate(&to), "an event");
  work();
  std::vector<double> all;
  for (int turn = 0; turn < 9; ++turn) {
    nn::check(cudaEventRecord(from, stream), "recording");
    for (int i = 0; i < calls; ++i) work();
    nn::check(cudaEventRecord(to, stream), "recording");
    nn::check(cudaEventSynchronize(to), "waiting");
    float ms = 0;
    nn::check(cudaEventElapsedTime(&ms, from, to), "a time");
    all.push_back(static_cast<double>(ms) * 1e-3 / calls);
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

void measure(int B, int sequence, int H, int hs) {
  cudaStream_t stream;
  nn::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  const nn::Gemm gemm(stream);
  const std::size_t n = static_cast<std::size_t>(B) * sequence * H * hs,
                    rows = static_cast<std::size_t>(B) * H * sequence;
  T *qkv, *o, *d_o, *dqkv, *P, *scratch;
  float *logs, *delta;
  for (T** p : {&o, &d_o}) nn::check(cudaMalloc(p, n * sizeof(T)), "memory");
  for (T** p : {&qkv, &dqkv}) nn::check(cudaMalloc(p, 3 * n * sizeof(T)), "memory");
  for (float** p : {&logs, &delta}) nn::check(cudaMalloc(p, rows * sizeof(float)), "memory");
  nn::check(cudaMalloc(&P, rows * sequence * sizeof(T)), "memory");
  nn::check(cudaMalloc(&scratch, static_cast<std::size_t>(H) * sequence * sequence * sizeof(T)), "memory");
  bench::fill(qkv, 3 * n, 1, stream);
  bench::fill(d_o, n, 1, stream);
  const double fused = seconds(stream, [&] { nn::fused_attention_forward(qkv, o, logs, B, sequence, H, hs, stream); });
  const double fused_back = seconds(
      stream, [&] { nn::fused_attention_backward(d_o, qkv, o, logs, dqkv, delta, B, sequence, H, hs, stream); });
  const double plain = seconds(
      stream, [&] { nn::attention_forward(gemm, qkv, P, o, B, sequence, H, hs, stream); }, 3);
  const double plain_back = seconds(
      stream, [&] { nn::attention_backward(gemm, d_o, qkv, P, dqkv, scratch, B, sequence, H, hs, stream); }, 3);
  // Of what is seen: two products forward, five backward, half of each.
  const double product = static_cast<double>(rows) * sequence * hs;
  std::printf(
      "{\"engine\": \"ridge\", \"batch\": %d, \"sequence\": %d, \"heads\": %d, \"head_size\": %d, \"forward_us\": "
      "%.1f, "
      "\"forward_tflops\": %.1f, \"backward_us\": %.1f, \"backward_tflops\": %.1f, \"unfused_forward_us\": %.1f, "
      "\"unfused_backward_us\": %.1f}\n",
      B, sequence, H, hs, fused * 1e6, 2 * product / fused * 1e-12, fused_back * 1e6, 5 * product / fused_back * 1e-12,
      plain * 1e6, plain_back * 1e6);
  for (void* p :
       {static_cast<void*>(qkv), static_cast<void*>(o), static_cast<void*>(d_o), static_cast<void*>(dqkv),
        static_cast<void*>(P), static_cast<void*>(scratch), static_cast<void*>(logs), static_cast<void*>(delta)})
    cudaFree(p);
  cudaStreamDestroy(stream);
}

}  // namespace

int main() {
  try {
    measure(32, 1024, 12, 64);  // GPT-2 124M
    measure(8, 1024, 12, 64);
    measure(8, 1024, 16, 128);  // 1.3B
    measure(4, 2048, 16, 128);
    measure(1, 8192, 16, 128);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "attention: %s\n", e.what());
    return 1;
  }
}
