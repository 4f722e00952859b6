// A GPU, as far as the time of training kernels depends on it.
#pragma once
#include <string>

namespace ridge::network {

enum class Precision { bf16, fp8 };
// unfused: the T x T scores pass through memory. flash: FlashAttention-2. cudnn: the fused attention of cuDNN.
enum class Attention { unfused, flash, cudnn };

// Fused attention on causal sequences; half of each square counts.
struct AttentionRate {
  double flops = 0;  // flop/s on long sequences of many heads; 0: there is none
  double half = 0;   // tokens of the sequence that reaches half of it
  double waves = 0;  // likewise, waves of blocks of 128 queries over the SMs
};
struct AttentionRates {
  AttentionRate forward, backward;
};

struct Gpu {
  std::string title;
  int sms = 0;
  double bf16_flops = 0, fp8_flops = 0;  // flop/s of the data sheet, dense; fp8 0: none
  double product_efficiency = 0;         // of it, that large products reach hour after hour, at the limit of power
  double fp8_efficiency = 0;             // of what its efficiency in bf16 would be
  double product_depth = 0;              // depth k of a product whose cost its start and its end have
  // The SMs' highest clock over the one at which power holds them in large products. SMs that wait for the last wave of
  // tiles draw little power, and the others run at up to this clock.
  double clock_boost = 1;
  AttentionRates flash, cudnn;
  double memory_bandwidth = 0;  // B/s that a copy reaches
  double memory_bytes = 0;
  double kernel_seconds = 0;  // start and end of a small kernel in a stream
  double speed_spread = 0;    // standard deviation of the speed from GPU to GPU, of its mean
  double speed_jitter = 0;    // likewise from pass to pass on one GPU, as its clock follows the limit of power
};

// Seconds of an (m, k) x (k, n) product: its operations at the limit of power; or whole tiles, in waves over the SMs at
// the highest clock; or its bytes; whichever takes longest. fp8 needs a GPU that has it.
double product_seconds(const Gpu& gpu, double m, double n, double k, Precision precision);
// How much longer kernels of the slowest of so many GPUs take, of the mean; speeds are normally distributed. In tensor
// groups each collective waits for the slowest of the moment too.
double slowest_of(const Gpu& gpu, int ranks, int tensor = 1);
// flop/s of so many heads, of all sequences together.
double attention_rate(const Gpu& gpu, Attention attention, int sequence, double heads, bool backward);
// Seconds of a kernel that moves so many bytes.
double memory_seconds(const Gpu& gpu, double bytes);

}  // namespace ridge::network
