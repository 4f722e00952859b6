// The schedules of lab 08's solution on real GPUs: a model's transformer blocks in bf16, each rank with some of them, and m micro-batches.
// Prints a line of JSON: the time of a step, and the bubble, 1 - (the same rank's work alone) / that time, beside
// (p - 1) / (m + p - 1), or (p - 1) / (v m + p - 1) with v chunks a rank. Blocks only, no embedding and no head: stages are equal.
//
//   nvcc -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a -I runtime -I labs/08_pipeline benchmarks/training/pipeline.cu
//     solutions/08_pipeline/*.cu -lcublas -lnccl -o pipeline
//   ./pipeline [--ranks 2] [--schedule gpipe|one_f_one_b|interleaved] [--chunks 2] [--micro-batches 8] [--model gpt-1.3b]
//              [--layers 24] [--batch 1] [--sequence 2048] [--steps 15] [--message-blocks 2] [--leave 2] [--fused]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "blocks.cuh"
#include "nn/config.hpp"
#include "pipeline.hpp"
#include "ranks.hpp"

namespace {

using bench::T;

struct Options {
  std::string model = "gpt-1.3b", schedule = "one_f_one_b";
  int ranks = 2, chunks = 1, micro_batches = 8, layers = 24, batch = 1, sequence = 2048, steps = 15;
  int leave = 2;  // multiprocessors that products leave to messages
  bool fused = false;
  int message_blocks = 2;  // receives wait most of the time: with 16 of them a step took a sixth longer on two H200s
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--fused") {
      o.fused = true, --i;
      continue;
    }
    if (i + 1 == argc) throw std::invalid_argument("no value: " + name);
    const std::string value = argv[i + 1];
    if (name == "--model")
      o.model = value;
    else if (name == "--schedule")
      o.schedule = value;
    else if (name == "--ranks")
      o.ranks = std::stoi(value);
    else if (name == "--chunks")
      o.chunks = std::stoi(value);
    else if (name == "--micro-batches")
      o.micro_batches = std::stoi(value);
    else if (name == "--layers")
      o.layers = std::stoi(value);
    else if (name == "--batch")
      o.batch = std::stoi(value);
    else if (name == "--sequence")
      o.sequence = std::stoi(value);
    else if (name == "--message-blocks")
      o.message_blocks = std::stoi(value);
    else if (name == "--leave")
      o.leave = std::stoi(value);
    else if (name == "--steps")
      o.steps = std::stoi(value);
    else
      throw std::invalid_argument("unknown option " + name);
  }
  if (o.schedule != "interleaved") o.chunks = 1;
  if (o.layers % (o.ranks * o.chunks) != 0)
    throw std::invalid_argument("the layers must be a multiple of ranks x chunks: stages are equal");
  if (o.schedule == "interleaved" && (o.chunks < 2 || o.ranks < 2 || o.micro_batches % o.ranks != 0))
    throw std::invalid_argument("interleaved: 2 chunks and 2 ranks or more, micro-batches a multiple of the ranks");
  return o;
}

}  // namespace

struct Stage::Parts {
  int rank, ranks, micro_batches, chunks, blocks, slots;  // blocks: of a chunk
  nn::BlockShape shape;
  cudaStream_t stream;
  bench::Blocks weights;  // of all chunks
  struct Slot {
    std::vector<nn::BlockActivations<T>> blocks;
    std::vector<T*> between;
  };
  std::vector<Slot> memory;
  std::vector<T*> inputs, outputs;
  nn::Workspace<T> work;
  ncclComm_t activations[2], gradients[2];  // by sender % 2, as the lab's Stage

  std::size_t values() const { return static_cast<std::size_t>(shape.rows()) * static_cast<std::size_t>(shape.C); }
  void take(nn::Arena& arena) {
    weights = bench::Blocks::take(arena, shape, chunks * blocks);
    memory.clear(), inputs.clear(), outputs.clear();
    for (int s = 0; s < slots; ++s) {
      Slot& slot = memory.emplace_back();
      for (int b = 0; b < blocks; ++b) slot.blocks.push_back(nn::BlockActivations<T>::take(arena, shape));
      for (int b = 0; b + 1 < blocks; ++b) slot.between.push_back(arena.take<T>(nn::Use::activations, values()));
    }
    for (int b = 0; b <= slots; ++b) {
      inputs.push_back(arena.take<T>(nn::Use::activations, values()));
      outputs.push_back(arena.take<T>(nn::Use::activations, values()));
    }
    work = nn::Workspace<T>::take(arena, shape);
  }
};

