// What one rank of a pipeline holds, for entry.cu and check.cpp: which blocks, which parameters, how much memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nn/layout.hpp"

namespace pipeline {

// Sizes of a case, in this order; the model has ranks * chunks * blocks blocks.
enum Size { kMicroBatches, kChunks, kBlocks, kBatch, kSequence, kChannels, kHeads, kVocabulary };

enum class Schedule { gpipe, one_f_one_b };  // the latter with one chunk, or interleaved with more

struct Shard {
  int ranks, rank;                // p, r
  int micro_batches;              // m
  int chunks, blocks;             // v, and blocks of each
  int batch, sequence;            // B, T of a micro-batch
  nn::ModelConfig model;          // all of it
  int slots, boxes;               // see pipeline.hpp
  std::vector<nn::Range> ranges;  // of the model's flat buffer, in the order in which they lie in the shard's
  std::size_t elements = 0;       // of the shard's

  std::size_t rows() const { return static_cast<std::size_t>(batch) * sequence; }
  std::size_t message() const { return rows() * model.channels; }  // elements of (B, T, C)
  bool has_first() const { return rank == 0; }
  bool has_last() const { return rank + 1 == ranks; }
  int first_block(int chunk) const { return (chunk * ranks + rank) * blocks; }
};

// Micro-batches (times chunks) whose activations rank `rank` holds at most.
inline int in_flight(Schedule schedule, int p, int m, int v, int rank) {
  if (schedule == Schedule::gpipe) return m * v;
  return std::min(m * v, v == 1 ? p - rank : 2 * (p - rank - 1) + (v - 1) * p + 1);
}

inline Shard shard_of(Schedule schedule, const std::int64_t* size, int ranks, int rank) {
  auto at = [&](Size s) { return static_cast<int>(size[s]); };
  Shard s{ranks, rank, at(kMicroBatches), at(kChunks), at(kBlocks), at(kBatch), at(kSequence), {}, 0, 0, {}};
  s.model = {at(kVocabulary), at(kSequence), ranks * s.chunks * s.blocks, at(kHeads), at(kChannels), false};
  s.slots = in_flight(schedule, ranks, s.micro_batches, s.chunks, rank);
  s.boxes = s.slots + 1;
  const nn::ParameterLayout layout = nn::parameter_layout(s.model);
  // In the order of the model's buffer: the head, blocks from the last one, embeddings.
  if (s.has_last()) s.ranges.push_back(layout.head);
  for (int c = s.chunks - 1; c >= 0; --c)
    for (int b = s.blocks - 1; b >= 0; --b)
      s.ranges.push_back(layout.blocks[static_cast<std::size_t>(s.first_block(c) + b)]);
  if (s.has_first()) s.ranges.push_back(layout.embeddings);
  for (const nn::Range& r : s.ranges) s.elements += r.end - r.begin;
  return s;
}

// Bytes of the workspace, whose parts lie in this order.
struct Memory {
  std::size_t slot, box, scratch;
  std::size_t total(const Shard& s) const {
    return slot * static_cast<std::size_t>(s.slots) + box * static_cast<std::size_t>(s.boxes) + scratch;
  }
};

inline Memory memory_of(const Shard& s) {
  const std::size_t N = s.rows(), C = s.model.channels, F = s.model.hidden(), H = s.model.heads, T = s.sequence;
  const std::size_t Vp = s.model.padded_vocabulary(), b = s.blocks;
  auto bytes = [](std::size_t floats) { return (floats * sizeof(float) + 255) / 256 * 256; };
  // Of each block: layer norms and their inputs, qkv, P, attention's output, the MLP before and after GELU.
  const std::size_t block = 4 * bytes(N * C) + bytes(3 * N * C) + bytes(N * H * T) + 2 * bytes(N * F) + 4 * bytes(N);
  Memory m{};
  m.slot = b * block + (b - 1) * bytes(N * C);
  if (s.has_last()) m.slot += 2 * bytes(N * C) + bytes(N * Vp) + 3 * bytes(N);
  m.box = 2 * bytes(N * C);
  m.scratch = bytes(N * F) + bytes(3 * N * C) + bytes(N * C) + bytes(H * T * T) + bytes(2 * 64 * std::max(F, 3 * C));
  return m;
}

}  // namespace pipeline
