// Task `trees`: all-reduces with few steps, and the size above which a ring is faster.
//
// p is the number of ranks, 1 or more; q is the largest power of two that is not above p.
#pragma once
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>

// out[i] = the sum over all ranks of their in[i], by recursive halving and doubling (Rabenseifner). The same bits on
// all ranks. Where the host waits, time is lost.
//   in, out    n floats on the device, in != out; n >= 1
//   workspace  n floats on the device, undefined at each call
//
// 1. Fold. Ranks below 2 (p - q) form pairs (0, 1), (2, 3), ... The even rank sends its whole vector to the odd one,
//    which adds it. The odd rank of pair i gets the virtual rank i, and each rank r >= 2 (p - q) gets r - (p - q).
// 2. Reduce-scatter, log2 q steps, over the distances 1, 2, 4, ..., q / 2. Virtual rank v meets v ^ distance. Both hold
//    the same part of the vector, at first all of it; its lower half has ceil(count / 2) elements. The rank whose bit
//    v & distance is 0 keeps the lower half, sends the upper one, and adds the received half; the other rank keeps the
//    upper half.
// 3. All-gather, the same steps backwards: each rank sends the part that it has complete, and receives its partner's.
// 4. Unfold. The odd rank of each pair sends the sum to the even one.
// Each of these transfers is one message, and there are no others. Parts of no elements are not sent.
void halving_doubling(const float* in, float* out, std::size_t n, void* workspace, std::size_t workspace_bytes,
                      ncclComm_t comm, cudaStream_t stream);

// A rank's place in a binary tree over all ranks. -1: none.
struct TreeNode {
  int parent;
  int child[2];
};
// Writes this rank's places in two trees, each for one half of a vector, on the host. Each tree has all ranks and
// one root, from which at most ceil(log2 p) edges lead down to any rank. No rank has children in both trees.
void double_tree(int ranks, int rank, TreeNode tree[2]);

// Seconds of an all-reduce of n bytes, where a message of b bytes takes alpha + b / beta, and a rank sends one message
// and receives one at a time:
//   ring              2 (p - 1) (alpha + n / (p beta))
//   halving_doubling  2 log2(q) alpha + 2 (q - 1) / q n / beta, and 2 (alpha + n / beta) more where p != q
//   double_tree       4 (h + k - 1) (alpha + n / (2 k beta)) with h = ceil(log2 p), for the best whole number k >= 1 of
//                     chunks: a chunk of half the vector takes two steps a level, since a rank has two children; the
//                     way down begins when the way up has ended, and takes as long
enum class Algorithm { halving_doubling, double_tree };
// The size n in bytes (a real number) above which the ring is at least as fast: 0 if it always is, INFINITY if it never
// is. p >= 2, alpha > 0 seconds, beta > 0 bytes a second. Correct to 5%.
double crossover(Algorithm algorithm, int ranks, double alpha, double beta);