namespace {
const nn::Gemm* gemm = nullptr;  // of this process

nn::Context<T> context(const Stage::Parts& p) { return {*gemm, p.stream, p.work, {}}; }
std::size_t at(int i) { return static_cast<std::size_t>(i); }
}  // namespace

int Stage::rank() const { return parts_->rank; }
int Stage::ranks() const { return parts_->ranks; }
int Stage::micro_batches() const { return parts_->micro_batches; }
int Stage::chunks() const { return parts_->chunks; }
int Stage::slots() const { return parts_->slots; }
std::size_t Stage::elements() const { return parts_->values() * sizeof(T) / sizeof(float); }  // messages are floats
float* Stage::input(int box) const { return reinterpret_cast<float*>(parts_->inputs.at(at(box))); }
float* Stage::output(int box) const { return reinterpret_cast<float*>(parts_->outputs.at(at(box))); }

void Stage::clear_gradients() { parts_->weights.clear_gradients(parts_->stream); }

void Stage::forward(int chunk, int, int slot, int box, float) {
  Parts& p = *parts_;
  const Parts::Slot& s = p.memory.at(at(slot));
  const T* x = p.inputs.at(at(box));
  if (first(chunk)) bench::fill(p.inputs[at(box)], p.values(), 1, p.stream);  // in place of an embedding
  for (std::size_t b = 0; b < s.blocks.size(); ++b) {
    T* out = b < s.between.size() ? s.between[b] : p.outputs[at(box)];
    nn::block_forward(context(p), p.shape, p.weights.weights(at(chunk * p.blocks) + b), x, s.blocks[b], out);
    x = out;
  }
}

void Stage::backward(int chunk, int, int slot, int box) {
  Parts& p = *parts_;
  const Parts::Slot& s = p.memory.at(at(slot));
  T* d = p.outputs.at(at(box));
  if (last(chunk)) bench::fill(d, p.values(), 1e-3f, p.stream);  // in place of a loss
  for (std::size_t b = s.blocks.size(); b-- > 0;) {
    const T* x = b == 0 ? p.inputs[at(box)] : s.between[b - 1];
    const std::size_t which = at(chunk * p.blocks) + b;
    nn::block_backward(context(p), p.shape, p.weights.weights(which), p.weights.gradients[which], x, s.blocks[b], d);
  }
}

Link Stage::activations_in() const {
  const int from = (rank() + ranks() - 1) % ranks();
  return {parts_->activations[from % 2], from};
}
Link Stage::activations_out() const { return {parts_->activations[rank() % 2], (rank() + 1) % ranks()}; }
Link Stage::gradients_in() const {
  const int from = (rank() + 1) % ranks();
  return {parts_->gradients[from % 2], from};
}
Link Stage::gradients_out() const { return {parts_->gradients[rank() % 2], (rank() + ranks() - 1) % ranks()}; }

namespace {

// Median seconds of a step.
double measure(const Options& o, Stage& stage, cudaStream_t stream, bench::Ranks* ranks, std::vector<double>* all) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int step = -4; step < o.steps; ++step) {
    if (ranks != nullptr) ranks->barrier();
    const auto start = Clock::now();
    if (o.schedule == "gpipe" || stage.ranks() == 1)
      gpipe(stage, stream);
    else if (o.schedule == "one_f_one_b")
      one_f_one_b(stage, stream);
    else
      interleaved(stage, stream);
    nn::check(cudaStreamSynchronize(stream), "a step");
    if (ranks != nullptr) ranks->barrier();  // the slowest rank's end
    if (step >= 0) seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  if (all != nullptr) *all = seconds;
  return bench::median(seconds);
}

