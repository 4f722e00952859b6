// Tensor parallelism with runtime/nn on real GPUs: forward and backward of a model's transformer blocks, each rank with its heads and its
// part of the MLP, four all-reduces a block. Prints a line of JSON; with --no-messages the same without the all-reduces (and so
// wrong): the difference is what they cost.
//
//   nvcc -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a -I runtime benchmarks/training/tensor.cu -lcublas -lnccl -o tensor
//   ./tensor [--ranks 1] [--model gpt-1.3b] [--batch 4] [--sequence 2048] [--steps 20] [--no-messages]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "nn/block.cuh"
#include "nn/config.hpp"
#include "ranks.hpp"

namespace {

using T = __nv_bfloat16;

struct Options {
  std::string model = "gpt-1.3b";
  int ranks = 1, batch = 4, sequence = 2048, steps = 20;
  bool messages = true;
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--no-messages") {
      o.messages = false;
      continue;
    }
    if (i + 1 == argc) throw std::invalid_argument("no value: " + name);
    const std::string value = argv[++i];
    if (name == "--model")
      o.model = value;
    else if (name == "--ranks")
      o.ranks = std::stoi(value);
    else if (name == "--batch")
      o.batch = std::stoi(value);
    else if (name == "--sequence")
      o.sequence = std::stoi(value);
    else if (name == "--steps")
      o.steps = std::stoi(value);
    else
      throw std::invalid_argument("unknown option " + name);
  }
  return o;
}

// A block's weights of type W (or gradients), one after the other, and how many elements.
template <class W>
nn::BlockTensors<W*> tensors(nn::Arena& arena, nn::Use use, const nn::BlockShape& s) {
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

struct Model {
  std::vector<nn::BlockTensors<T*>> weights;
  std::vector<nn::BlockTensors<float*>> gradients;
  std::vector<nn::BlockActivations<T>> activations;
  std::vector<T*> inputs;
  T* d;
  nn::Workspace<T> work;
  static Model take(nn::Arena& arena, const nn::BlockShape& s, int layers) {
    Model m{};
    const std::size_t rows = static_cast<std::size_t>(s.rows()) * static_cast<std::size_t>(s.C);
    for (int l = 0; l < layers; ++l) {
      m.weights.push_back(tensors<T>(arena, nn::Use::weights, s));
      m.gradients.push_back(tensors<float>(arena, nn::Use::gradients, s));
      m.activations.push_back(nn::BlockActivations<T>::take(arena, s));
    }
    for (int l = 0; l <= layers; ++l) m.inputs.push_back(arena.take<T>(nn::Use::activations, rows));
    m.d = arena.take<T>(nn::Use::workspace, rows);
    m.work = nn::Workspace<T>::take(arena, s);
    return m;
  }
};

nn::BlockWeights<T> constant(const nn::BlockTensors<T*>& t) {
  return {t.ln1_gamma, t.ln1_beta, t.qkv_w, t.qkv_b, t.proj_w, t.proj_b,
          t.ln2_gamma, t.ln2_beta, t.fc_w,  t.fc_b,  t.fc2_w,  t.fc2_b};
}

// to: (n) numbers between -scale and scale: zeros would need less power, and clocks would be higher.
__global__ void fill_kernel(T* to, std::size_t n, float scale, std::uint64_t seed) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const auto bits = static_cast<std::uint32_t>(nn::mix(seed + i) >> 40);
    to[i] = __float2bfloat16((static_cast<float>(bits) / (1 << 23) - 1) * scale);
  }
}

void measure(const Options& o, int rank, bench::Ranks& ranks) {
  using Clock = std::chrono::steady_clock;
  ncclComm_t comm = ranks.communicator(rank);
  cudaStream_t stream;
  nn::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  const nn::ModelConfig config = nn::model_config(o.model);
  const nn::BlockShape s = nn::block_shape(config, o.batch, o.sequence, o.ranks);
  nn::Arena plan;
  Model::take(plan, s, config.layers);
  nn::Arena arena(plan.used());
  Model m = Model::take(arena, s, config.layers);
  auto fill = [&](T* to, std::size_t n, float scale) {
    fill_kernel<<<1024, 256, 0, stream>>>(to, n, scale, reinterpret_cast<std::uintptr_t>(to));
    nn::check_launch("fill_kernel");
  };
  // All weights are one piece of the arena, from the first one on.
  fill(m.weights[0].ln1_gamma, plan.used()[nn::Use::weights] / sizeof(T), 0.03f);
  nn::Gemm gemm(stream);
  nn::Context<T> context{gemm, stream, m.work, {}};
  if (comm != nullptr && o.messages)
    context.sum_over_shards = [&](T* partial, std::size_t count) {
      bench::check(ncclAllReduce(partial, partial, count, ncclBfloat16, ncclSum, comm, stream), "ncclAllReduce");
    };
  const std::size_t rows = static_cast<std::size_t>(s.rows()) * static_cast<std::size_t>(s.C);
  std::vector<double> seconds;
  for (int step = -5; step < o.steps; ++step) {
    fill(m.inputs[0], rows, 1), fill(m.d, rows, 1e-3f);
    nn::check(cudaStreamSynchronize(stream), "inputs");
    ranks.barrier();
    const auto start = Clock::now();
    for (std::size_t l = 0; l < m.weights.size(); ++l)
      nn::block_forward(context, s, constant(m.weights[l]), m.inputs[l], m.activations[l], m.inputs[l + 1]);
    for (std::size_t l = m.weights.size(); l-- > 0;)
      nn::block_backward(context, s, constant(m.weights[l]), m.gradients[l], m.inputs[l], m.activations[l], m.d);
    nn::check(cudaStreamSynchronize(stream), "a step");
    if (step >= 0) seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  ranks.barrier();
  if (rank != 0) return;
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const double median = sorted[sorted.size() / 2];
  // 2 operations a weight and row forward, 4 backward; scores and their use: 4 B T^2 C forward, 8 backward.
  const double C = config.channels, N = s.rows(), L = config.layers;
  const double flop = L * (72 * N * C * C + 12 * N * o.sequence * C);
  cudaDeviceProp about{};
  nn::check(cudaGetDeviceProperties(&about, rank), "the GPU's name");
  std::printf(
      "{\"what\": \"tensor parallel blocks\", \"device\": \"%s\", \"model\": \"%s\", \"type\": \"bf16\", \"ranks\": "
      "%d, \"batch\": %d, \"sequence\": %d, \"messages\": %s, \"median_s\": %.6f, \"fastest_s\": %.6f, "
      "\"tflops_per_gpu\": %.1f, \"memory_bytes\": %zu, \"seconds\": [",
      about.name, o.model.c_str(), o.ranks, o.batch, o.sequence, o.messages ? "true" : "false", median, sorted.front(),
      flop / median / o.ranks / 1e12, plan.used().total());
  for (std::size_t i = 0; i < seconds.size(); ++i) std::printf("%s%.6f", i == 0 ? "" : ", ", seconds[i]);
  std::printf("]}\n");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options o = parse(argc, argv);
    bench::Ranks ranks(o.ranks);
    return ranks.run([&](int rank) { measure(o, rank, ranks); });
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tensor: %s\n", e.what());
    return 2;
  }
}
