// Contract of lab 06. Each task is one host function that every rank calls, each with its own data, in the same order.
//
// All must have ended, or be ordered before the end of `stream`, when the function returns. Streams, events, page-locked
// memory and communicators may be made once and kept (function-local static); what a call makes and no later call uses must
// be freed. In ring, pipelined and hierarchical the host waits for nothing. `workspace` is device memory, undefined at each
// call. The number of ranks p may be 1; n may be smaller than p, and p need not divide it. Helpers belong into an unnamed
// namespace: the files are linked together.
#pragma once
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mpi.h>
#include <nccl.h>

#include <cstddef>
#include <cstdint>

// A ring by way of the host: out[i] = the sum over all ranks of their in[i]. What travels goes through page-locked memory of the
// host and MPI_Sendrecv; sums are made on the device.
//   in, out    n floats on the device, in != out; n >= 1
//   workspace  n floats
void staged(const float* in, float* out, std::size_t n, void* workspace, std::size_t workspace_bytes, MPI_Comm comm,
            cudaStream_t stream);

// A ring from device to device: the same with ncclSend and ncclRecv, and a reduction kernel of your own. Chunk c holds the
// elements from c * ceil(n / p); the last ones may be shorter or empty. Every rank sends to its right neighbour only, no
// transfer is larger than a chunk, and all ranks get the same bits.
//   in, out    n floats on the device; in == out is allowed
//   workspace  n floats
void ring(const float* in, float* out, std::size_t n, void* workspace, std::size_t workspace_bytes, ncclComm_t comm,
          cudaStream_t stream);

// The same for bfloat16 (a partial sum is rounded each time it is sent: to nearest, ties to even). Each chunk of the reduce-scatter is cut into `slices`
// slices of ceil(chunk / slices) values, so that one slice is reduced while the next one travels.
//   in, out    n values on the device; in == out is allowed
//   slices     1 to kMostSlices
//   workspace  n values
constexpr int kMostSlices = 16;
void pipelined(const __nv_bfloat16* in, __nv_bfloat16* out, std::size_t n, int slices, void* workspace,
               std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream);

// An all-reduce for nodes whose links inside are faster than those between: rank r is rank r % per_node of node
// r / per_node, and p is a multiple of per_node. Between nodes a rank talks to those of its own place only (r % per_node).
//   in, out    n floats on the device, in != out
//   workspace  n floats
void hierarchical(const float* in, float* out, std::size_t n, int per_node, void* workspace,
                  std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream);

// Peer memory, for GPUs whose links let a kernel load and store another one's memory. Each rank has a window, which the kernels
// of all ranks can reach: windows.of[q] is rank q's.
constexpr int kPeerRanks = 8;
constexpr int kPeerBlocks = 132;  // blocks of a kernel that waits for others, at most
// Rank q's words. All are 0 before the first call and stay as calls leave them; nobody but peer() touches them.
struct Signals {
  unsigned arrived[2][kPeerBlocks][kPeerRanks];  // for a meeting: written by that rank's block of that number
  unsigned epoch[kPeerBlocks];                   // for the rank itself: its block's calls so far
};
struct Window {
  float* data;  // 2 p peer_chunk(n, p) floats, as the last call left them
  Signals* signals;
};
struct Windows {
  int rank, ranks;  // 1 to kPeerRanks
  Window of[kPeerRanks];
};
// ceil(n / p), and then the next multiple of 4: parts begin at 16 bytes.
__host__ __device__ constexpr std::size_t peer_chunk(std::size_t n, int p) {
  const auto ranks = static_cast<std::size_t>(p);
  return ((n + ranks - 1) / ranks + 3) / 4 * 4;
}

// Stores `value` where another device waits for it. What the block stored before its last __syncthreads() is seen first.
__device__ inline void tell(unsigned* where, unsigned value) {
  __threadfence_system();
  *static_cast<volatile unsigned*>(where) = value;
}
// Waits until somebody stored `value` there. What that one stored before is seen after.
__device__ inline void wait_for(const unsigned* where, unsigned value) {
  while (*static_cast<const volatile unsigned*>(where) != value) {
  }
  __threadfence_system();
}

// out[i] = the sum over all ranks of their in[i], the same bits everywhere, by loads and stores of the ranks' kernels alone: no
// NCCL, no MPI. (GPUs only.)
//   in, out    n floats on the device, aligned to 16 bytes; in == out is allowed
void peer(const float* in, float* out, std::size_t n, const Windows& windows, ncclComm_t comm, cudaStream_t stream);