// Median seconds of a rank's blocks without neighbours: as many forwards and backwards, slots in turn.
double alone_seconds(const Options& o, Stage stage, cudaStream_t stream) {
  std::vector<double> seconds;
  for (int step = -2; step < o.steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    stage.clear_gradients();
    for (int k = 0; k < o.micro_batches * o.chunks; ++k) {
      stage.forward(0, k, k % stage.slots(), k % stage.slots(), 1);
      stage.backward(0, k, k % stage.slots(), k % stage.slots());
    }
    nn::check(cudaStreamSynchronize(stream), "a rank's work alone");
    if (step >= 0) seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return bench::median(seconds);
}

void run(const Options& o, int rank, bench::Ranks& ranks) {
  ncclComm_t comm = ranks.communicator(rank, o.message_blocks);
  cudaStream_t stream;
  nn::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  nn::Gemm products(stream);
  if (o.leave > 0) products.leave_multiprocessors(o.leave);
  gemm = &products;
  const nn::ModelConfig config = nn::model_config(o.model);
  const int p = o.ranks, m = o.micro_batches, v = o.chunks;
  Stage::Parts parts{};
  parts.rank = rank, parts.ranks = p, parts.micro_batches = m, parts.chunks = v;
  parts.blocks = o.layers / (p * v);
  parts.slots = o.schedule == "gpipe"         ? m
                : o.schedule == "one_f_one_b" ? std::min(p - rank, m)
                                              : std::min(2 * (p - rank - 1) + (v - 1) * p + 1, m * v);
  parts.shape = nn::block_shape(config, o.batch, o.sequence, 1, o.fused);
  parts.stream = stream;
  for (ncclComm_t* made : {&parts.activations[0], &parts.activations[1], &parts.gradients[0], &parts.gradients[1]})
    if (comm != nullptr) bench::check(ncclCommSplit(comm, 0, rank, made, nullptr), "ncclCommSplit");
  nn::Arena plan;
  parts.take(plan);
  nn::Arena arena(plan.used());
  parts.take(arena);
  parts.weights.fill(stream);
  Stage stage(parts);
  std::vector<double> seconds;
  const double median = measure(o, stage, stream, &ranks, &seconds);
  products.leave_multiprocessors(0);  // alone with all of them
  Stage::Parts alone = parts;
  alone.rank = 0, alone.ranks = 1, alone.chunks = 1, alone.blocks = parts.blocks;
  ranks.barrier();
  ranks.of(rank) = alone_seconds(o, Stage(alone), stream);
  ranks.barrier();
  if (rank != 0) return;
  double mean = 0;
  for (int r = 0; r < p; ++r) mean += ranks.of(r) / p;
  const double theory = static_cast<double>(p - 1) / (v * m + p - 1), bubble = 1 - mean / median;
  cudaDeviceProp about{};
  nn::check(cudaGetDeviceProperties(&about, rank), "the GPU's name");
  std::printf(
      "{\"what\": \"pipeline\", \"device\": \"%s\", \"model\": \"%s\", \"type\": \"bf16\", \"schedule\": \"%s\", "
      "\"ranks\": %d, "
      "\"chunks\": %d, \"micro_batches\": %d, \"layers\": %d, \"batch\": %d, \"sequence\": %d, \"median_s\": %.6f, "
      "\"bubble\": %.4f, \"theory\": %.4f, \"time_over_theory\": %.4f, \"message_blocks\": %d, \"leave\": %d, "
      "\"fused\": %s, "
      "\"slots\": %d, "
      "\"memory_bytes\": %zu",
      about.name, o.model.c_str(), o.schedule.c_str(), p, v, m, o.layers, o.batch, o.sequence, median, bubble, theory,
      median / (mean / (1 - theory)), o.message_blocks, o.leave, o.fused ? "true" : "false", parts.slots,
      plan.used().total());
  bench::print("alone_s", ranks.of_all());
  bench::print("seconds", seconds);
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options o = parse(argc, argv);
    bench::Ranks ranks(o.ranks);
    return ranks.run([&](int rank) { run(o, rank, ranks); });
  } catch (const std::exception& e) {
    std::fprintf(stderr, "pipeline: %s\n", e.what());
    return 2;
  }
}
