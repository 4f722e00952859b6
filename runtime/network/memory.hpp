// The memory of a training step on the GPU that needs most.
#pragma once
#include "layout.hpp"
#include "transformer.hpp"

namespace ridge::network {

struct Memory {  // bytes
  double weights = 0, gradients = 0, optimizer = 0, activations = 0;
  double total() const { return weights + gradients + optimizer + activations; }
};
Memory memory_of(const Transformer& model, const Layout& layout);

// Bytes of one micro-batch: activations that a layer keeps until its backward pass (after Korthikanti et al. 2022),
// logits, and activations of a layer that keeps all while it runs.
double kept_bytes(const Transformer& model, const Layout& layout);
double head_bytes(const Transformer& model, const Layout& layout);
double working_bytes(const Transformer& model, const Layout& layout);

}  // namespace ridge::network
