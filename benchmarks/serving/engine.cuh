// A step of runtime/nn's GPT on a paged cache. Requests with one new token go through lab 15's `paged_attention`, those with
// several through runtime/nn's fused attention, over keys and values that are gathered from their pages. A step of single
// tokens is a CUDA graph of its bucket, 1, 2, 4, ..., 64 rows, which is captured once and kept: its pointers stay.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels.cuh"
#include "nn/block.cuh"
#include "nn/head.cuh"
#include "scheduler.hpp"
#include "serving.hpp"

namespace serving {

constexpr int kBuckets = 7;
static_assert(1 << (kBuckets - 1) == kMostSequences);

class Engine {
 public:
  // `weights` are the caller's, with the places of `layout`. The cache has `pages` pages.
  Engine(const nn::ModelConfig& model, const nn::ParameterLayout& layout, const Bf16* weights, int pages, bool graphs,
         cudaStream_t stream)
      : model_(model),
        weights_(nn::views(layout, weights)),
        pages_(pages),
        graphs_(graphs),
        stream_(stream),
        gemm_(stream),
        columns_(pages_of(model.context)) {
    if (model.head_size() != 64 && model.head_size() != 128)
      throw std::invalid_argument("lab 15's attention has heads of 64 or 128 channels");
    nn::Arena measured;
    take(measured);
    arena_ = nn::Arena(measured.used());
    take(arena_);
    nn::check(cudaMallocHost(&host_, ints() * sizeof(int)), "pinned memory");
    nn::check(cudaMallocHost(&host_next_, kMostSequences * sizeof(int)), "pinned memory");
    // Places of the cache that a padded row reads before anybody has written them are numbers.
    for (std::size_t l = 0; l < k_pages_.size(); ++l)
      for (Bf16* cache : {k_pages_[l], v_pages_[l]})
        nn::check(cudaMemsetAsync(cache, 0, cache_elements() * sizeof(Bf16), stream_), "clearing the cache");
  }
  ~Engine() {
    for (cudaGraphExec_t graph : captured_)
      if (graph != nullptr) cudaGraphExecDestroy(graph);
    cudaFreeHost(host_);
    cudaFreeHost(host_next_);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Runs a step, of which the first `decodes` parts have one token each, and waits for it. The token that follows each part;
  // it means nothing where more tokens of the request are still to come.
  std::vector<int> step(const std::vector<Part>& parts, int decodes) {
    const int sequences = static_cast<int>(parts.size());
    if (sequences == decodes && graphs_) {
      int bucket = 0;
      while (1 << bucket < decodes) ++bucket;
      fill(parts, 1 << bucket);
      replay(bucket);
    } else {
      fill(parts, sequences);
      copy_in(rows_);
      enqueue(parts, sequences, decodes, rows_);
    }
    nn::check(cudaStreamSynchronize(stream_), "a step");
    return {host_next_, host_next_ + sequences};
  }

  // Captures all graphs before requests come.
  void warm_up() {
    for (int bucket = 0; bucket < kBuckets && graphs_; ++bucket) {
      fill({}, 1 << bucket);
      replay(bucket);
      nn::check(cudaStreamSynchronize(stream_), "a step");
    }
    replays_ = 0;
  }

  int replays() const { return replays_; }
  const nn::MemoryPlan& memory() const { return arena_.used(); }

 private:
  // What a step needs from the host, in one copy: of a step of single tokens the beginning only.
  struct Inputs {
    int *starts, *before, *after, *last;  // (65), and (64) each
    int* table;                           // (64, columns)
    int2* rows;                           // (kMostTokens): token and position
  };
  static constexpr int kSmall = 65 + 3 + 3 * kMostSequences;
  std::size_t ints() const {
    return static_cast<std::size_t>(kSmall + kMostSequences * columns_ + 2 * (kMostTokens + kMostSequences));
  }
  Inputs inputs(int* at) const {
    int* const small = at + 68;
    return {at,
            small,
            small + kMostSequences,
            small + 2 * kMostSequences,
            at + kSmall,
            reinterpret_cast<int2*>(at + kSmall + kMostSequences * columns_)};
  }
  // Rows of a bucket without a request write to pages behind the cache, each to a place of its own.
  static constexpr int kSparePages = kMostSequences / kPage;
  std::size_t cache_elements() const {
    return static_cast<std::size_t>(pages_ + kSparePages) * static_cast<std::size_t>(kPage * model_.channels);
  }

  void take(nn::Arena& arena) {
    using nn::Use;
    const std::size_t N = kMostTokens + kMostSequences, C = static_cast<std::size_t>(model_.channels);
    auto t = [&](std::size_t n) { return arena.take<Bf16>(Use::activations, n); };
    device_ = arena.take<int>(Use::workspace, ints());
    next_ = arena.take<int>(Use::workspace, kMostSequences);
    workspace_bytes_ = sizeof(float) * kMostSplits * kMostSequences * static_cast<std::size_t>(model_.heads) *
                       (static_cast<std::size_t>(model_.head_size()) + 1);
    workspace_ = arena.take<char>(Use::workspace, workspace_bytes_);
    x_ = t(N * C), last_x_ = t(kMostSequences * C);
    q_ = t(N * C), k_ = t(N * C), v_ = t(N * C);
    gathered_ = t(static_cast<std::size_t>(model_.context) * 3 * C);
    logs_ = arena.take<float>(Use::workspace,
                              static_cast<std::size_t>(model_.heads) * static_cast<std::size_t>(model_.context));
    a_ = nn::BlockActivations<Bf16>{};
    a_.ln1 = t(N * C), a_.qkv = t(N * 3 * C), a_.mid = t(N * C), a_.ln2 = t(N * C), a_.fc = t(N * 4 * C),
    a_.gelu = t(N * 4 * C);
    // A request's rows of o are stored relative to its first token, which may lie before the step's first row.
    o_ = t((N + static_cast<std::size_t>(model_.context)) * C);
    if (o_ != nullptr) o_ += static_cast<std::size_t>(model_.context) * C;
    for (float** f : {&a_.ln1_mean, &a_.ln1_rstd, &a_.ln2_mean, &a_.ln2_rstd})
      *f = arena.take<float>(Use::activations, N);
    head_ = nn::HeadActivations<Bf16>::take(arena, nn::head_shape(model_, kMostSequences, 1));
    k_pages_.resize(static_cast<std::size_t>(model_.layers));
    v_pages_.resize(static_cast<std::size_t>(model_.layers));
    for (std::size_t l = 0; l < k_pages_.size(); ++l)
      k_pages_[l] = t(cache_elements()), v_pages_[l] = t(cache_elements());
  }

  // The inputs of a step with `sequences` sequences; those beyond the parts are padding of one token.
  void fill(const std::vector<Part>& parts, int sequences) {
    const Inputs to = inputs(host_);
    int row = 0;
    for (int s = 0; s < sequences; ++s) {
      to.starts[s] = row;
      int* const table = to.table + static_cast<std::ptrdiff_t>(s) * columns_;
      if (s < static_cast<int>(parts.size())) {
        const Part& p = parts[static_cast<std::size_t>(s)];
        std::copy(p.pages.begin(), p.pages.end(), table);
        std::fill(table + p.pages.size(), table + columns_, -1);
        to.before[s] = p.before;
        for (int i = 0; i < p.count; ++i) to.rows[row++] = {p.tokens[static_cast<std::size_t>(i)], p.before + i};
        to.after[s] = p.before + p.count;
      } else {
        std::fill(table, table + columns_, -1);
        table[0] = pages_ + s / kPage;
        to.before[s] = s % kPage, to.after[s] = s % kPage + 1;
        to.rows[row++] = {0, s % kPage};
      }
      to.last[s] = row - 1;
    }
    to.starts[sequences] = row;
    rows_ = row;
  }

  void copy_in(int rows) {
    const std::size_t used = static_cast<std::size_t>(kSmall + kMostSequences * columns_ + 2 * rows);
    nn::check(cudaMemcpyAsync(device_, host_, used * sizeof(int), cudaMemcpyHostToDevice, stream_), "a step's inputs");
  }

  void replay(int bucket) {
    cudaGraphExec_t& graph = captured_[bucket];
    if (graph == nullptr) {
      // cuBLAS sets itself up in a first call, which no graph may hold.
      const int rows = 1 << bucket;
      copy_in(rows);
      enqueue({}, rows, rows, rows);
      nn::check(cudaStreamSynchronize(stream_), "a step");
      cudaGraph_t made = nullptr;
      nn::check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "beginning a capture");
      copy_in(rows);
      enqueue({}, rows, rows, rows);
      nn::check(cudaStreamEndCapture(stream_, &made), "ending a capture");
      nn::check(cudaGraphInstantiate(&graph, made, 0), "instantiating a graph");
      nn::check(cudaGraphDestroy(made), "freeing a graph");
    }
    nn::check(cudaGraphLaunch(graph, stream_), "launching a graph");
    ++replays_;
  }

