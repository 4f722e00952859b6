// Task `async_save`: training that stalls for the copy to host memory alone, while the storage takes the state.
//
// A checkpoint is one file, kState: a head of kHeadBytes, then the words of the state. It is written as kNewState, made
// durable, renamed, and the folder synced, as in task `save`. So a crash at any time leaves the last state that was
// committed, or the one under way, as a whole.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "files/ring.hpp"
#include "save.hpp"

constexpr const char* kState = "ckpt/state";
constexpr const char* kNewState = "ckpt/state.new";
constexpr long long kHeadBytes = 4096;  // a multiple of storage().alignment

// At the beginning of the file; zeros follow up to kHeadBytes.
struct Head {
  std::int64_t step;   // after which the state was taken
  std::int64_t words;  // of the state
  std::uint64_t hash;  // hash_of the words
};

struct Training {
  int steps;  // numbers 1 to `steps`
  int every;  // a save after each step whose number it divides; it divides `steps`, too
  int words;  // of the state, 4 bytes each; 4 * words is a multiple of storage().alignment
  long long bytes() const { return 4LL * words; }
};

// state: `words` numbers, updated in place.
static __global__ void train_kernel(std::uint32_t* state, std::uint32_t number, int words) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < words;
       i += static_cast<int>(gridDim.x * blockDim.x))
    state[i] = state[i] * 1664525u + number * 2654435761u + 1013904223u;
}
// Step `number` of training.
inline void train_step(std::uint32_t* state, int number, int words, cudaStream_t stream) {
  train_kernel<<<5, 256, 0, stream>>>(state, static_cast<std::uint32_t>(number), words);
}

// Runs all steps on `state` (device) in `stream`, with the saves. When it returns, all steps are queued, and true says that
// every save is durable. False: in one of them a call failed, as save.hpp says; the last good checkpoint is still there, and
// training went on. staging: kHeadBytes + bytes() of page-locked memory, aligned for kDirect: a file that is opened with it
// passes the page cache by, and takes whole multiples of storage().alignment from such addresses. It is the only buffer for
// snapshots: the next one waits until the storage has taken this one. The head may lie in other memory.
bool train_and_save(const Training& training, std::uint32_t* state, char* staging, cudaStream_t stream);
