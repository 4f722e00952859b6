// Contract of lab 13. Each task is one host function. All ranks of a task call it, in the same order, each with its own data.
//
// All work must have ended, or be ordered before the end of `stream`, when the function returns. Streams, events and communicators may
// be made once and kept (function-local `static thread_local`: ranks may be threads). The number of ranks p is 1, 2, 4 or 8 in zero2 and zero3. `workspace` is device memory,
// undefined at each call, and the only memory that a task has: cudaMalloc is forbidden. Helpers belong into an unnamed namespace: the
// files are linked together.
#pragma once
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "nn/config.hpp"
#include "nn/layout.hpp"

// What is trained, and how its state is shared out among p ranks.
struct Setup {
  nn::ModelConfig model;
  int sequence;  // T
  bool bf16;     // weights and activations have 2 bytes, and the optimizer keeps fp32 weights too; false: all is fp32
  int ranks;     // p
  int stage;     // of ZeRO. 0: nothing is sharded; 1: the optimizer's state; 2: gradients, too; 3: weights, too
};

// Bytes on one rank between two steps; activations as backward begins.
struct Memory {
  std::int64_t weights, gradients, optimizer, activations;
  std::int64_t total() const { return weights + gradients + optimizer + activations; }
};

// Each array lies in memory of its own, a multiple of 256 bytes, as cudaMalloc gives. A sharded array of n elements has n / p on each rank,
// rounded up. n = nn::parameter_layout(model).elements: with the model's own padding.
//   weights      n, of 2 or 4 bytes
//   gradients    n in fp32
//   optimizer    m and v, n in fp32 each; with bf16 also n weights in fp32
//   activations  the arrays of the lesson's table, for `batch` sequences
Memory memory_plan(const Setup& setup, int batch);
// The largest batch with which all four fit into `bytes`; 0 where not even one sequence does.
int largest_batch(const Setup& setup, std::int64_t bytes);

// Sequences of T tokens, and for each token the one that follows it. Device memory, (sequences, T) each.
struct Batch {
  const int *tokens, *targets;
  int sequences;
};

// The course's GPT in fp32, one unit at a time, with weights and gradients in buffers of the caller. Unit 0 has what lies outside of the blocks:
// both embeddings and the final layer norm (the head's matrix is the token embedding). Units 1 to L are the blocks. Everything goes
// into the stream that the task is given, and nothing here waits for the device.
class Model {
 public:
  int blocks() const;                 // L
  std::size_t size(int unit) const;   // floats, a multiple of 64; all blocks have as many
  std::size_t begin(int unit) const;  // where the unit begins in a flat buffer of all units: 0, 1, ..., L
  std::size_t elements() const;       // n, floats of all units
  int tokens_of_sequence() const;     // T

  // A step calls these in this order: embed, forward of units 1 to L, head, backward of units L to 1, embed_backward.
  // `weights` and `gradients` are those of the unit alone: size(unit) floats. Gradients are ADDED.
  void embed(const float* weights0, const Batch& batch);
  void forward(int unit, const float* weights, const Batch& batch);
  // Forward and backward of the final layer norm, the head and the loss, which is `scale` times the SUM of the tokens' cross entropies.
  void head(const float* weights0, float* gradients0, const Batch& batch, float scale);
  void backward(int unit, const float* weights, float* gradients, const Batch& batch);
  void embed_backward(float* gradients0, const Batch& batch);

  // The same with weights in bf16, which the model widens to fp32 in memory of its own.
  void embed(const __nv_bfloat16* weights0, const Batch& batch);
  void forward(int unit, const __nv_bfloat16* weights, const Batch& batch);
  void head(const __nv_bfloat16* weights0, float* gradients0, const Batch& batch, float scale);
  void backward(int unit, const __nv_bfloat16* weights, float* gradients, const Batch& batch);

