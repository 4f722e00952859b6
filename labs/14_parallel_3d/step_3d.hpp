// Task `step_3d`: one training step on a grid of data, pipeline and tensor parallelism.
//
// Letters: d, p, t the sizes of the grid; m micro-batches of B sequences of T tokens on each replica; C channels. All
// ranks call the task, each with its own part of the model. All work must have ended, or be ordered before the end of
// `stream`, when it returns; the host waits for nothing and reads nothing back. Streams and events may be made once and
// kept (function-local `static thread_local`: ranks may be threads). cudaMalloc is forbidden. Helpers belong into an
// unnamed namespace: the files are linked together.
#pragma once
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "groups.hpp"

// What ncclCommSplit makes of the groups of task `groups`. NCCL's calls take ranks OF THE COMMUNICATOR: stage s is rank
// s of `pipeline`, whatever its rank in `world` is. embedding: null on stages that are neither first nor last.
struct Communicators {
  ncclComm_t world, tensor, data, pipeline, embedding, model;
};

// A parameter tensor of this rank. Gradients have the weights' places.
struct Tensor {
  float *weights, *gradients;
  std::size_t count;
  // True: cut among the t ranks of the tensor group (lab 09). False: each of them has all of it, and computes the same
  // gradient.
  bool cut;
  // The token embedding, (Vp, C), is also the head's matrix. The first stage has a copy for its tokens and the last
  // stage one for its logits, and each computes its own part of the gradient. With one stage there is one copy.
  bool embedding;
};

// On the device, equal on all ranks. `squares` and `overflow` are undefined at the call.
struct State {
  float loss_scale;  // in, and out: half of it after an overflow
  float squares;     // out: the sum of the squares of the gradient, each parameter of the whole model counted once
  float overflow;    // out: 1 where a gradient of any rank is infinite or no number, else 0
};

// What a rank holds of the GPT: the blocks of its stage, cut among its tensor group as in lab 09, whose sums over
// `tensor` are made in here. Everything goes into the stream that the task is given.
class Part {
 public:
  const Sizes& sizes() const;
  Coordinates at() const;
  int micro_batches() const;                   // m
  const std::vector<Tensor>& tensors() const;  // in one order on all ranks with the same stage
  // All gradients as one buffer, tensors and the gaps between them; gaps hold zeros.
  float* gradients() const;
  std::size_t count() const;

  // Activations of micro-batch k, (B, T, C): elements() floats each.
  std::size_t elements() const;
  // forward and backward read the input; on the first stage forward writes it.
  float* input(int k) const;
  // forward leaves its result here. backward finds the result's gradient here (the last stage makes it itself), and
  // leaves the input's gradient in its place.
  float* output(int k) const;

  void clear_gradients();
  // On the last stage the loss of this micro-batch is `weight` times the mean over its tokens, times the loss scale.
  void forward(int k, float weight, const State* state);
  void backward(int k);  // adds to the gradients

  struct Engine;  // part.hpp, of the course
  explicit Part(Engine& engine) : engine_(&engine) {}

 private:
  Engine* engine_;
};

// A step of gradient descent for the mean loss over all d m B sequences. With g its gradient (without the loss scale)
// and |g| = sqrt(squares):
//   overflow   weights stay as they are, and the loss scale is halved
//   otherwise  weights -= rate * min(1, max_norm / |g|) * g
// On return part.gradients() holds g, the same on all replicas and in both copies of the embedding. All copies of a
// weight remain equal, bit for bit. After an overflow `squares` and the gradients may be anything.
void step_3d(Part& part, const Communicators& comms, float rate, float max_norm, State* state, cudaStream_t stream);
