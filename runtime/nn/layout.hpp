// The place of each parameter. All of them are one flat buffer, and their gradients another of the same layout, so that
// an optimizer, a norm or an all-reduce is a loop over floats. The order is that in which backward finishes the
// gradients: the head's first, then the blocks from the last to the first, the embeddings at the end. What is finished
// is always a prefix of the buffer: the buckets of data parallelism are consecutive ranges.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "nn/config.hpp"

namespace nn {

// A block's parameters, by P = const T* (weights), float* (gradients) or std::size_t (places in the flat buffer). A is
// H hs, F the hidden size of the MLP, or a shard's part of them; matrices are (out, in).
template <class P>
struct BlockTensors {
  P ln1_gamma, ln1_beta;  // (C)
  P qkv_w, qkv_b;         // (3 A, C), (3 A): rows of all q, then k, then v
  P proj_w, proj_b;       // (C, A), (C)
  P ln2_gamma, ln2_beta;  // (C)
  P fc_w, fc_b;           // (F, C), (F)
  P fc2_w, fc2_b;         // (C, F), (C)
};
template <class T>
using BlockWeights = BlockTensors<const T*>;
using BlockGradients = BlockTensors<float*>;

template <class P>
struct ModelTensors {
  P head_w;                             // (Vp, C); with a tied head this is wte
  P final_gamma, final_beta;            // (C)
  std::vector<BlockTensors<P>> blocks;  // in the order of forward
  P wpe;                                // (context, C)
  P wte;                                // (Vp, C)
};

struct Parameter {
  std::string name;  // "block3.qkv_w"
  int rows, cols;    // a vector has one row
  std::size_t offset;
  bool decay;       // weight decay is for matrices: it would pull gamma from 1
  float mean, std;  // distribution of the initial values
  std::size_t size() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols); }
};

// Elements [begin, end) of the flat buffers.
struct Range {
  std::size_t begin, end;
};

struct ParameterLayout {
  std::vector<Parameter> parameters;  // ordered as in the buffer
  ModelTensors<std::size_t> at;
  Range head, embeddings;     // with a tied head `head` is the final layer norm only
  std::vector<Range> blocks;  // in the order of forward
  std::size_t elements = 0;   // the buffer's size, padding included
  std::size_t count = 0;      // parameters in the usual sense: V rows of the embedding, no padding
};

inline ParameterLayout parameter_layout(const ModelConfig& m) {
  ParameterLayout out;
  const int C = m.channels, F = m.hidden(), Vp = m.padded_vocabulary();
  // Every tensor starts at a multiple of 64 elements: 128 bytes in bf16, and no vector load is split.
  auto add = [&](std::size_t& place, const std::string& name, int rows, int cols, float mean, float std) {
    place = out.elements;
    out.parameters.push_back({name, rows, cols, place, rows > 1, mean, std});
    out.elements += (out.parameters.back().size() + 63) / 64 * 64;
    out.count += name == "wte" || name == "head_w" ? static_cast<std::size_t>(m.vocabulary) * cols
                                                   : out.parameters.back().size();
  };
  // GPT-2's start. Each of the 2 L branches adds to the residual stream; its last matrix starts smaller, so that the
  // sum does not grow with the depth.
  const float spread = 0.02f, branch = spread / std::sqrt(2.0f * static_cast<float>(m.layers));

  if (!m.tied) add(out.at.head_w, "head_w", Vp, C, 0, spread);
  add(out.at.final_gamma, "final_gamma", 1, C, 1, 0);
  add(out.at.final_beta, "final_beta", 1, C, 0, 0);
  out.head = {0, out.elements};
  out.at.blocks.resize(static_cast<std::size_t>(m.layers));
  out.blocks.resize(static_cast<std::size_t>(m.layers));
  for (int l = m.layers - 1; l >= 0; --l) {
    auto& b = out.at.blocks[static_cast<std::size_t>(l)];
    const std::string name = "block" + std::to_string(l) + ".";
    const std::size_t begin = out.elements;
    add(b.fc2_w, name + "fc2_w", C, F, 0, branch);
    add(b.fc2_b, name + "fc2_b", 1, C, 0, 0);
    add(b.fc_w, name + "fc_w", F, C, 0, spread);
    add(b.fc_b, name + "fc_b", 1, F, 0, 0);
    add(b.ln2_gamma, name + "ln2_gamma", 1, C, 1, 0);
    add(b.ln2_beta, name + "ln2_beta", 1, C, 0, 0);
    add(b.proj_w, name + "proj_w", C, C, 0, branch);
    add(b.proj_b, name + "proj_b", 1, C, 0, 0);
    add(b.qkv_w, name + "qkv_w", 3 * C, C, 0, spread);
    add(b.qkv_b, name + "qkv_b", 1, 3 * C, 0, 0);
    add(b.ln1_gamma, name + "ln1_gamma", 1, C, 1, 0);
    add(b.ln1_beta, name + "ln1_beta", 1, C, 0, 0);
    out.blocks[static_cast<std::size_t>(l)] = {begin, out.elements};
  }
  const std::size_t begin = out.elements;
  add(out.at.wpe, "wpe", m.context, C, 0, spread);
  add(out.at.wte, "wte", Vp, C, 0, spread);
  out.embeddings = {begin, out.elements};
  if (m.tied) out.at.head_w = out.at.wte;
  return out;
}

// The named views of a flat buffer.
template <class E>
ModelTensors<E*> views(const ParameterLayout& layout, E* base) {
  auto block = [&](const BlockTensors<std::size_t>& b) {
    return BlockTensors<E*>{base + b.ln1_gamma, base + b.ln1_beta, base + b.qkv_w,     base + b.qkv_b,
                            base + b.proj_w,    base + b.proj_b,   base + b.ln2_gamma, base + b.ln2_beta,
                            base + b.fc_w,      base + b.fc_b,     base + b.fc2_w,     base + b.fc2_b};
  };
  ModelTensors<E*> out{base + layout.at.head_w, base + layout.at.final_gamma, base + layout.at.final_beta, {},
                       base + layout.at.wpe,    base + layout.at.wte};
  for (const auto& b : layout.at.blocks) out.blocks.push_back(block(b));
  return out;
}

}  // namespace nn
