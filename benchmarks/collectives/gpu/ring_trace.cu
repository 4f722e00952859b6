// A timeline of lab 06's ring on real GPUs: one thread a rank, kernels and copies recorded by CUPTI, whose times are those of one
// clock for all devices. Chrome trace JSON, as the emulator's timelines: a process a rank, a row a stream, arrows from a step's
// send to its receive on the right neighbour.
//   ring_trace GPUs MiB FILE.json
#include <cupti.h>
#include <cxxabi.h>
#include <nccl.h>

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "formats/trace_writer.hpp"
#include "ring.hpp"

#define CHECK(call, good)                                                                             \
  do {                                                                                                \
    if (const auto e_ = (call); e_ != (good)) {                                                       \
      std::fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, static_cast<int>(e_)); \
      std::exit(1);                                                                                   \
    }                                                                                                 \
  } while (0)

namespace {

struct Record {
  std::uint64_t begin, end;  // ns
  std::uint32_t device, stream;
  std::string name;  // of a kernel; empty: a copy
  std::uint64_t bytes;
};

std::mutex mutex;
std::vector<Record> records;

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *size = 1 << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *most = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  std::lock_guard lock(mutex);
  while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto* k = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      records.push_back({k->start, k->end, k->deviceId, k->streamId, k->name, 0});
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      const auto* m = reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
      records.push_back({m->start, m->end, m->deviceId, m->streamId, "", m->bytes});
    }
  }
  std::free(buffer);
}

// CUPTI gives mangled names. "_Z22ncclDevKernel_SendRecv24..." -> "ncclDevKernel_SendRecv"
std::string short_name(const std::string& name) {
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr),
                                                     std::free);
  const std::string all = plain ? plain.get() : name;
  const std::size_t at = all.find("add_kernel");
  return at != std::string::npos ? "add_kernel" : all.substr(0, all.find('('));
}

// Holds a stream until all hosts have put their part of the ring behind it: what is shown is the devices' work alone.
__global__ void hold_kernel(long long nanoseconds) {
  long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - start < nanoseconds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "ring_trace GPUs MiB FILE.json\n"), 2;
  const int ranks = std::atoi(argv[1]);
  const std::size_t n = (std::strtoull(argv[2], nullptr, 10) << 20) / sizeof(float);
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks));
  CHECK(ncclCommInitAll(comms.data(), ranks, nullptr), ncclSuccess);
  std::barrier together(ranks);
  auto of_rank = [&](int r) {
    CHECK(cudaSetDevice(r), cudaSuccess);
    float *in = nullptr, *out = nullptr, *workspace = nullptr;
    for (float** p : {&in, &out, &workspace}) CHECK(cudaMalloc(p, n * sizeof(float)), cudaSuccess);
    CHECK(cudaMemset(in, 0, n * sizeof(float)), cudaSuccess);
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    auto once = [&] { ring(in, out, n, workspace, n * sizeof(float), comms[static_cast<std::size_t>(r)], stream); };
    for (int i = 0; i < 5; ++i) once();  // connects, loads code
    CHECK(cudaStreamSynchronize(stream), cudaSuccess);
    together.arrive_and_wait();
    if (r == 0) {
      CHECK(cuptiActivityRegisterCallbacks(give_buffer, take_buffer), CUPTI_SUCCESS);
      CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), CUPTI_SUCCESS);
      CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY), CUPTI_SUCCESS);
    }
    // The first ones under CUPTI are slow; the last one is shown.
    for (int i = 0; i < 3; ++i) {
      together.arrive_and_wait();
      if (r == 0) {
        CHECK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), CUPTI_SUCCESS);
        std::lock_guard lock(mutex);
        records.clear();
      }
      together.arrive_and_wait();
      hold_kernel<<<1, 1, 0, stream>>>(5'000'000);
      // Ends on all devices at once, nearly.
      CHECK(ncclAllReduce(out, out, 1, ncclFloat, ncclSum, comms[static_cast<std::size_t>(r)], stream), ncclSuccess);
      once();
      CHECK(cudaStreamSynchronize(stream), cudaSuccess);
    }
  };
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) threads.emplace_back(of_rank, r);
  for (auto& t : threads) t.join();
  CHECK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), CUPTI_SUCCESS);

  std::lock_guard lock(mutex);
  if (records.empty()) return std::fprintf(stderr, "CUPTI recorded nothing\n"), 1;
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.begin < b.begin; });
  std::uint64_t zero = 0;  // the end of what holds the streams
  for (const Record& e : records)
    if (e.name.find("hold_kernel") != std::string::npos || e.name.find("AllReduce") != std::string::npos)
      zero = std::max(zero, e.end);
  std::erase_if(records, [&](const Record& e) {
    return e.name.find("hold_kernel") != std::string::npos || e.name.find("AllReduce") != std::string::npos;
  });
  // Ranks that are done with the all-reduce begin at once, a little before the last one is.
  if (!records.empty()) zero = std::min(zero, records.front().begin);
  ridge::TraceWriter writer;
  struct Step {
    double begin, end;
    ridge::TraceWriter::Track track;
  };
  std::vector<std::vector<Step>> steps(static_cast<std::size_t>(ranks));  // of each rank, its exchanges in turn
  const double chunk =
      static_cast<double>((n + static_cast<std::size_t>(ranks) - 1) / static_cast<std::size_t>(ranks)) * 4;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> named;
  for (int r = 0; r < ranks; ++r) writer.name_process(r, "rank " + std::to_string(r));
  for (const Record& e : records) {
    const ridge::TraceWriter::Track track{static_cast<int>(e.device), static_cast<int>(e.stream)};
    if (!named[{e.device, e.stream}]) writer.name_track(track, "stream " + std::to_string(e.stream));
    named[{e.device, e.stream}] = true;
    const double begin = static_cast<double>(e.begin - zero) * 1e-9, end = static_cast<double>(e.end - zero) * 1e-9;
    ridge::TraceArguments about;
    std::string category = "kernel";
    if (e.name.empty()) {
      category = "copy";
      about.number("bytes", static_cast<double>(e.bytes));
    } else if (e.name.find("SendRecv") != std::string::npos) {
      // Reduce-scatter sends chunk r - s in step s; the all-gather, r + 1 - s.
      const int r = static_cast<int>(e.device), k = static_cast<int>(steps[e.device].size()), s = k % (ranks - 1);
      const bool gathers = k >= ranks - 1;
      category = "communication";
      about.text("kind", "communication")
          .text("phase", gathers ? "all-gather" : "reduce-scatter")
          .number("step", s)
          .number("chunk", ((gathers ? r + 1 - s : r - s) % ranks + ranks) % ranks)
          .number("peer", (r + 1) % ranks)
          .number("bytes", chunk);
      steps[e.device].push_back({begin, end, track});
    }
    writer.box(track, e.name.empty() ? "copy" : short_name(e.name), category, begin, end, about);
  }
  for (std::size_t r = 0; r < steps.size(); ++r) {
    const auto& right = steps[(r + 1) % steps.size()];
    for (std::size_t k = 0; k < std::min(steps[r].size(), right.size()); ++k)
      writer.arrow(steps[r][k].track, steps[r][k].begin, right[k].track, std::max(steps[r][k].begin, right[k].begin),
                   "message");
  }
  std::ofstream file(argv[3]);
  file << writer.text(ridge::TraceArguments().text("clock", "CUPTI").number("bytes", static_cast<double>(n) * 4));
  file.close();
  if (!file) return std::fprintf(stderr, "cannot write %s\n", argv[3]), 1;
  std::printf("%zu records, %zu exchanges a rank\n", records.size(), steps[0].size());
}
