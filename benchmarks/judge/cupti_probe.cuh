// Appended to a submission's file, records every kernel's time with CUPTI from inside the worker, to /tmp/cupti.PID:
// "name start end" in ns. For a judge without a sandbox (benchmarks/judge/README.md). It slows the grading down.
#pragma once
#include <cupti.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace cupti_probe {

inline std::FILE* out;
inline decltype(&cuptiActivityGetNextRecord) next_record;
inline decltype(&cuptiActivityFlushAll) flush;

inline void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *size = 1 << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *records = 0;
}

inline void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (valid > 0 && next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
    std::fprintf(out, "%s %llu %llu\n", kernel->name, static_cast<unsigned long long>(kernel->start),
                 static_cast<unsigned long long>(kernel->end));
  }
  std::fflush(out);
  std::free(buffer);
}

struct Start {
  Start() {
    void* lib = dlopen("libcupti.so.13", RTLD_NOW);
    if (lib == nullptr) lib = dlopen("/usr/local/cuda/lib64/libcupti.so.13", RTLD_NOW);
    out = std::fopen(("/tmp/cupti." + std::to_string(getpid())).c_str(), "w");
    if (lib == nullptr || out == nullptr) return;
    next_record = reinterpret_cast<decltype(next_record)>(dlsym(lib, "cuptiActivityGetNextRecord"));
    flush = reinterpret_cast<decltype(flush)>(dlsym(lib, "cuptiActivityFlushAll"));
    auto callbacks =
        reinterpret_cast<decltype(&cuptiActivityRegisterCallbacks)>(dlsym(lib, "cuptiActivityRegisterCallbacks"));
    auto enable = reinterpret_cast<decltype(&cuptiActivityEnable)>(dlsym(lib, "cuptiActivityEnable"));
    callbacks(give_buffer, take_buffer);
    enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    // The judge ends a worker without a warning: what is not written by then is lost.
    std::thread([] {
      for (;;) {
        usleep(300000);
        flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
      }
    }).detach();
  }
};
inline Start start;

}  // namespace cupti_probe
