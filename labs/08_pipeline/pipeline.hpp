// Contract of lab 08. p ranks hold one GPT together, each some of its blocks, and m micro-batches go through. Task `order` is
// about the order of work alone; the other three run it, on a Stage that the course gives.
//
// Letters: p ranks, r this one, m micro-batches, v chunks of a rank; B sequences of T tokens in a micro-batch, C channels.
#pragma once
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>

// One piece of a rank's work: forward or backward of one micro-batch through one of the rank's chunks.
struct Step {
  bool forward;
  int chunk, micro_batch;
};

// Writes the 2 m v steps of rank r, in the order in which it makes them. v = 1: 1F1B (any m); v > 1: interleaved 1F1B (p > 1, and m is
// a multiple of p). On the host; steps: 2 m v of them. All ranks must reach their end, chunk c of rank r gets what chunk c of
// rank r - 1 has sent, of rank 0 what chunk c - 1 of rank p - 1 has, in the order of sending. With forwards of 1, backwards of 2 and
// transfers that take no time they need 3 (m v + p - 1); interleaved, with transfers that take c, 2 (v p - 1) c more. Never are more micro-batches
// (times chunks) between their forward and their backward than
//     v = 1: min(p - r, m)          v > 1: min(2 (p - r - 1) + (v - 1) p + 1, m v)
void order(int p, int m, int v, int r, Step* steps);

// One direction of transfers between two ranks: it has a communicator of its own, so that it waits for no other direction.
struct Link {
  ncclComm_t comm;
  int peer;
};

// What rank r does for its part of the model. Rank r has chunks 0 to v - 1; chunk c is part c p + r of the v p parts that the
// model's blocks are cut into, in the order of forward. Part 0 also embeds the tokens, part v p - 1 ends in the loss.
//
// Memory is what the schedule needs, and no more:
//   slots   each holds what one forward saves for its backward. gpipe: m; 1F1B and interleaved: as in `order`
//   boxes   slots + 1, each an input and an output (B, T, C): while the last of them is at work, the next input may arrive
// From its forward to its backward a micro-batch keeps its slot and its box; a forward takes a slot that nobody holds.
class Stage {
 public:
  int rank() const;           // r
  int ranks() const;          // p
  int micro_batches() const;  // m
  int chunks() const;         // v; 1 in gpipe and one_f_one_b
  int slots() const;
  int boxes() const { return slots() + 1; }
  std::size_t elements() const;  // B T C, of a transfer

  // True for part 0 of the model: nothing is received in forward, nothing is sent in backward.
  bool first(int chunk) const { return rank() == 0 && chunk == 0; }
  // True for part v p - 1: nothing is sent in forward, nothing is received in backward.
  bool last(int chunk) const { return rank() + 1 == ranks() && chunk + 1 == chunks(); }

  // (B, T, C) floats on the device.
  float* input(int box) const;  // forward and backward read it; in the first part forward writes it
  float* output(
      int box) const;  // forward leaves its result here. backward finds the result's gradient here (the last part
                       // makes it itself) and leaves the input's gradient in its place

  // Each puts its kernels into the stream that the task was given. Micro-batches: 0 to m - 1.
  void clear_gradients();  // of the weights, and the loss. Undefined at the start of a call
  // In the last part: adds weight * (mean loss of this micro-batch) to the loss.
  void forward(int chunk, int micro_batch, int slot, int box, float weight);
  // Adds to the weights' gradients those of the same.
  void backward(int chunk, int micro_batch, int slot, int box);

  // Activations go to the right, from r to (r + 1) % p; gradients to the left. With p = 1 there are none.
  Link activations_in() const, activations_out() const;
  Link gradients_in() const, gradients_out() const;

  struct Parts;  // entry.cu
  explicit Stage(Parts& parts) : parts_(&parts) {}

 private:
  Parts* parts_;
};

// One training step's gradients: those of the mean loss of all m micro-batches. All work must have ended, or be ordered before
// the end of `stream`, when these return; the host waits for nothing. Streams and events may be made once and kept
// (function-local static). m < p is allowed, and so is p = 1 but for interleaved. Helpers belong into an unnamed namespace: the files are linked together.

// All forwards, then all backwards.
void gpipe(Stage& stage, cudaStream_t stream);

// In the order of `order` with v = 1.
void one_f_one_b(Stage& stage, cudaStream_t stream);

// In the order of `order`; v > 1, p > 1, and m is a multiple of p.
void interleaved(Stage& stage, cudaStream_t stream);
