// The model of ddp.hpp, from the functions of runtime/nn. Part of entry.cu: the tasks' files need none of it.
#pragma once
#include "ddp.hpp"
#include "nn/activations.cuh"

// Activations of one batch, allocated once; weights and gradients are the caller's.
struct Model::Parts {
  nn::ModelConfig config;
  nn::ParameterLayout layout;
  int T, most;
  cudaStream_t stream;
  nn::Gemm gemm;
  nn::Arena arena;
  nn::Activations<float> a;

  Parts(const nn::ModelConfig& model, int sequence, int most_sequences, cudaStream_t s)
      : config(model), layout(nn::parameter_layout(model)), T(sequence), most(most_sequences), stream(s), gemm(s) {
    nn::Arena measured;
    nn::Activations<float>::take(measured, config, most, T);
    arena = nn::Arena(measured.used());
    a = nn::Activations<float>::take(arena, config, most, T);
    nn::check(cudaMemsetAsync(a.loss, 0, sizeof(float), stream), "clearing the loss");
  }
  nn::Context<float> context() const { return {gemm, stream, a.work, {}}; }
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
  nn::embedding_forward(batch.tokens, w.wte, w.wpe, p.a.inputs[0], s.B, s.T, s.C, p.stream);
  for (std::size_t l = 0; l < w.blocks.size(); ++l)
    nn::block_forward(ctx, s, w.blocks[l], p.a.inputs[l], p.a.blocks[l], p.a.inputs[l + 1]);
  nn::head_forward(ctx, nn::head_shape(p.config, s.B, s.T), {w.head_w, w.final_gamma, w.final_beta}, p.a.inputs.back(),
                   p.a.head, batch.targets, scale, scale, p.a.loss);
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
                    {g.head_w, g.final_gamma, g.final_beta}, p.a.inputs.back(), p.a.head, p.a.d);
  finished(p.layout.head.end);
  for (std::size_t l = w.blocks.size(); l-- > 0;) {
    nn::mlp_branch_backward(ctx, s, w.blocks[l], g.blocks[l], p.a.blocks[l], p.a.d);
    finished(p.layout.at.blocks[l].proj_w);  // where the attention branch begins
    nn::attention_branch_backward(ctx, s, w.blocks[l], g.blocks[l], p.a.inputs[l], p.a.blocks[l], p.a.d);
    finished(p.layout.blocks[l].end);
  }
  nn::embedding_backward(batch.tokens, p.a.d, g.wte, g.wpe, s.B, s.T, s.C, p.stream);
  finished(p.layout.elements);
}
