// The whole model: embeddings, L blocks, a final layer norm, the LM head and the loss; forward, backward, and the
// memory that they take.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "nn/block.cuh"
#include "nn/config.hpp"
#include "nn/embedding.cuh"
#include "nn/head.cuh"
#include "nn/memory.hpp"
#include "nn/parameters.cuh"

namespace nn {

// Called in backward when the kernels that finish these gradients are in the stream: what follows in the stream, or
// waits for an event recorded now, sees them complete.
using GradientsReady = std::function<void(Range)>;

template <class T>
class Gpt {
 public:
  // The model's bytes on the device, computed without a device.
  static MemoryPlan plan(const ModelConfig& model, const TrainConfig& train) {
    validate(model, train);
    if (train.fused && sizeof(T) != 2)
      throw std::invalid_argument(
          "nn: fused attention multiplies 16-bit numbers; take bf16 or fp16, or leave it unfused");
    Arena measured;
    Buffers::take(measured, parameter_layout(model), model, train);
    return measured.used();
  }

  Gpt(const ModelConfig& model, const TrainConfig& train, cudaStream_t stream)
      : model_(model),
        train_(train),
        layout_(parameter_layout(model)),
        stream_(stream),
        gemm_(stream),
        arena_(plan(model, train)),
        buffers_(Buffers::take(arena_, layout_, model, train)),
        context_{gemm_, stream, buffers_.work, {}} {
    gemm_.allow_tf32(train.tf32);
    weights_ = views<const T>(layout_, buffers_.copy);
    gradients_ = views(layout_, buffers_.gradients);
    clear(buffers_.master);  // the gaps between parameters too: the optimizer reads them
    init_parameters(layout_, buffers_.master, buffers_.copy, train.seed, stream);
    clear_gradients();
    clear(buffers_.m), clear(buffers_.v);
  }

  // tokens, targets: (B, T) on the device. Adds scale * the loss of each token to *loss (on the device), and leaves
  // gradient_scale * the loss's gradient in the logits; 0 leaves the logits themselves. loss_scale: one more factor of
  // that gradient, on the device, or null.
  void forward(const int* tokens, const int* targets, float scale, float gradient_scale, float* loss,
               const float* loss_scale = nullptr) {
    const BlockShape s = shape();
    embedding_forward(tokens, weights_.wte, weights_.wpe, buffers_.inputs[0], s.B, s.T, s.C, stream_);
    for (std::size_t l = 0; l < weights_.blocks.size(); ++l)
      block_forward(context_, s, weights_.blocks[l], buffers_.inputs[l], activations(l), buffers_.inputs[l + 1]);
    head_forward(context_, head(), head_weights(), buffers_.inputs.back(), buffers_.head, targets, scale,
                 gradient_scale, loss, loss_scale);
  }

  // After forward() with the same tokens: adds to the gradients of all parameters.
  void backward(const int* tokens, const GradientsReady& ready = {}) {
    const BlockShape s = shape();
    T* d = buffers_.d;
    head_backward(context_, head(), head_weights(), {gradients_.head_w, gradients_.final_gamma, gradients_.final_beta},
                  buffers_.inputs.back(), buffers_.head, d);
    if (ready) ready(layout_.head);
    for (std::size_t l = weights_.blocks.size(); l-- > 0;) {
      // With checkpointing the one set of activations holds those of another block. (Of the last block it still holds
      // its own.)
      if (train_.checkpoint && l + 1 != weights_.blocks.size())
        block_forward(context_, s, weights_.blocks[l], buffers_.inputs[l], activations(l), buffers_.spare);
      block_backward(context_, s, weights_.blocks[l], gradients_.blocks[l], buffers_.inputs[l], activations(l), d);
      if (ready) ready(layout_.blocks[l]);
    }
    embedding_backward(tokens, d, gradients_.wte, gradients_.wpe, s.B, s.T, s.C, stream_);
    if (ready) ready(layout_.embeddings);
  }

  void clear_gradients() { clear(buffers_.gradients); }

  Gemm& products() { return gemm_; }
  BlockShape shape() const { return block_shape(model_, train_.batch, train_.sequence, 1, train_.fused); }
  const ModelConfig& model() const { return model_; }
  const TrainConfig& train() const { return train_; }
  const ParameterLayout& layout() const { return layout_; }
  const MemoryPlan& memory() const { return arena_.used(); }
  cudaStream_t stream() const { return stream_; }

  // Flat buffers of layout().elements.
  float* master() { return buffers_.master; }        // the weights in fp32
  T* weights() { return buffers_.copy; }             // the products' factors; in fp32 the master weights
  float* gradients() { return buffers_.gradients; }  // summed since clear_gradients()
  float* first_moments() { return buffers_.m; }
  float* second_moments() { return buffers_.v; }
  // (B T, Vp), see forward().
  const T* logits() const { return buffers_.head.logits; }

 private:
  struct Buffers {
    float *master, *gradients, *m, *v;
    T* copy;
    std::vector<T*> inputs;                   // inputs of the blocks and of the final layer norm: L + 1 of (B, T, C)
    std::vector<BlockActivations<T>> blocks;  // one for each, or one for all with checkpointing
    HeadActivations<T> head;
    T *d, *spare;  // d: the gradient that goes through the blocks; spare: a recomputed block's output
    Workspace<T> work;

    static Buffers take(Arena& arena, const ParameterLayout& layout, const ModelConfig& m, const TrainConfig& t) {
      const BlockShape s = block_shape(m, t.batch, t.sequence, 1, t.fused);
      const std::size_t N = static_cast<std::size_t>(s.rows()), C = s.C;
      const auto L = static_cast<std::size_t>(m.layers);
      Buffers b{};
      b.master = arena.take<float>(Use::weights, layout.elements);
      if constexpr (std::is_same_v<T, float>)
        b.copy = b.master;
      else
        b.copy = arena.take<T>(Use::weights, layout.elements);
      b.gradients = arena.take<float>(Use::gradients, layout.elements);
      b.m = arena.take<float>(Use::optimizer, layout.elements);
      b.v = arena.take<float>(Use::optimizer, layout.elements);
      for (std::size_t l = 0; l <= L; ++l) b.inputs.push_back(arena.take<T>(Use::activations, N * C));
      for (std::size_t l = 0; l < (t.checkpoint ? 1 : L); ++l) b.blocks.push_back(BlockActivations<T>::take(arena, s));
      b.head = HeadActivations<T>::take(arena, head_shape(m, t.batch, t.sequence));
      b.work = Workspace<T>::take(arena, s);
      b.d = arena.take<T>(Use::workspace, N * C);
      if (t.checkpoint) b.spare = arena.take<T>(Use::workspace, N * C);
      return b;
    }
  };

  HeadShape head() const { return head_shape(model_, train_.batch, train_.sequence); }
  HeadTensors<const T*> head_weights() const { return {weights_.head_w, weights_.final_gamma, weights_.final_beta}; }
  const BlockActivations<T>& activations(std::size_t l) const { return buffers_.blocks[train_.checkpoint ? 0 : l]; }

  void clear(float* flat) {
    check(cudaMemsetAsync(flat, 0, layout_.elements * sizeof(float), stream_), "clearing a buffer");
  }

  ModelConfig model_;
  TrainConfig train_;
  ParameterLayout layout_;
  cudaStream_t stream_;
  Gemm gemm_;
  Arena arena_;
  Buffers buffers_;
  Context<T> context_;
  ModelTensors<const T*> weights_;
  ModelTensors<float*> gradients_;
};

}  // namespace nn
