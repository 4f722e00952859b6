// Contract of lab 10. Each task is one host function; you own the kernels behind it and how they are launched.
//
// All arrays are on the device and begin at a multiple of 128 bytes. Work goes on `stream`; nothing may be read back to the
// host, which waits for nothing: what happens next is decided on the device. What `workspace` holds at a call is undefined. Helpers belong into an
// unnamed namespace: the files are linked together.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

// The gradient of a bias, or any sum over the rows of a matrix: out[c] = in[0][c] + ... + in[rows - 1][c].
//   in         rows x cols bf16, row-major; rows >= 1, cols a multiple of 8
//   out        cols floats, as exact as sums in fp32 are
//   workspace  at least 4096 * cols bytes
void sum(const __nv_bfloat16* in, float* out, int rows, int cols, void* workspace, std::size_t workspace_bytes,
         cudaStream_t stream);

// State of dynamic loss scaling. It lives on the device.
struct LossScale {
  float scale;     // that the next gradients are multiplied by: a power of two
  float unscale;   // that the last gradients must be multiplied by: 1 / the scale that they carry
  int good_steps;  // since the scale last changed
  int updates;     // made so far, the one with the last gradients included
  int skip;        // 1: among the last gradients is an inf or a NaN, and they must not be used. Else 0
};

// One step of AdamW (Loshchilov and Hutter 2019):
//   g  = gradient * state->unscale
//   m' = beta1 m + (1 - beta1) g
//   v' = beta2 v + (1 - beta2) g^2
//   w' = w - rate (m' / (1 - beta1^t) / (sqrt(v' / (1 - beta2^t)) + epsilon) + decay w),  t = state->updates
// and weights[i] = w' rounded to the nearest number of type W, ties to even. Where state->skip is 1, w' = w, m' = m and v' = v.
struct AdamWStep {
  float rate, beta1, beta2, epsilon, decay;
};

// For <G, W> = <bf16, bf16> and <float, __half>.
//   gradient           n numbers
//   w, m, v            n floats each: the master weights and the moments
//   new_w, new_m, new_v  n floats each; each of them may be the old one
//   weights            n numbers: what the next forward pass reads
//   state              may be that of loss_scaler, below
template <class G, class W>
void adamw(const G* gradient, const float* w, const float* m, const float* v, float* new_w, float* new_m, float* new_v,
           W* weights, std::size_t n, const AdamWStep& step, const LossScale* state, cudaStream_t stream);

// Weights without a master copy: out[i] = in[i] - update[i] (a float), rounded to one of the two bf16 next to it: to the upper
// one with a probability of its distance from the lower one over the distance of the two. A difference that is a bf16 stays.
// Random numbers of different elements, steps and seeds are independent of each other, and a function of these three alone.
//   in, out  n bf16; out may be in
//   update   n floats; all differences are finite
//   workspace  of no size that is promised
void stochastic(const __nv_bfloat16* in, const float* update, __nv_bfloat16* out, std::size_t n, std::uint64_t seed,
                std::uint32_t step, void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): 128 random bits for each counter and key, and no state. Neighbouring
// counters give bits as unrelated as any others.
__host__ __device__ inline uint4 philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter.x, b = std::uint64_t{0xCD9E8D57u} * counter.z;
    counter = make_uint4(static_cast<std::uint32_t>(b >> 32) ^ counter.y ^ key.x, static_cast<std::uint32_t>(b),
                         static_cast<std::uint32_t>(a >> 32) ^ counter.w ^ key.y, static_cast<std::uint32_t>(a));
    key.x += 0x9E3779B9u, key.y += 0xBB67AE85u;
  }
  return counter;
}

// What the loss scale does after each step. `state`: what it was when the gradients were made; `next`: what it is for the
// optimizer now, and for the gradients to come. `next` may be `state`.
//   next->unscale = 1 / state->scale
//   next->skip = 1 where any gradient is an inf or a NaN: then next->scale = state->scale / 2, not below kLeastScale, and
//     next->good_steps = 0
//   else good_steps and updates are one more; where good_steps makes `interval`, it is 0 again, and the scale doubles, not
//     above kMostScale
// For G = __half and float.
//   gradient   n numbers
//   workspace  at least 64 KiB
constexpr float kLeastScale = 1, kMostScale = 0x1p40f;
template <class G>
void loss_scaler(const G* gradient, std::size_t n, const LossScale* state, LossScale* next, int interval,
                 void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

// A GPT that trains in fp16 (runtime/nn), as task `train` sees it. Arrays of one number for each parameter, in one order.
struct Model {
  std::size_t elements;
  float *master, *gradients, *m, *v;
  __half* weights;  // that forward and backward read
  struct Tensor {
    std::size_t first, size;
    bool decay;  // weight decay is for matrices
  };
  std::vector<Tensor> tensors;  // elements between them, if any, belong to no one, and all their numbers are 0

  int steps, micro_batches;  // of the training run; of one step
  struct Batches* batches;
};

// Forward and backward pass of one micro-batch, on the model's stream. Adds the gradient of the step's mean loss, times *scale
// (on the device), to `gradients`, and this micro-batch's part of that mean to *loss (on the device). Of the course.
void forward_backward(Model& model, int step, int micro_batch, const float* scale, float* loss);

struct TrainOptions {
  float rate, beta1, beta2, epsilon, decay;
  float clip;    // the largest norm of the (unscaled) gradient
  int interval;  // of the loss scale
};

// A training run. For step k = 0, 1, ..., model.steps - 1: the gradient of all micro-batches at the loss scale of states[k]; its
// norm; states[k + 1] as of loss_scaler, but with next->unscale = c / state->scale, c = 1, or clip / norm where the
// norm of the unscaled gradient is above `clip` (a skipped step's unscale may hold anything); one step of AdamW with it.
//   states     states[0] is given; states[1] to states[model.steps] are yours
//   losses     model.steps floats: each step's mean loss; at the call they hold anything
//   workspace  at least 64 KiB
void train(Model& model, const TrainOptions& options, LossScale* states, float* losses, void* workspace,
           std::size_t workspace_bytes, cudaStream_t stream);
