// Task `prefetch`: read, decode and upload batches so early that the accelerator never waits for anything but the
// storage.
//
// The file at `path` has `batches` encoded batches, one after another. Each is read, decoded by processor cores,
// uploaded, and given to train_step, in order. Buffers are given: kSlots of each kind, each with room for one batch. The
// file may be opened with kDirect or without; no more bytes are in flight than the slots have room for.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "codec.hpp"
#include "files/cores.hpp"
#include "files/ring.hpp"

struct Feed {
  const char* path;
  int batches;
  int words;  // 4-byte words of a batch; 4 * words is a multiple of storage().alignment
  long long bytes() const { return 4LL * words; }
};

// All addresses are multiples of storage().alignment.
struct Slots {
  std::uint32_t* encoded[kSlots];    // page-locked
  std::uint32_t* decoded[kSlots];    // page-locked
  std::uint32_t* on_device[kSlots];  // device memory
};

// Cores that decode. A core has a part of a batch at a time, and its later parts wait for that one. In virtual time a part
// of n words takes 4 n / storage().core_bandwidth seconds. The buffers are the core's from start() to wait(): it reads
// and writes them at any time between the two, and the decoded words are there after wait().
class Decoder {
 public:
  // Words [first, first + count) of a batch, on core `core` < storage().cores. Returns the part's number for wait().
  int start(int core, const std::uint32_t* encoded, std::uint32_t* decoded, int first, int count) {
    parts_.push_back(files::start_on_core(core, encoded + first, decoded + first, 4 * static_cast<std::size_t>(count),
                                          first, decode_words));
    return static_cast<int>(parts_.size()) - 1;
  }
  void wait(int number) { files::wait_for_core(parts_[static_cast<std::size_t>(number)]); }

 private:
  std::vector<files::CoreWork> parts_;
};

// A step on one batch: state[i] = 1664525 state[i] + batch[i] + 1013904223 for i < words. Given, in prefetch.cu.
//   batch, state  `words` numbers on the device
// Host function: all batches of `feed`, in order. `state` has words numbers, and begins as the caller left it. When it
// returns, the work must have ended, or be ordered before the end of `stream`.
void train(const Feed& feed, const Slots& slots, std::uint32_t* state, cudaStream_t stream);
