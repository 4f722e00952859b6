// The time and the messages of one layer, and of the two ends of the model, on one GPU for one micro-batch.
#pragma once
#include "gpu.hpp"
#include "group_times.hpp"
#include "layout.hpp"
#include "transformer.hpp"

namespace ridge::network {

// Seconds by kind. `exposed` is communication that nothing hides; `messages`, of which it is a part, all that the
// tensor group exchanges; `sent` are its bytes, of one rank.
struct Work {
  double products = 0, attention = 0, elementwise = 0, exposed = 0, messages = 0, sent = 0;
  double kernels() const { return products + attention + elementwise; }
  double seconds() const { return kernels() + exposed; }
  // Adds so many times another one.
  Work& add(const Work& o, double times = 1) {
    products += times * o.products, attention += times * o.attention, elementwise += times * o.elementwise;
    exposed += times * o.exposed, messages += times * o.messages, sent += times * o.sent;
    return *this;
  }
};
inline Work operator+(Work a, const Work& b) { return a.add(b); }

struct LayerTimes {
  Work forward, backward;  // of a layer
  Work recomputed;         // of a layer, before its backward pass
  Work embedding_forward, embedding_backward;
  Work head_forward, head_backward;  // the last layer norm, the product with the vocabulary, the loss
};

// `tensor`: the cost of the tensor group's collectives.
LayerTimes layer_times(const Transformer& model, const Layout& layout, const Gpu& gpu, const RingCost& tensor);

}  // namespace ridge::network