  // All kernels of a step with N rows. Of its sequences the first `decodes` have one row each; the others are `parts`.
  void enqueue(const std::vector<Part>& parts, int sequences, int decodes, int N) {
    const int C = model_.channels, H = model_.heads, hs = model_.head_size();
    const Inputs in = inputs(device_);
    const nn::BlockShape shape{1, N, C, H, hs, model_.hidden(), true};
    const nn::Context<Bf16> context{gemm_, stream_, {}, {}};
    embed_kernel<<<N, 256, 0, stream_>>>(in.rows, weights_.wte, weights_.wpe, x_, C);
    nn::check_launch("embed_kernel");
    for (std::size_t l = 0; l < weights_.blocks.size(); ++l) {
      const nn::BlockWeights<Bf16>& w = weights_.blocks[l];
      nn::layernorm_forward(x_, w.ln1_gamma, w.ln1_beta, a_.ln1, a_.ln1_mean, a_.ln1_rstd, N, C, stream_);
      nn::linear_forward(gemm_, a_.ln1, w.qkv_w, a_.qkv, N, C, 3 * C);
      split_kernel<<<N, nn::row_threads(3 * C / 8), 0, stream_>>>(a_.qkv, w.qkv_b, q_, k_, v_, C);
      nn::check_launch("split_kernel");
      append(k_, v_, in.starts, in.before, in.table, k_pages_[l], v_pages_[l], N, paged(sequences), stream_);
      nn::check_launch("append");
      if (decodes > 0) {
        paged_attention(q_, k_pages_[l], v_pages_[l], in.table, in.after, o_, paged(decodes), workspace_,
                        workspace_bytes_, stream_);
        nn::check_launch("paged_attention");
      }
      int row = decodes;
      for (int s = decodes; s < sequences; ++s) {
        const Part& p = parts[static_cast<std::size_t>(s)];
        chunk(p, in.table + static_cast<std::ptrdiff_t>(s) * columns_, row, l);
        row += p.count;
      }
      nn::linear_forward(gemm_, o_, w.proj_w, a_.mid, N, C, C);
      nn::bias_residual(x_, a_.mid, w.proj_b, a_.mid, N, C, stream_);
      nn::mlp_branch_forward(context, shape, w, a_, x_);
    }
    const Bf16* last = x_;
    if (N != sequences) {
      take_rows_kernel<<<sequences, 256, 0, stream_>>>(x_, in.last, last_x_, C);
      nn::check_launch("take_rows_kernel");
      last = last_x_;
    }
    nn::layernorm_forward(last, weights_.final_gamma, weights_.final_beta, head_.norm, head_.mean, head_.rstd,
                          sequences, C, stream_);
    nn::linear_forward(gemm_, head_.norm, weights_.head_w, head_.logits, sequences, C, model_.padded_vocabulary());
    largest_kernel<<<sequences, 1024, 0, stream_>>>(head_.logits, next_, model_.vocabulary, model_.padded_vocabulary());
    nn::check_launch("largest_kernel");
    nn::check(cudaMemcpyAsync(host_next_, next_, static_cast<std::size_t>(sequences) * sizeof(int),
                              cudaMemcpyDeviceToHost, stream_),
              "the next tokens");
  }

