// The model of sharded.hpp, from the functions of runtime/nn. Part of entry.cu: the tasks' files need none of it.
#pragma once
#include <algorithm>

#include "nn/activations.cuh"
#include "sharded.hpp"
#include "units.hpp"

// from, to: n elements. One thread an element.
static __global__ void widen_kernel(const __nv_bfloat16* from, float* to, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) to[i] = __bfloat162float(from[i]);
}

// Activations of one batch, and one unit's weights that were gathered in bf16: allocated once. Other weights, and gradients, are the
// caller's.
struct Model::Parts {
  nn::ModelConfig config;
  units::Units units;
  int T, most;
  cudaStream_t stream;
  nn::Gemm gemm;
  nn::Arena arena;
  nn::Activations<float> a;
  float* wide;

  Parts(const nn::ModelConfig& model, int sequence, int most_sequences, cudaStream_t s)
      : config(model), units(model), T(sequence), most(most_sequences), stream(s), gemm(s) {
    nn::Arena measured;
    nn::Activations<float>::take(measured, config, most, T);
    const std::size_t unit = std::max(units.size(0), units.size(1));
    measured.take<float>(nn::Use::weights, unit);
    arena = nn::Arena(measured.used());
    a = nn::Activations<float>::take(arena, config, most, T);
    wide = arena.take<float>(nn::Use::weights, unit);
    nn::check(cudaMemsetAsync(a.loss, 0, sizeof(float), stream), "clearing the loss");
  }
  nn::Context<float> context() const { return {gemm, stream, a.work, {}}; }
  nn::BlockShape shape(const Batch& batch) const { return nn::block_shape(config, batch.sequences, T); }
  nn::HeadShape head(const Batch& batch) const { return nn::head_shape(config, batch.sequences, T); }

  const float* widened(int unit, const __nv_bfloat16* weights) const {
    const std::size_t n = units.size(unit);
    widen_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(weights, wide, n);
    nn::check_launch("widen_kernel");
    return wide;
  }

  // Tensors of a unit's own buffer, whose elements lie as in the buffer of all units.
  template <class E>
  nn::BlockTensors<E*> block(int unit, E* base) const {
    const auto l = static_cast<std::size_t>(unit - 1);
    const std::size_t begin = units.layout.blocks[l].begin;
    const nn::BlockTensors<std::size_t>& at = units.layout.at.blocks[l];
    auto in = [&](std::size_t place) { return base + (place - begin); };
    return {in(at.ln1_gamma), in(at.ln1_beta), in(at.qkv_w), in(at.qkv_b), in(at.proj_w), in(at.proj_b),
            in(at.ln2_gamma), in(at.ln2_beta), in(at.fc_w),  in(at.fc_b),  in(at.fc2_w),  in(at.fc2_b)};
  }
  template <class E>
  E* embedding(std::size_t place, E* base) const {
    return base + (units.layout.head.end + place - units.layout.embeddings.begin);
  }
  template <class E>
  nn::HeadTensors<E*> head_of(E* base) const {
    const auto& at = units.layout.at;
    return {embedding(at.wte, base), base + at.final_gamma, base + at.final_beta};
  }
};

Model::Model(const nn::ModelConfig& model, int sequence, int most_sequences, cudaStream_t stream)
    : parts_(std::make_unique<Parts>(model, sequence, most_sequences, stream)) {}
Model::~Model() = default;

int Model::blocks() const { return parts_->units.blocks(); }
std::size_t Model::size(int unit) const { return parts_->units.size(unit); }
std::size_t Model::begin(int unit) const { return parts_->units.begin(unit); }
std::size_t Model::elements() const { return parts_->units.elements(); }
int Model::tokens_of_sequence() const { return parts_->T; }

void Model::embed(const float* weights0, const Batch& batch) {
  const Parts& p = *parts_;
  const auto& at = p.units.layout.at;
  nn::embedding_forward(batch.tokens, p.embedding(at.wte, weights0), p.embedding(at.wpe, weights0), p.a.inputs[0],
                        batch.sequences, p.T, p.config.channels, p.stream);
}

void Model::forward(int unit, const float* weights, const Batch& batch) {
  const Parts& p = *parts_;
  const auto l = static_cast<std::size_t>(unit - 1);
  nn::block_forward(p.context(), p.shape(batch), p.block(unit, weights), p.a.inputs[l], p.a.blocks[l],
                    p.a.inputs[l + 1]);
}

void Model::head(const float* weights0, float* gradients0, const Batch& batch, float scale) {
  const Parts& p = *parts_;
  const auto w = p.head_of(weights0);
  nn::head_forward(p.context(), p.head(batch), w, p.a.inputs.back(), p.a.head, batch.targets, scale, scale, p.a.loss);
  nn::head_backward(p.context(), p.head(batch), w, p.head_of(gradients0), p.a.inputs.back(), p.a.head, p.a.d);
}

void Model::backward(int unit, const float* weights, float* gradients, const Batch& batch) {
  const Parts& p = *parts_;
  const auto l = static_cast<std::size_t>(unit - 1);
  nn::block_backward(p.context(), p.shape(batch), p.block(unit, weights), p.block(unit, gradients), p.a.inputs[l],
                     p.a.blocks[l], p.a.d);
}

void Model::embed_backward(float* gradients0, const Batch& batch) {
  const Parts& p = *parts_;
  const auto& at = p.units.layout.at;
  nn::embedding_backward(batch.tokens, p.a.d, p.embedding(at.wte, gradients0), p.embedding(at.wpe, gradients0),
                         batch.sequences, p.T, p.config.channels, p.stream);
}

void Model::embed(const __nv_bfloat16* weights0, const Batch& batch) { embed(parts_->widened(0, weights0), batch); }
void Model::forward(int unit, const __nv_bfloat16* weights, const Batch& batch) {
  forward(unit, parts_->widened(unit, weights), batch);
}
void Model::head(const __nv_bfloat16* weights0, float* gradients0, const Batch& batch, float scale) {
  head(parts_->widened(0, weights0), gradients0, batch, scale);
}
void Model::backward(int unit, const __nv_bfloat16* weights, float* gradients, const Batch& batch) {
  backward(unit, parts_->widened(unit, weights), gradients, batch);
}
