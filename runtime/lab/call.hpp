// One call of one task, as a lab's entry.cu receives it. entry.cu unpacks the record and calls the contract function.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>

#include "rank.hpp"

struct ridge_call {
  char task[32];      // the task's id in lab.toml
  long long size[8];  // the case's sizes, in the order that check.cpp gives them
  const void* in[4];  // device buffers, read-only
  void* out[4];       // device buffers, poisoned before the call
  void* workspace;    // device scratch memory, or nullptr
  std::size_t workspace_bytes;
  cudaStream_t stream;
  const ridge_rank* rank;  // labs with several ranks only

  bool is(const char* id) const { return std::strcmp(task, id) == 0; }
};

// Defined by entry.cu. Work may still be running on `call.stream` when it returns. Returns false for a task that the
// lab does not have.
bool ridge_entry(const ridge_call& call);
