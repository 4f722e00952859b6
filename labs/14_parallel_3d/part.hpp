// The Part of step_3d.hpp, from the functions of runtime/nn. Included by entry.cu: the tasks' files need none of it.
#pragma once
#include "nn/block.cuh"
#include "nn/embedding.cuh"
#include "nn/head.cuh"
#include "shards.hpp"
#include "step_3d.hpp"

struct Part::Engine {
  // What a forward leaves for its backward.
  struct Slot {
    std::vector<nn::BlockActivations<float>> blocks;
    std::vector<float*> between;  // (B, T, C), the blocks' outputs, but for the last one
    float* final = nullptr;       // (B, T, C), the last block's output, on the last stage
    nn::HeadActivations<float> head{};
    float *input = nullptr, *output = nullptr;
  };

  shards::Run run;
  Sizes sizes;
  Coordinates at;
  shards::Shard shard;
  std::vector<Tensor> tensors;
  float *weights, *gradients, *loss;
  const int *tokens, *targets;  // (m, B, T)
  nn::BlockShape shape;
  nn::HeadShape head;
  nn::Context<float> context;
  std::vector<Slot> slots;

  Engine(const shards::Run& r, const Coordinates& where, const nn::ParameterLayout& layout, float* w, float* g,
         const int* words, void* workspace, std::size_t bytes, const nn::Gemm& gemm, ncclComm_t tensor,
         cudaStream_t stream)
      : run(r),
        sizes{r.data, r.pipeline, r.tensor},
        at(where),
        shard(r, layout, where.pipeline, where.tensor),
        weights(w),
        gradients(g),
        tokens(words),
        targets(words + r.tokens()),
        shape(nn::block_shape(r.model(), r.batch, r.sequence, r.tensor)),
        head(nn::head_shape(r.model(), r.batch, r.sequence)),
        context{gemm, stream, {}, {}} {
    for (const shards::Piece& p : shard.pieces)
      tensors.push_back({w + p.place, g + p.place, p.count(), p.cut, p.embedding});
    nn::Arena arena(workspace, bytes);
    auto activation = [&] { return arena.take<float>(nn::Use::activations, elements()); };
    slots.resize(static_cast<std::size_t>(r.micro_batches));
    for (Slot& s : slots) {
      for (int b = 0; b < r.blocks; ++b) s.blocks.push_back(nn::BlockActivations<float>::take(arena, shape));
      for (int b = 0; b + 1 < r.blocks; ++b) s.between.push_back(activation());
      if (last()) s.final = activation(), s.head = nn::HeadActivations<float>::take(arena, head);
      s.input = activation(), s.output = activation();
    }
    context.work = nn::Workspace<float>::take(arena, shape);
    loss = arena.take<float>(nn::Use::workspace, 1);
    if (r.tensor > 1)
      context.sum_over_shards = [tensor, stream](float* partial, std::size_t count) {
        ncclAllReduce(partial, partial, count, ncclFloat, ncclSum, tensor, stream);
      };
    nn::check(cudaMemsetAsync(loss, 0, sizeof(float), stream), "clearing the loss");
  }
  bool first() const { return at.pipeline == 0; }
  bool last() const { return at.pipeline + 1 == sizes.pipeline; }
  std::size_t elements() const { return run.rows() * static_cast<std::size_t>(run.channels); }
  Slot& slot(int k) {
    if (k < 0 || k >= run.micro_batches) {
      std::fprintf(stderr, "step_3d: micro-batch %d, and there are %d: 0 to %d\n", k, run.micro_batches,
                   run.micro_batches - 1);
      std::fflush(stderr);
      std::_Exit(1);
    }
    return slots[static_cast<std::size_t>(k)];
  }
  template <class E>
  nn::BlockTensors<E*> block(int b, E* base) const {
    const auto& p = shard.blocks[static_cast<std::size_t>(b)];
    return {base + p.ln1_gamma, base + p.ln1_beta, base + p.qkv_w, base + p.qkv_b, base + p.proj_w, base + p.proj_b,
            base + p.ln2_gamma, base + p.ln2_beta, base + p.fc_w,  base + p.fc_b,  base + p.fc2_w,  base + p.fc2_b};
  }
  template <class E>
  nn::HeadTensors<E*> head_of(E* base) const {
    return {base + shard.wte, base + shard.gamma, base + shard.beta};
  }
};

const Sizes& Part::sizes() const { return engine_->sizes; }
Coordinates Part::at() const { return engine_->at; }
int Part::micro_batches() const { return engine_->run.micro_batches; }
const std::vector<Tensor>& Part::tensors() const { return engine_->tensors; }
float* Part::gradients() const { return engine_->gradients; }
std::size_t Part::count() const { return engine_->shard.elements; }
std::size_t Part::elements() const { return engine_->elements(); }
float* Part::input(int k) const { return engine_->slot(k).input; }
float* Part::output(int k) const { return engine_->slot(k).output; }

void Part::clear_gradients() {
  nn::check(cudaMemsetAsync(engine_->gradients, 0, count() * sizeof(float), engine_->context.stream),
            "clearing the gradients");
}

void Part::forward(int k, float weight, const State* state) {
  Engine& e = *engine_;
  const Engine::Slot& s = e.slot(k);
  const cudaStream_t stream = e.context.stream;
  const int* words = e.tokens + e.run.rows() * static_cast<std::size_t>(k);
  if (e.first())
    nn::embedding_forward(words, e.weights + e.shard.wte, e.weights + e.shard.wpe, s.input, e.shape.B, e.shape.T,
                          e.shape.C, stream);
  const float* x = s.input;
  for (int b = 0; b < e.run.blocks; ++b) {
    float* out = b + 1 < e.run.blocks ? s.between[static_cast<std::size_t>(b)] : e.last() ? s.final : s.output;
    nn::block_forward(e.context, e.shape, e.block<const float>(b, e.weights), x, s.blocks[static_cast<std::size_t>(b)],
                      out);
    x = out;
  }
  if (!e.last()) return;
  const float scale = weight / static_cast<float>(e.run.rows());
  nn::head_forward(e.context, e.head, e.head_of<const float>(e.weights), x, s.head,
                   e.targets + e.run.rows() * static_cast<std::size_t>(k), scale, scale, e.loss, &state->loss_scale);
}

void Part::backward(int k) {
  Engine& e = *engine_;
  const Engine::Slot& s = e.slot(k);
  float* d = s.output;
  if (e.last())
    nn::head_backward(e.context, e.head, e.head_of<const float>(e.weights), e.head_of<float>(e.gradients), s.final,
                      s.head, d);
  for (int b = e.run.blocks; b-- > 0;)
    nn::block_backward(e.context, e.shape, e.block<const float>(b, e.weights), e.block<float>(b, e.gradients),
                       b > 0 ? s.between[static_cast<std::size_t>(b - 1)] : s.input,
                       s.blocks[static_cast<std::size_t>(b)], d);
  if (e.first())
    nn::embedding_backward(e.tokens + e.run.rows() * static_cast<std::size_t>(k), d, e.gradients + e.shard.wte,
                           e.gradients + e.shard.wpe, e.shape.B, e.shape.T, e.shape.C, e.context.stream);
}
