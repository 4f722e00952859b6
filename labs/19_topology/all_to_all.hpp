// Task `all_to_all`: dispatch and combine of a layer with a mixture of experts.
//
// Rank r has the local rank r % per_node in node r / per_node, and holds the experts r * experts to r * experts + experts - 1.
// The number of ranks p is a multiple of per_node.
#pragma once
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>
#include <vector>

struct Layer {
  int per_node;  // ranks of a node
  int experts;   // of each rank
  int choices;   // experts that a token chooses (top-k), all different; in the inputs a choice may be -1: none
  int width;     // floats of a token
  // A token's row: `width` floats, then the numbers of its experts as floats, then their gate weights.
  __host__ __device__ int row() const { return width + 2 * choices; }
};

// Drops choices where too many tokens want one expert, on the host. expert: (n, choices) numbers below `all_experts`;
// -1 means no expert, and stays. Token by token, and choice by choice within a token, each expert takes the first
// `capacity` of them; every later choice becomes -1, and its token goes on without this expert. Returns how many choices
// became -1. Each rank does this alone, so the capacity is that of a sending rank for an expert.
int limit(int n, int choices, int all_experts, int capacity, int* expert);

// One hop of rows: which of the sender's rows go to which rank.
struct Hop {
  std::vector<int> row;             // by rank they go to, ascending, and then by the sender's order
  std::vector<int> sent, received;  // rows to each of the p ranks, and from each
};
struct Plan {
  Hop across, inside;
};

// Brings each token to all ranks that have one of its experts, in two hops. First a token goes once to each node where
// it has an expert, the sender's node included: to the rank there with the sender's local rank. Then that rank hands it
// on, once to each rank of its node with one of its experts. Counts travel first: in each hop a rank sends one int to
// each rank to which it may send rows (in the first hop those with its local rank, in the second those of its node).
// Rows are never padded.
//   rows       (n, row()) on the device; n may be 0
//   expert     (n, choices) on the host, as in rows. -1: no expert
//   batch      on the device, room for all tokens of all ranks: the received rows, one a token. Ordered by the local rank
//              of the token's sender, then by the sender's node, then as in the sender's `rows`
//   plan       filled: combine() needs it, once
//   workspace  on the device, undefined at each call: 1.5 m (p + 2 p / per_node) row() floats and 64 KiB, where m is the
//              largest n of all ranks
// Returns the number of rows in the batch. The host may wait.
int dispatch(const Layer& layer, const float* rows, const int* expert, int n, float* batch, Plan* plan, void* workspace,
             std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream);

// The way back, over the same hops: the sum of the results of all ranks that had a token. A rank that has handed a token
// on adds the returned rows, so that one row a token and node crosses the nodes. Additions are in single precision and in
// a fixed order: within a node by ascending rank, and then the nodes' sums by ascending node.
//   results    (rows of the batch, width) on the device: the outputs of this rank's experts, weighted by their gates
//   out        (n, width) on the device; 0 where a token has no expert
//   workspace  as for dispatch()
void combine(const Layer& layer, const float* results, int n, const Plan& plan, float* out, void* workspace,
             std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream);
