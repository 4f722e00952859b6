// Shapes of a GPT, and how it is trained. Letters as everywhere in this folder: B batch, T sequence, C channels, H
// heads, V vocabulary, L layers. Named models: `tiny` trains on the emulator in seconds, the others are for GPUs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace nn {

struct ModelConfig {
  int vocabulary = 64;  // V
  int context = 32;     // T: the longest sequence, rows of the position embedding
  int layers = 2;       // L
  int heads = 4;        // H
  int channels = 64;    // C, a multiple of H
  // The LM head is the token embedding (as in GPT-2: a third fewer parameters at 124M). Without it the head has a
  // matrix of its own, and the first and the last stage of a pipeline share nothing.
  bool tied = true;

  int head_size() const { return channels / heads; }
  int hidden() const { return 4 * channels; }
  // Vp: rows of the embedding in memory. Tensor cores want rows of logits that start at multiples of 16 bytes, and the
  // fastest tiles are 128 wide; the rows beyond V are never the target and get no probability.
  int padded_vocabulary() const {
    const int unit = vocabulary >= 1024 ? 128 : 8;
    return (vocabulary + unit - 1) / unit * unit;
  }
};

struct TrainConfig {
  int batch = 4;            // B, sequences of one forward pass
  int sequence = 32;        // T of the batches, at most `context`
  int accumulate = 1;       // forward and backward passes whose gradients are summed before one update
  bool checkpoint = false;  // keep only each block's input, and compute the block again in backward
  bool fused = false;       // attention in one kernel, whose scores are never in memory; 16-bit activations only
  bool tf32 = false;        // fp32 products on tensor cores, with ten bits of mantissa: TF32
  float learning_rate = 3e-3f;
  int warmup = 10;  // steps over which the learning rate rises linearly
  int steps = 200;  // it falls along a cosine to a tenth at this step
  float beta1 = 0.9f, beta2 = 0.95f, epsilon = 1e-8f, weight_decay = 0.1f;
  // Factor of the loss at the start, for fp16: small gradients would be 0 in it. Halved where a gradient overflows
  // (that update is left out), doubled after `scale_interval` updates without (Micikevicius et al., "Mixed precision
  // training", 2018).
  float loss_scale = 1;
  int scale_interval = 0;  // 0: the scale stays as it is, and no update is left out
  float clip = 1.0f;       // largest norm of the gradient; 0: not clipped
  std::uint64_t seed = 1;  // seed of the initial weights and of the batches
};

// Throws where the numbers do not fit each other.
inline void validate(const ModelConfig& m, const TrainConfig& t) {
  auto need = [](bool good, const std::string& what) {
    if (!good) throw std::invalid_argument("nn: " + what);
  };
  need(m.vocabulary >= 2 && m.context >= 1 && m.layers >= 1 && m.heads >= 1 && m.channels >= 1,
       "vocabulary, context, layers, heads and channels must be positive");
  need(m.channels % m.heads == 0,
       "channels (" + std::to_string(m.channels) + ") must be a multiple of heads (" + std::to_string(m.heads) + ")");
  need(t.batch >= 1 && t.accumulate >= 1, "batch and accumulate must be positive");
  need(t.sequence >= 1 && t.sequence <= m.context,
       "sequence (" + std::to_string(t.sequence) + ") must be 1 to context (" + std::to_string(m.context) + ")");
}

inline ModelConfig model_config(const std::string& name) {
  if (name == "tiny") return {64, 32, 2, 4, 64, true};
  if (name == "bytes") return {256, 64, 2, 4, 64, true};
  if (name == "gpt2-124m") return {50257, 1024, 12, 12, 768, true};
  if (name == "gpt-1.3b") return {50257, 2048, 24, 16, 2048, true};
  throw std::invalid_argument("nn: no model is called " + name + "; there are tiny, bytes, gpt2-124m and gpt-1.3b");
}

}  // namespace nn
