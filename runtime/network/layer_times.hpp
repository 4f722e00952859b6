// The time and the messages of one layer, and of the two ends of the model, on one GPU for one micro-batch.
#pragma once
#include "gpu.hpp"
#include "layout.hpp"
#include "links/group_times.hpp"
#include "transformer.hpp"
#include "work.hpp"

namespace ridge::network {

struct LayerTimes {
  Work forward, backward;  // of a layer
  Work recomputed;         // of a layer, before its backward pass
  Work embedding_forward, embedding_backward;
  Work head_forward, head_backward;  // the last layer norm, the product with the vocabulary, the loss
};

// `tensor`: the cost of the tensor group's collectives.
LayerTimes layer_times(const Transformer& model, const Layout& layout, const Gpu& gpu, const RingCost& tensor);

}  // namespace ridge::network