  // Of the course's entry.cu.
  Model(const nn::ModelConfig& model, int sequence, int most_sequences, cudaStream_t stream);
  ~Model();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Adam with decoupled weight decay, as in lab 07:
//   m = beta1 m + (1 - beta1) g      v = beta2 v + (1 - beta2) g^2
//   w -= rate * (m * correction1 / (sqrt(v * correction2) + epsilon) + decay * w)
struct AdamW {
  float rate, beta1, beta2, epsilon, decay, correction1, correction2;  // corrections: 1 / (1 - beta^t)
};

// The own part of unit u on rank r: elements [r size(u) / p, (r + 1) size(u) / p) of the unit. An own buffer has the own parts of all
// units one after another, n / p floats; that of unit u begins at begin(u) / p.
//
// ZeRO, stage 2. A step of training: gradients of the mean loss over all_tokens, the tokens of all ranks, and AdamW.
//   weights    n floats, the same on all ranks; on return the updated ones, the same bits on all ranks
//   gradients  own buffer, undefined on entry; on return the own parts of the gradient
//   m, v       own buffers, updated
//   workspace  the gradients of unit 0 and of two blocks: zero2_workspace(model) bytes
inline std::size_t zero2_workspace(const Model& model) { return (model.size(0) + 2 * model.size(1)) * sizeof(float); }
void zero2(Model& model, float* weights, const Batch& batch, long long all_tokens, const AdamW& adam, float* gradients,
           float* m, float* v, void* workspace, std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream);

// ZeRO, stage 3, in mixed precision: the same step, and no rank has all weights. Each rank rounds its own part to bf16 once, and kernels
// compute with the rounded weights; gradients, moments and the own weights stay fp32. A unit's weights are gathered in bf16 before their
// use; those of unit 0 stay for the whole step, those of a block until its buffer is needed for another one. Blocks 1 to L are gathered
// in forward. In backward the last three are still in their buffers, and the others are gathered again.
//   weights    own buffer, fp32, updated
//   gradients, m, v  as in zero2
//   workspace  fp32: gradients of unit 0 and of two blocks; then bf16: the own buffer, unit 0, three blocks: zero3_workspace(model, p) bytes
inline std::size_t zero3_workspace(const Model& model, int p) {
  const std::size_t fp32 = model.size(0) + 2 * model.size(1);
  return 4 * fp32 + 2 * (model.elements() / static_cast<std::size_t>(p) + model.size(0) + 3 * model.size(1));
}
void zero3(Model& model, float* weights, const Batch& batch, long long all_tokens, const AdamW& adam, float* gradients,
           float* m, float* v, void* workspace, std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream);

// What the activations of a block take, and how long its forward runs.
struct Cost {
  std::int64_t bytes;         // a multiple of 2^20, at most 2^28
  std::int64_t microseconds;  // at most 2000
};
// Chooses which of `count` blocks keep their activations from forward to backward (at most 64 blocks). Each other block runs its forward
// again just before its backward, one at a time, in memory that all of these share: as much as the largest of them needs. Kept
// activations and the shared memory must fit into `budget` bytes, a multiple of 2^20 and at most 2^34, and the time of all second forwards must be the
// least possible. On the host. Returns false where nothing fits; else writes keep[0] to keep[count - 1].
bool recompute(const Cost* blocks, int count, std::int64_t budget, bool* keep);

// A flat state of n elements on p ranks; p and n may be any. part = (n + p - 1) / p. Rank r has elements r part to (r + 1) part; those from n on
// are padding. A rank's file has weights, then m, then v of its elements, without padding: 3 * own_count(n, p, r) floats.
inline std::size_t part_of(std::size_t n, int p) {
  return (n + static_cast<std::size_t>(p) - 1) / static_cast<std::size_t>(p);
}
inline std::size_t own_count(std::size_t n, int p, int r) {
  const std::size_t part = part_of(n, p), first = static_cast<std::size_t>(r) * part;
  return first >= n ? 0 : n - first < part ? n - first : part;
}

// Scales the gradient so that its norm is at most max_norm, and writes the file.
//   gradients  part floats: multiplied by max_norm / norm where norm > max_norm; padding, of any value, stays as it is
//   weights, m, v  part floats each, of which the padding has any value
//   norm       one float: the Euclidean norm of the n elements of all ranks' gradients, the same bits on all ranks
//   file       3 * own_count(n, p, r) floats
//   workspace  4096 bytes
void clip_and_save(float* gradients, const float* weights, const float* m, const float* v, std::size_t n,
                   float max_norm, float* norm, float* file, void* workspace, std::size_t workspace_bytes,
                   ncclComm_t comm, cudaStream_t stream);
// Reads what q ranks have saved; q may be p. files: q pointers to device memory, in an array of the host; each rank sees all files.
//   weights, m, v  part floats each, undefined on entry; on return the elements, and 0 in the padding
void load_state(const float* const* files, int q, std::size_t n, float* weights, float* m, float* v, ncclComm_t comm,
                cudaStream_t stream);
