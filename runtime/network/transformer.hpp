// A decoder-only transformer: its parameters, and the operations of a training step.
#pragma once
#include <string>

namespace ridge::network {

struct Transformer {
  std::string title;
  int layers = 0;
  int hidden = 0;    // width of the residual stream
  int heads = 0;     // of queries
  int kv_heads = 0;  // of keys and values; fewer than `heads`: grouped-query attention
  int head_width = 0;
  int feed_forward = 0;  // width between the two products of the MLP
  bool gated = false;    // SwiGLU: a third matrix in the MLP
  int vocabulary = 0;
  int sequence = 0;   // tokens
  bool tied = false;  // one matrix for the embedding and the head
  int positions = 0;  // rows of a learned position embedding; 0: none

  double layer_parameters() const;
  double embedding_parameters() const;  // without the head
  double head_parameters() const;       // 0 where tied
  double parameters() const;
};

// Operations of one token, forward: 2 for each multiplication of a matrix product. The score and value products of
// attention count whole, as the field's MFU does, causal or not.
double forward_flops(const Transformer& model);
// Forward and backward, without recomputation (Narayanan et al. 2021, section 5.1, without its recomputed pass).
double training_flops(const Transformer& model);

}  // namespace ridge::network
