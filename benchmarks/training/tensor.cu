// Tensor parallelism with runtime/nn on real GPUs: forward and backward of a model's transformer blocks, each rank with its heads and its
// part of the MLP, four all-reduces a block. Prints a line of JSON; with --no-messages the same without the all-reduces (and so
// wrong): the difference is what they cost.
//
//   nvcc -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a -I runtime benchmarks/training/tensor.cu -lcublas -lnccl -o tensor
//   ./tensor [--ranks 1] [--model gpt-1.3b] [--batch 4] [--sequence 2048] [--steps 20] [--fused] [--no-messages]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "blocks.cuh"
#include "nn/config.hpp"
#include "ranks.hpp"

namespace {

using bench::T;

struct Options {
  std::string model = "gpt-1.3b";
  int ranks = 1, batch = 4, sequence = 2048, steps = 20;
  bool messages = true, fused = false;
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--no-messages") {
      o.messages = false;
      continue;
    }
    if (name == "--fused") {
      o.fused = true;
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

struct Model {
  bench::Blocks blocks;
  std::vector<nn::BlockActivations<T>> activations;
  std::vector<T*> inputs;
  T* d;
  nn::Workspace<T> work;
  static Model take(nn::Arena& arena, const nn::BlockShape& s, int layers) {
    Model m{};
    const std::size_t rows = static_cast<std::size_t>(s.rows()) * static_cast<std::size_t>(s.C);
    m.blocks = bench::Blocks::take(arena, s, layers);
    for (int l = 0; l < layers; ++l) m.activations.push_back(nn::BlockActivations<T>::take(arena, s));
    for (int l = 0; l <= layers; ++l) m.inputs.push_back(arena.take<T>(nn::Use::activations, rows));
    m.d = arena.take<T>(nn::Use::workspace, rows);
    m.work = nn::Workspace<T>::take(arena, s);
    return m;
  }
};

void measure(const Options& o, int rank, bench::Ranks& ranks) {
  using Clock = std::chrono::steady_clock;
  ncclComm_t comm = ranks.communicator(rank);
  cudaStream_t stream;
  nn::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  const nn::ModelConfig config = nn::model_config(o.model);
  const nn::BlockShape s = nn::block_shape(config, o.batch, o.sequence, o.ranks, o.fused);
  nn::Arena plan;
  Model::take(plan, s, config.layers);
  nn::Arena arena(plan.used());
  Model m = Model::take(arena, s, config.layers);
  m.blocks.fill(stream);
  nn::Gemm gemm(stream);
  nn::Context<T> context{gemm, stream, m.work, {}};
  if (comm != nullptr && o.messages)
    context.sum_over_shards = [&](T* partial, std::size_t count) {
      bench::check(ncclAllReduce(partial, partial, count, ncclBfloat16, ncclSum, comm, stream), "ncclAllReduce");
    };
  const std::size_t rows = static_cast<std::size_t>(s.rows()) * static_cast<std::size_t>(s.C);
  std::vector<double> seconds;
  for (int step = -5; step < o.steps; ++step) {
    bench::fill(m.inputs[0], rows, 1, stream), bench::fill(m.d, rows, 1e-3f, stream);
    nn::check(cudaStreamSynchronize(stream), "inputs");
    ranks.barrier();
    const auto start = Clock::now();
    for (std::size_t l = 0; l < m.activations.size(); ++l)
      nn::block_forward(context, s, m.blocks.weights(l), m.inputs[l], m.activations[l], m.inputs[l + 1]);
    for (std::size_t l = m.activations.size(); l-- > 0;)
      nn::block_backward(context, s, m.blocks.weights(l), m.blocks.gradients[l], m.inputs[l], m.activations[l], m.d);
    nn::check(cudaStreamSynchronize(stream), "a step");
    if (step >= 0) seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  ranks.barrier();
  if (rank != 0) return;
  const double median = bench::median(seconds);
  // 2 operations a weight and row forward, 4 backward; scores and their use: 4 B T^2 C forward, 8 backward.
  const double C = config.channels, N = s.rows(), L = config.layers;
  const double flop = L * (72 * N * C * C + 12 * N * o.sequence * C);
  cudaDeviceProp about{};
  nn::check(cudaGetDeviceProperties(&about, rank), "the GPU's name");
  std::printf(
      "{\"what\": \"tensor parallel blocks\", \"device\": \"%s\", \"model\": \"%s\", \"type\": \"bf16\", \"ranks\": "
      "%d, \"batch\": %d, \"sequence\": %d, \"fused\": %s, \"messages\": %s, \"median_s\": %.6f, \"fastest_s\": %.6f, "
      "\"tflops_per_gpu\": %.1f, \"memory_bytes\": %zu",
      about.name, o.model.c_str(), o.ranks, o.batch, o.sequence, o.fused ? "true" : "false",
      o.messages ? "true" : "false", median, *std::min_element(seconds.begin(), seconds.end()),
      flop / median / o.ranks / 1e12, plan.used().total());
  bench::print("seconds", seconds);
  std::printf("}\n");
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
