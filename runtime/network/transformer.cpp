#include "transformer.hpp"

namespace ridge::network {

namespace {

// Elements of the matrices of attention and of the MLP in one layer.
double attention_weights(const Transformer& m) {
  return double(m.hidden) * m.head_width * (2.0 * m.heads + 2.0 * m.kv_heads);
}
double mlp_weights(const Transformer& m) { return (m.gated ? 3.0 : 2.0) * m.hidden * m.feed_forward; }

}  // namespace

double Transformer::layer_parameters() const {
  return attention_weights(*this) + mlp_weights(*this) + (gated ? 2.0 : 4.0) * hidden;
}
double Transformer::embedding_parameters() const { return double(hidden) * (double(vocabulary) + positions); }
double Transformer::head_parameters() const { return tied ? 0 : double(hidden) * vocabulary; }
double Transformer::parameters() const {
  return layers * layer_parameters() + embedding_parameters() + head_parameters() + hidden;
}

double forward_flops(const Transformer& m) {
  const double products = m.layers * (attention_weights(m) + mlp_weights(m)) + double(m.hidden) * m.vocabulary;
  return 2 * products + 4.0 * m.layers * m.sequence * m.heads * m.head_width;
}
double training_flops(const Transformer& m) { return 3 * forward_flops(m); }

}  // namespace ridge::network
