// The model of ddp.hpp, from the functions of runtime/nn. Part of entry.cu: the tasks' files need none of it.
#pragma once
#include "ddp.hpp"
#include "nn/block.cuh"
#include "nn/embedding.cuh"
#include "nn/head.cuh"

// Activations of one batch, allocated once; weights and gradients are the caller's.
struct Model::Parts {
  nn::ModelConfig config;
  nn::ParameterLayout layout;
  int T, most;
  cudaStream_t stream;
  nn::Gemm gemm;
  nn::Arena arena;
  std::vector<float*> inputs;  // of the blocks, and of the final layer norm: (B, T, C)
  std::vector<nn::BlockActivations<float>> blocks;
  nn::HeadActivations<float> head;
  nn::Workspace<float> work;
  float *d, *loss;

  void take(nn::Arena& from) {
    const nn::BlockShape s = nn::block_shape(config, most, T);
    const std::size_t size = static_cast<std::size_t>(s.rows()) * static_cast<std::size_t>(s.C);
    inputs.clear(), blocks.clear();
    for (int l = 0; l <= config.layers; ++l) inputs.push_back(from.take<float>(nn::Use::activations, size));
    for (int l = 0; l < config.layers; ++l) blocks.push_back(nn::BlockActivations<float>::take(from, s));
    head = nn::HeadActivations<float>::take(from, nn::head_shape(config, most, T));
    work = nn::Workspace<float>::take(from, s);
    d = from.take<float>(nn::Use::workspace, size);
    loss = from.take<float>(nn::Use::workspace, 1);
  }

  Parts(const nn::ModelConfig& model, int sequence, int most_sequences, cudaStream_t s)
      : config(model), layout(nn::parameter_layout(model)), T(sequence), most(most_sequences), stream(s), gemm(s) {
    nn::Arena measured;
    take(measured);
    arena = nn::Arena(measured.used());
    take(arena);
    nn::check(cudaMemsetAsync(loss, 0, sizeof(float), stream), "clearing the loss");
  }
  nn::Context<float> context() const { return {gemm, stream, work, {}}; }
};

Model::Model(const nn::ModelConfig& model, int sequence, int most_sequences, cudaStream_t stream)
    : parts_(std::make_unique<Parts>(model, sequence, most_sequences, stream)) {}
Model::~Model() = default;

std::size_t Model::elements() const { return parts_->layout.elements; }
int Model::tokens_of_sequence() const { return parts_->T; }

void Model::forward(const float* weights, const Batch& batch, float scale) {
  const Parts& p = *parts_;
  const nn::Context<float> ctx = p.context();
  const auto w = nn::views(p.layout, weights);
  const nn::BlockShape s = nn::block_shape(p.config, batch.sequences, p.T);
  nn::embedding_forward(batch.tokens, w.wte, w.wpe, p.inputs[0], s.B, s.T, s.C, p.stream);
  for (std::size_t l = 0; l < w.blocks.size(); ++l)
    nn::block_forward(ctx, s, w.blocks[l], p.inputs[l], p.blocks[l], p.inputs[l + 1]);
  nn::head_forward(ctx, nn::head_shape(p.config, s.B, s.T), {w.head_w, w.final_gamma, w.final_beta}, p.inputs.back(),
                   p.head, batch.targets, scale, scale, p.loss);
}

void Model::backward(const float* weights, const Batch& batch, float* gradients,
                     const std::function<void(Range)>& ready) {
  const Parts& p = *parts_;
  const nn::Context<float> ctx = p.context();
  const auto w = nn::views(p.layout, weights);
  const auto g = nn::views(p.layout, gradients);
  const nn::BlockShape s = nn::block_shape(p.config, batch.sequences, p.T);
  std::size_t begin = 0;
  auto finished = [&](std::size_t end) {
    if (ready) ready({begin, end});
    begin = end;
  };
  nn::head_backward(ctx, nn::head_shape(p.config, s.B, s.T), {w.head_w, w.final_gamma, w.final_beta},
                    {g.head_w, g.final_gamma, g.final_beta}, p.inputs.back(), p.head, p.d);
  finished(p.layout.head.end);
  for (std::size_t l = w.blocks.size(); l-- > 0;) {
    nn::mlp_branch_backward(ctx, s, w.blocks[l], g.blocks[l], p.blocks[l], p.d);
    finished(p.layout.at.blocks[l].proj_w);  // where the attention branch begins
    nn::attention_branch_backward(ctx, s, w.blocks[l], g.blocks[l], p.inputs[l], p.blocks[l], p.d);
    finished(p.layout.blocks[l].end);
  }
  nn::embedding_backward(batch.tokens, p.d, g.wte, g.wpe, s.B, s.T, s.C, p.stream);
  finished(p.layout.elements);
}
