// What kernels other than products and attention cost, as measured on an H200. benchmarks/simulate/fit_gpu.py derives
// each figure from benchmarks/simulate/h200/gpu_profile.json, and a test compares.
#pragma once

namespace ridge::network::cost {

// Time of a layer's element-wise kernels, over that of a copy of the bytes that they need at least: compiled by
// PyTorch, the mean of Llama and GPT; launched one by one, layer norm and GELU; likewise, RMS norm and rotation, which
// make floats; and these with RMS norm in one kernel.
constexpr double kFused = 1.5, kUnfused = 1.9, kUnfusedFloats = 5.9, kFusedNorms = 2.9;

// The others are bytes of a copy that takes as long. Of an element of the loss: compiled, which reads bf16 logits twice
// and writes their gradient; and where logits become floats, whose maximum, exponential and sum are kernels of their
// own.
constexpr double kLossForward = 5.4, kLossBackward = 5, kFloatLossForward = 28, kFloatLossBackward = 26;
// Of an operand that is cast to fp8 with a scale for each tensor: read for its largest magnitude, read again and
// written; and its transposed copy.
constexpr double kCast = 5.8, kTranspose = 3;
// Of a parameter, besides its gradient: AdamW in one kernel, the norm and scaling of gradients, the weight as bf16.
constexpr double kAdamW = 34, kNormAndScale = 15, kWeightToBf16 = 7;

// By which kernels take longer while NCCL's run: a product of 16384 x 14336 x 4096 beside 16 blocks that copy. That
// NCCL has 16 is assumed.
constexpr double kShareOfCollectives = 0.18;

// Counted, not measured. Bytes of a weight's gradient that several micro-batches add up as a float, over those of one
// in bf16; that reading takes as long as writing is assumed.
constexpr double kAccumulated = 4 + 4 - 2;
// Bytes that AdamW's eight kernels (decay, two moments in three, root, correction, epsilon, sum) move, over those of
// one.
constexpr double kUnfusedAdamW = 80 - 28;

}  // namespace ridge::network::cost
