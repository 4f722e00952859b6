// Activations of a whole model whose weights are the caller's, allocated once for the largest batch: labs 07 and 13.
#pragma once
#include <vector>

#include "nn/block.cuh"
#include "nn/embedding.cuh"
#include "nn/head.cuh"

namespace nn {

template <class T>
struct Activations {
  std::vector<T*> inputs;  // of the blocks, and of the final layer norm: (B, T, C)
  std::vector<BlockActivations<T>> blocks;
  HeadActivations<T> head;
  Workspace<T> work;
  T* d;         // (B, T, C), the gradient that goes through the blocks
  float* loss;  // one

  static Activations take(Arena& from, const ModelConfig& model, int batch, int sequence) {
    const BlockShape s = block_shape(model, batch, sequence);
    const std::size_t size = static_cast<std::size_t>(s.rows()) * static_cast<std::size_t>(s.C);
    Activations a{};
    for (int l = 0; l <= model.layers; ++l) a.inputs.push_back(from.take<T>(Use::activations, size));
    for (int l = 0; l < model.layers; ++l) a.blocks.push_back(BlockActivations<T>::take(from, s));
    a.head = HeadActivations<T>::take(from, head_shape(model, batch, sequence));
    a.work = Workspace<T>::take(from, s);
    a.d = from.take<T>(Use::workspace, size);
    a.loss = from.take<float>(Use::workspace, 1);
    return a;
  }
};

}  // namespace nn
