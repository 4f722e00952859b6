// Task `all_to_all`: dispatch and combine of a layer with a mixture of experts.
//
// Rank r is at place r % per_node of node r / per_node, and has the experts r * experts to r * experts + experts - 1.
// The number of ranks p is a multiple of per_node.
#pragma once
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>
#include <vector>

struct Layer {
  int per_node;  // ranks of a node
  int experts;   // of each rank
  int choices;   // experts that a token chooses, all different
  int width;     // floats of a token
  // A token's row: `width` floats, then the numbers of its experts as floats, then their gates.
  __host__ __device__ int row() const { return width + 2 * choices; }
};

// Takes choices away where too many tokens want one expert, on the host. expert: (n, choices) numbers below
// `all_experts`. Token by token, and choice by choice within a token, each expert takes the first `capacity` of them;
// every later one becomes -1, and its token goes on without this expert. Returns how many became -1. Each rank does
// this alone.
int limit(int n, int choices, int all_experts, int capacity, int* expert);

// One hop of rows: which of the sender's rows go to which rank.
struct Hop {
  std::vector<int> row;             // by rank they go to, ascending, and then by the sender's order
  std::vector<int> sent, received;  // rows to each of the p ranks, and from each
};
struct Plan {
  Hop across, inside;
};

// Brings each token to all ranks that have one of its experts, in two hops. First a token goes once to each node
// where it has an expert, its own included: to the rank at the sender's own place. Then that rank hands it on, once
// to each rank of its node with one of its experts. Counts travel first, one int from a rank to each that may send to
// it or get from it in that hop (other nodes' ranks at the same place, then ranks of the same node); rows are never
// padded.
//   rows       (n, row()) on the device; n may be 0
//   expert     (n, choices) on the host, as in rows. -1: no expert
//   batch      on the device, room for all tokens of all ranks: the rows that came, one a token. Ordered by the place
//              of the rank that the token is from, then by its node, then as in its `rows`
//   plan       filled: combine() needs it
//   workspace  on the device: undefined at each call
// Returns the number of rows in the batch. The host may wait.
int dispatch(const Layer& layer, const float* rows, const int* expert, int n, float* batch, Plan* plan, void* workspace,
             std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream);

// The way back, over the same hops: each token's sum of the results of all ranks that had it. A rank that has handed a
// token on adds what comes back, so that one row a token and node crosses the nodes.
//   results  (rows of the batch, width) on the device: what this rank's experts made of them, times their gates
//   out      (n, width) on the device; 0 where a token has no expert
void combine(const Layer& layer, const float* results, int n, const Plan& plan, float* out, void* workspace,
             std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream);