  // Attention of a part with several tokens, whose first row in the step is `row`.
  void chunk(const Part& p, const int* pages, int row, std::size_t l) {
    const int C = model_.channels, H = model_.heads, hs = model_.head_size(), length = p.before + p.count;
    auto words = [](auto* of) { return reinterpret_cast<const uint4*>(of); };
    gather_kernel<<<length, 128, 0, stream_>>>(words(q_ + static_cast<std::size_t>(row) * C), words(k_pages_[l]),
                                               words(v_pages_[l]), pages, reinterpret_cast<uint4*>(gathered_), p.before,
                                               H, hs / 8);
    nn::check_launch("gather_kernel");
    nn::fused_attention_forward(gathered_, o_ + static_cast<std::ptrdiff_t>(row - p.before) * C, logs_, 1, length, H,
                                hs, stream_, p.before);
  }

  Paged paged(int sequences) const {
    return {sequences, model_.heads, model_.heads, model_.head_size(), pages_ + kSparePages, columns_};
  }

  nn::ModelConfig model_;
  nn::ModelTensors<const Bf16*> weights_;
  int pages_;
  bool graphs_;
  cudaStream_t stream_;
  nn::Gemm gemm_;
  int columns_;
  nn::Arena arena_;
  int *host_ = nullptr, *host_next_ = nullptr, *device_ = nullptr, *next_ = nullptr;
  char* workspace_ = nullptr;
  std::size_t workspace_bytes_ = 0;
  Bf16 *x_, *last_x_, *q_, *k_, *v_, *gathered_, *o_;
  float* logs_;
  nn::BlockActivations<Bf16> a_;
  nn::HeadActivations<Bf16> head_;
  std::vector<Bf16*> k_pages_, v_pages_;
  cudaGraphExec_t captured_[kBuckets] = {};
  int rows_ = 0, replays_ = 0;
};

}  // namespace serving
