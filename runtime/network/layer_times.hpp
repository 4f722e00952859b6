// The time and the memory of one layer, and of the two ends of the model, on one GPU for one micro-batch.
#pragma once
#include "gpu.hpp"
#include "group_times.hpp"
#include "layout.hpp"
#include "transformer.hpp"

namespace ridge::network {

// Seconds by kind. `exposed` is communication that nothing hides; `messages`, of which it is a part, all that the
// tensor group exchanges.
struct Work {
  double products = 0, attention = 0, elementwise = 0, exposed = 0, messages = 0;
  double kernels() const { return products + attention + elementwise; }
  double seconds() const { return kernels() + exposed; }
  Work& operator+=(const Work& o) {
    products += o.products, attention += o.attention, elementwise += o.elementwise, exposed += o.exposed;
    messages += o.messages;
    return *this;
  }
};
inline Work operator+(Work a, const Work& b) { return a += b; }

struct LayerTimes {
  Work forward, backward;  // of a layer
  Work recomputed;         // of a layer, before its backward pass
  Work embedding_forward, embedding_backward;
  Work head_forward, head_backward;  // the last layer norm, the product with the vocabulary, the loss
};

// `tensor`: the cost of the tensor group's collectives.
LayerTimes layer_times(const Transformer& model, const Layout& layout, const Gpu& gpu, const RingCost& tensor);

// Bytes of one micro-batch: activations that a layer keeps until its backward pass (after Korthikanti et al. 2022),
// logits, and activations of a layer while it runs.
double kept_bytes(const Transformer& model, const Layout& layout);
double head_bytes(const Transformer& model, const Layout& layout);
double working_bytes(const Transformer& model, const Layout& layout);
// Bytes that a rank sends to its tensor group for one layer and one micro-batch, forward and backward.
double tensor_bytes(const Transformer& model, const Layout& layout);
// The same for the embedding and the head together.
double tensor_bytes_of_ends(const Transformer& model, const Layout& layout);

}  // namespace ridge::network
