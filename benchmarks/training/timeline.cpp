// Records every kernel and copy of a program with CUPTI, as Chrome Trace Event JSON in RIDGE_TIMELINE.PID.json (us since the
// epoch; lanes: GPU and stream). A library that the driver loads into any CUDA program:
//
//   g++ -std=c++20 -O2 -shared -fPIC -I $CUDA/include benchmarks/training/timeline.cpp -o timeline.so -ldl
//   CUDA_INJECTION64_PATH=./timeline.so RIDGE_TIMELINE=/tmp/step ./train --ranks 2
#include <cupti.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::FILE* out = nullptr;
bool first = true;
decltype(&cuptiActivityGetNextRecord) next_record;
decltype(&cuptiActivityFlushAll) flush;

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *size = 8 << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *records = 0;
}

void write(const char* name, const char* category, unsigned device, unsigned stream, std::uint64_t start,
           std::uint64_t end, std::uint64_t bytes) {
  std::string safe;
  for (const char* c = name; *c != 0 && safe.size() < 120; ++c)
    if (*c != '"' && *c != '\\' && static_cast<unsigned char>(*c) >= 32) safe += *c;
  std::fprintf(out, "%s{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"cat\":\"%s\",\"name\":\"%s\"",
               first ? "" : ",\n", device, stream, static_cast<double>(start) / 1e3,
               static_cast<double>(end - start) / 1e3, category, safe.c_str());
  if (bytes != 0) std::fprintf(out, ",\"args\":{\"bytes\":%llu}", static_cast<unsigned long long>(bytes));
  std::fprintf(out, "}");
  first = false;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (valid > 0 && next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto* k = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
      int status = 0;
      char* name = abi::__cxa_demangle(k->name, nullptr, nullptr, &status);
      write(status == 0 ? name : k->name, "kernel", k->deviceId, k->streamId, k->start, k->end, 0);
      std::free(name);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      const auto* m = reinterpret_cast<const CUpti_ActivityMemcpy5*>(record);
      write("copy", "gpu_memcpy", m->deviceId, m->streamId, m->start, m->end, m->bytes);
    }
  }
  std::free(buffer);
}

void finish() {
  flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  std::fprintf(out, "\n]}\n");
  std::fclose(out);
}

}  // namespace

extern "C" int InitializeInjection() {
  const char* to = std::getenv("RIDGE_TIMELINE");
  void* lib = dlopen("libcupti.so.13", RTLD_NOW);
  if (lib == nullptr) lib = dlopen("/usr/local/cuda/lib64/libcupti.so.13", RTLD_NOW);
  if (to == nullptr || lib == nullptr) return 0;
  out = std::fopen((std::string(to) + "." + std::to_string(getpid()) + ".json").c_str(), "w");
  if (out == nullptr) return 0;
  std::fprintf(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
  next_record = reinterpret_cast<decltype(next_record)>(dlsym(lib, "cuptiActivityGetNextRecord"));
  flush = reinterpret_cast<decltype(flush)>(dlsym(lib, "cuptiActivityFlushAll"));
  auto callbacks =
      reinterpret_cast<decltype(&cuptiActivityRegisterCallbacks)>(dlsym(lib, "cuptiActivityRegisterCallbacks"));
  auto enable = reinterpret_cast<decltype(&cuptiActivityEnable)>(dlsym(lib, "cuptiActivityEnable"));
  callbacks(give_buffer, take_buffer);
  enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  enable(CUPTI_ACTIVITY_KIND_MEMCPY);
  std::atexit(finish);
  return 1;
}
