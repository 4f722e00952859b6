// Lab 06, task `peer`: an all-reduce of loads and stores over the links, in one kernel. It needs GPUs.
//
// A rank stores its summands straight into the memory of the rank that adds them, and a flag behind them.
// Run: ./ridge check 06 --task peer
#include "ring.hpp"

// TASK(peer)
// Helpers belong in an unnamed namespace: other files of the lab have some of the same name.
namespace {

// The blocks of this number of all ranks wait for each other here; `which` and `epoch` name the synchronisation.
__device__ void meet(const Windows& windows, int which, unsigned epoch) {
  __syncthreads();
  if (threadIdx.x < windows.ranks) {
    const int other = static_cast<int>(threadIdx.x);
    tell(&windows.of[other].signals->arrived[which][blockIdx.x][windows.rank], epoch);
    wait_for(&windows.of[windows.rank].signals->arrived[which][blockIdx.x][other], epoch);
  }
  __syncthreads();
}

// in, out: n floats of this rank.
__global__ void peer_kernel(Windows windows, const float* in, float* out, std::size_t n) {
  Window own = windows.of[windows.rank];
  const unsigned epoch = own.signals->epoch[blockIdx.x] + 1;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  // TODO: this puts the rank's data into its own window and takes them back. Which part of the sum does this rank make,
  // where do the others put what it needs for that, and where does it put the result?
  for (std::size_t i = first; i < n; i += stride) own.data[i] = in[i];
  meet(windows, 0, epoch);
  for (std::size_t i = first; i < n; i += stride) out[i] = own.data[i];
  if (threadIdx.x == 0) own.signals->epoch[blockIdx.x] = epoch;
}

}  // namespace

void peer(const float* in, float* out, std::size_t n, const Windows& windows, ncclComm_t, cudaStream_t stream) {
  // All blocks must run at once, since they wait for others.
  peer_kernel<<<kPeerBlocks, 512, 0, stream>>>(windows, in, out, n);
}
// END(peer)
