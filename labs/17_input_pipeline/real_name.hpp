// The name of a call's file, for entry.cu: on a real machine each call has another one.
#pragma once
#include <cstdint>
#include <cstdio>

#include "lab/call.hpp"

struct FileName {
  char text[40];
  // `number`: on the device, where the call's file is on a real machine; else null.
  FileName(const char* name, const void* number, cudaStream_t stream) {
    std::uint64_t n = 0;
    std::snprintf(text, sizeof text, "%s", name);
    if (number == nullptr) return;
    cudaMemcpyAsync(&n, number, sizeof n, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    std::snprintf(text, sizeof text, "%s-%016llx", name, static_cast<unsigned long long>(n));
  }
};
