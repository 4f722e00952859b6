// What each rank of the grid holds of the model, for entry.cu and check.cpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "nn/layout.hpp"

namespace shards {

// A case's numbers, packed into eight.
struct Run {
  int data, pipeline, tensor;
  int blocks;         // of a stage
  int micro_batches;  // m
  int batch, sequence;
  int channels, heads, vocabulary;
  int kind;  // 0: the norm is below the limit; 1: above it; 2: a gradient overflows

  explicit Run(const std::int64_t* size)
      : data(static_cast<int>(size[0])),
        pipeline(static_cast<int>(size[1])),
        tensor(static_cast<int>(size[2])),
        blocks(static_cast<int>(size[3])),
        micro_batches(static_cast<int>(size[4])),
        batch(high(size[5])),
        sequence(low(size[5])),
        channels(high(size[6])),
        heads(low(size[6])),
        vocabulary(high(size[7])),
        kind(low(size[7])) {}
  static std::int64_t pair(std::int64_t a, std::int64_t b) { return a << 16 | b; }
  nn::ModelConfig model() const { return {vocabulary, sequence, pipeline * blocks, heads, channels, true}; }
  std::size_t rows() const { return static_cast<std::size_t>(batch) * static_cast<std::size_t>(sequence); }
  std::size_t tokens() const { return static_cast<std::size_t>(micro_batches) * rows(); }  // of a replica
  float max_norm() const { return kind == 1 ? 0.05f : 1e4f; }
  float loss_scale() const { return kind == 2 ? 0x1p123f : 1024.0f; }
  static constexpr float kRate = 0.05f;

 private:
  static int high(std::int64_t x) { return static_cast<int>(x >> 16); }
  static int low(std::int64_t x) { return static_cast<int>(x & 0xffff); }
};

// A tensor of a rank: `outer` blocks of `rows` x `cols` elements, which are rows first_row.. and columns first_col.. of
// blocks of whole_rows x whole_cols in the model's flat buffer.
struct Piece {
  std::string name;
  std::size_t whole, place;  // where it begins in the flat buffer, and in the rank's
  std::size_t outer, rows, cols, whole_rows, whole_cols, first_row, first_col;
  bool cut, embedding;
  std::size_t count() const { return outer * rows * cols; }
  // Of element i of this piece, in the flat buffer.
  std::size_t flat(std::size_t i) const {
    const std::size_t o = i / (rows * cols), r = i / cols % rows, c = i % cols;
    return whole + (o * whole_rows + first_row + r) * whole_cols + first_col + c;
  }
};

struct Shard {
  std::vector<Piece> pieces;
  std::vector<nn::BlockTensors<std::size_t>> blocks;  // places in the rank's buffer
  std::size_t wte = 0, wpe = 0, gamma = 0, beta = 0;
  std::size_t elements = 0;

  // stage, part: the rank's pipeline and tensor coordinates.
  Shard(const Run& run, const nn::ParameterLayout& layout, int stage, int part) {
    const auto C = static_cast<std::size_t>(run.channels), F = 4 * C, t = static_cast<std::size_t>(run.tensor),
               k = static_cast<std::size_t>(part);
    const auto Vp = static_cast<std::size_t>(run.model().padded_vocabulary()),
               T = static_cast<std::size_t>(run.sequence);
    const bool first = stage == 0, last = stage + 1 == run.pipeline;
    auto add = [&](const std::string& name, std::size_t whole, std::size_t rows, std::size_t cols,
                   bool embedding = false) {
      return push({name, whole, 0, 1, rows, cols, rows, cols, 0, 0, false, embedding});
    };
    auto by_rows = [&](const std::string& name, std::size_t whole, std::size_t outer, std::size_t rows,
                       std::size_t cols) {
      return push({name, whole, 0, outer, rows / t, cols, rows, cols, k * (rows / t), 0, true, false});
    };
    auto by_columns = [&](const std::string& name, std::size_t whole, std::size_t rows, std::size_t cols) {
      return push({name, whole, 0, 1, rows, cols / t, rows, cols, 0, k * (cols / t), true, false});
    };
    if (last)
      gamma = add("final_gamma", layout.at.final_gamma, 1, C), beta = add("final_beta", layout.at.final_beta, 1, C);
    for (int b = 0; b < run.blocks; ++b) {
      const int l = stage * run.blocks + b;
      const auto& at = layout.at.blocks[static_cast<std::size_t>(l)];
      const std::string name = "block" + std::to_string(l) + ".";
      nn::BlockTensors<std::size_t> to{};
      to.ln1_gamma = add(name + "ln1_gamma", at.ln1_gamma, 1, C),
      to.ln1_beta = add(name + "ln1_beta", at.ln1_beta, 1, C);
      to.qkv_w = by_rows(name + "qkv_w", at.qkv_w, 3, C, C), to.qkv_b = by_rows(name + "qkv_b", at.qkv_b, 3, C, 1);
      to.proj_w = by_columns(name + "proj_w", at.proj_w, C, C), to.proj_b = add(name + "proj_b", at.proj_b, 1, C);
      to.ln2_gamma = add(name + "ln2_gamma", at.ln2_gamma, 1, C),
      to.ln2_beta = add(name + "ln2_beta", at.ln2_beta, 1, C);
      to.fc_w = by_rows(name + "fc_w", at.fc_w, 1, F, C), to.fc_b = by_rows(name + "fc_b", at.fc_b, 1, F, 1);
      to.fc2_w = by_columns(name + "fc2_w", at.fc2_w, C, F), to.fc2_b = add(name + "fc2_b", at.fc2_b, 1, C);
      blocks.push_back(to);
    }
    if (first) wpe = add("wpe", layout.at.wpe, T, C);
    if (first || last) wte = add("wte", layout.at.wte, Vp, C, true);
  }

 private:
  std::size_t push(Piece piece) {
    piece.place = elements;
    elements += (piece.count() + 63) / 64 * 64;
    pieces.push_back(piece);
    return piece.place;
  }
};

// Bytes of activations that a rank keeps: those of m micro-batches.
struct Memory {
  std::size_t slot, box, scratch;  // of one micro-batch; of its input and output; shared
  std::size_t total(const Run& run) const {
    return static_cast<std::size_t>(run.micro_batches) * (slot + box) + scratch;
  }
};
inline Memory memory_of(const Run& run, int stage) {
  const std::size_t N = run.rows(), C = static_cast<std::size_t>(run.channels),
                    T = static_cast<std::size_t>(run.sequence);
  const std::size_t t = static_cast<std::size_t>(run.tensor), A = C / t, F = 4 * C / t,
                    H = static_cast<std::size_t>(run.heads) / t;
  const auto Vp = static_cast<std::size_t>(run.model().padded_vocabulary()), b = static_cast<std::size_t>(run.blocks);
  auto bytes = [](std::size_t floats) { return (floats * sizeof(float) + 255) / 256 * 256; };
  const std::size_t block =
      3 * bytes(N * C) + bytes(3 * N * A) + bytes(N * H * T) + bytes(N * A) + 2 * bytes(N * F) + 4 * bytes(N);
  Memory m{};
  m.slot = b * block + (b - 1) * bytes(N * C);
  if (stage + 1 == run.pipeline) m.slot += 2 * bytes(N * C) + bytes(N * Vp) + 3 * bytes(N);
  m.box = 2 * bytes(N * C);
  m.scratch = bytes(N * std::max(F, A)) + bytes(3 * N * A) + bytes(N * C) + bytes(H * T * T) +
              bytes(2 * 64 * std::max({F, 3 * A, C})) + 256;
  return m;
}

}  // namespace shards
