// Task `resume`: the arithmetic of the training run, which the judge repeats.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#ifdef __CUDA_RUNTIME_H__
#define ON_BOTH __host__ __device__ inline
#else
#define ON_BOTH inline
#endif

constexpr int kBatch = 4;                               // samples of a step
constexpr int kGrowAfter = 7;                           // steps without an overflow
constexpr float kFirstScale = 65536, kLargest = 65504;  // of the loss scale; of fp16

ON_BOTH std::uint32_t bits_of(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 32);
}
// In [-1, 1).
ON_BOTH float uniform(std::uint64_t seed, std::uint64_t i) {
  return static_cast<float>(static_cast<std::int32_t>(bits_of(seed, i))) * 0x1p-31f;
}

// What one step draws and looks up: the same for all elements.
struct StepInput {
  std::uint32_t mask = 0;   // of dropout
  float noise = 0;          // of the targets
  int sample[kBatch] = {};  // of the data set
  float scale = 0, rate = 0, correct_m = 0, correct_v = 0;
};
// The gradient of element i, times the loss scale.
ON_BOTH float gradient_of(const StepInput& in, float weight, int i) {
  if (bits_of(in.mask, static_cast<std::uint64_t>(i)) % 8 == 0) return 0;  // dropped
  float sum = 0;
  for (int s = 0; s < kBatch; ++s)
    sum += weight - uniform(static_cast<std::uint64_t>(in.sample[s]), static_cast<std::uint64_t>(i));
  return (sum / kBatch + 0.1f * in.noise) * in.scale;
}
// AdamW of one element. g: without the scale.
ON_BOTH void adamw(const StepInput& in, float g, float& w, float& m, float& v) {
  m = 0.9f * m + 0.1f * g;
  v = 0.99f * v + 0.01f * g * g;
  w -= in.rate * (m * in.correct_m / (sqrtf(v * in.correct_v) + 1e-8f) + 0.01f * w);
}

// The part of a trainer's state that lies in host memory.
struct HostState {
  long long step = 0;                 // steps that were made
  long long updates = 0;              // of the weights: steps without an overflow
  float scale = kFirstScale;          // the loss scale
  int good_steps = 0;                 // since the scale changed
  std::uint64_t random = 0;           // state of the random numbers, for dropout and noise
  float spare = 0;                    // normal numbers come in pairs: the second one,
  bool has_spare = false;             // if it is there
  long long epoch = 0, position = 0;  // samples of the epoch that were taken
  std::vector<int> order;             // of the epoch's samples: begin_epoch() makes it from seed and epoch
};

inline std::uint32_t next_bits(HostState& s) {
  return bits_of(0x5eed, s.random = s.random * 6364136223846793005u + 1442695040888963407u);
}
// Box and Muller (1958).
inline float next_normal(HostState& s) {
  if (s.has_spare) return s.has_spare = false, s.spare;
  const double u = (next_bits(s) + 1.0) * 0x1p-32, angle = next_bits(s) * 0x1p-32 * 6.283185307179586;
  const double r = std::sqrt(-2 * std::log(u));
  s.spare = static_cast<float>(r * std::sin(angle)), s.has_spare = true;
  return static_cast<float>(r * std::cos(angle));
}
inline void begin_epoch(HostState& s, int samples, std::uint64_t seed) {
  s.order.resize(static_cast<std::size_t>(samples));
  for (int i = 0; i < samples; ++i) s.order[static_cast<std::size_t>(i)] = i;
  for (int i = samples; i > 1; --i)
    std::swap(s.order[static_cast<std::size_t>(i) - 1],
              s.order[bits_of(seed + static_cast<std::uint64_t>(s.epoch), static_cast<std::uint64_t>(i)) %
                      static_cast<std::uint32_t>(i)]);
}
// Draws a step's inputs; step, random numbers and data position move on.
inline StepInput begin_step(HostState& s, int samples, std::uint64_t seed) {
  StepInput in;
  in.mask = next_bits(s);
  in.noise = next_normal(s);
  for (int& sample : in.sample) {
    sample = s.order[static_cast<std::size_t>(s.position++)];
    if (s.position == samples) ++s.epoch, s.position = 0, begin_epoch(s, samples, seed);
  }
  ++s.step;
  const auto t = static_cast<double>(s.updates + 1);
  in.scale = s.scale;
  in.rate = static_cast<float>(0.05 * std::min(1.0, static_cast<double>(s.step) / 10) *
                               std::pow(0.98, static_cast<double>(s.step)));
  in.correct_m = static_cast<float>(1 / (1 - std::pow(0.9, t)));
  in.correct_v = static_cast<float>(1 / (1 - std::pow(0.99, t)));
  return in;
}
inline void end_step(HostState& s, bool overflow) {
  if (overflow) {
    s.scale /= 2, s.good_steps = 0;
    return;
  }
  ++s.updates;
  if (++s.good_steps == kGrowAfter) s.scale *= 2, s.good_steps = 0;
}
