// Contract of lab 07. Each task is one host function that every rank calls, each with its own data, in the same order.
//
// All must have ended, or be ordered before the end of `stream`, when the function returns. Streams, events and communicators may
// be made once and kept (function-local static); what a call makes and no later call uses must be freed. `workspace` is
// device memory, undefined at each call. The number of ranks p may be 1. Helpers belong into an unnamed namespace: the
// files are linked together.
#pragma once
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "nn/config.hpp"
#include "nn/layout.hpp"

// Elements [begin, end) of the flat buffers of weights and gradients.
using nn::Range;

// Sequences of T tokens, and for each token the one that follows it. Device memory, (sequences, T) each.
struct Batch {
  const int *tokens, *targets;
  int sequences;
};

// The course's GPT (runtime/nn), float, in the stream that the task is given. Nothing here waits for the device. Weights and
// gradients are flat buffers of elements() floats in one order: that in which backward finishes the gradients (first the last
// layers', at the end the embeddings'). elements() is a multiple of 64.
class Model {
 public:
  std::size_t elements() const;
  int tokens_of_sequence() const;  // T
  // Forward pass. The loss of a call is `scale` times the SUM over the batch's tokens of their cross entropies.
  void forward(const float* weights, const Batch& batch, float scale);
  // Backward pass of the forward pass before it: ADDS the gradient of its loss to `gradients`. Calls ready(range) each time when the
  // kernels that finish a range are in the stream: ranges follow each other without gaps, from 0 to elements(). An event that is
  // recorded in `ready` stands behind these kernels.
  void backward(const float* weights, const Batch& batch, float* gradients,
                const std::function<void(Range)>& ready = {});

  // Of the course's entry.cu.
  Model(const nn::ModelConfig& model, int sequence, int most_sequences, cudaStream_t stream);
  ~Model();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// One step of training with several ranks, all of them with the same model: rank 0's weights to everybody; forward and
// backward; ONE all-reduce; then w -= rate * g, where g is the gradient of the mean loss over the tokens of ALL ranks. Ranks
// may have different numbers of sequences.
//   weights     elements() floats; on entry only rank 0's count, on return all ranks have the updated ones, bit for bit
//   gradients   elements() floats, undefined on entry; on return g, the same bits on all ranks
//   all_tokens  tokens of all ranks' batches together
void after(Model& model, float* weights, const Batch& batch, long long all_tokens, float rate, float* gradients,
           ncclComm_t comm, cudaStream_t stream);

// The gradient g alone, summed while backward still runs: in buckets of consecutive ranges, one all-reduce each. A bucket is complete
// with the range that brings it to `bucket_bytes` or more; the last one holds what is left.
//   weights     elements() floats, the same on all ranks
//   gradients   as above; what the caller puts into `stream` next reads them
void overlapped(Model& model, const float* weights, const Batch& batch, long long all_tokens, std::size_t bucket_bytes,
                float* gradients, ncclComm_t comm, cudaStream_t stream);

// The same for a batch that is too large for the memory and comes in `count` micro-batches, one after the other: g is the gradient of
// the mean over the tokens of all micro-batches of all ranks. What is sent is what `overlapped` sends, whatever `count` is.
//   batches     `count` of them, in host memory
//   all_tokens  tokens of all micro-batches of all ranks
void accumulated(Model& model, const float* weights, const Batch* batches, int count, long long all_tokens,
                 std::size_t bucket_bytes, float* gradients, ncclComm_t comm, cudaStream_t stream);

// Adam with decoupled weight decay (Loshchilov and Hutter 2019), for step t = 1, 2, ... with gradient g:
//   m = beta1 m + (1 - beta1) g     v = beta2 v + (1 - beta2) g^2
//   w -= rate (m correction1 / (sqrt(v correction2) + epsilon) + decay w)
struct AdamW {
  float rate, beta1, beta2, epsilon, decay;
  float correction1, correction2;  // 1 / (1 - beta1^t), 1 / (1 - beta2^t)
};

// A step whose optimizer is shared out (ZeRO, stage 1): rank r owns the elements [r n / p, (r + 1) n / p), n = elements(), which p
// divides. It gets the sum of their gradients, updates their weights, and gives these to all.
//   weights    n floats, the same on all ranks; on return the updated ones, the same bits on all ranks
//   m, v       n / p floats: the moments of the own elements, updated
//   workspace  n floats
void sharded(Model& model, float* weights, const Batch& batch, long long all_tokens, const AdamW& adam, float* m,
             float* v, void* workspace, std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream);

// Top-k with error feedback. Each rank adds its residual to its gradient, a[i] = gradient[i] + residual[i], and sends the k
// elements of largest |a| to all; where magnitudes are equal, those of lower index. The rank sets the sent elements of a
// to 0. Then a is its new residual.
//   gradient   n floats; no NaN
//   residual   n floats, updated
//   mean       n floats: 1 / p times the sum of what all ranks sent; 0 elsewhere. The same bits on all ranks
//   k          1 to n, n < 2^31
//   workspace  compressed_workspace(n, k, p) bytes, aligned to 256: for 2 k words to send, 2 k p to receive, and more
constexpr std::size_t compressed_workspace(std::size_t n, std::size_t k, int p) {
  return 4 * n + 8 * k * (static_cast<std::size_t>(p) + 1) + 65536;
}
// In compressed_host the host chooses: it copies the values and waits for them. In compressed it sees no value.
void compressed_host(const float* gradient, float* residual, float* mean, std::size_t n, std::size_t k, void* workspace,
                     std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream);
void compressed(const float* gradient, float* residual, float* mean, std::size_t n, std::size_t k, void* workspace,
                std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream);
