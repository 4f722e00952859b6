// All-reduce of floats on the GPUs of one machine, in turn with NCCL's in the same run: the ring of lab 06 over sends and
// receives, and two kernels over peer memory. One thread for each GPU; calls are replayed as graphs; prints JSON.
//   all_reduce [GPUs] [turns] [largest MiB] [names that begin so, with commas between, or all] [registered]
#include <nccl.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "peer.cuh"
#include "ring.hpp"

#define CUDA(call)                                                                                \
  do {                                                                                            \
    cudaError_t e_ = (call);                                                                      \
    if (e_ != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_)); \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)
#define NCCL(call)                                                                                \
  do {                                                                                            \
    ncclResult_t r_ = (call);                                                                     \
    if (r_ != ncclSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, ncclGetErrorString(r_)); \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

namespace {

constexpr int kMostRings = 16;

struct Device {
  float *in = nullptr, *out = nullptr, *workspace = nullptr;
  Shared* shared = nullptr;
  uint4* packets = nullptr;
  cudaStream_t stream = nullptr;
  ncclComm_t comm = nullptr;
  std::vector<ncclComm_t> comms;  // for rings side by side
  cudaStream_t lanes[kMostRings] = {};
  cudaEvent_t fork = nullptr, joins[kMostRings] = {};
  float milliseconds = 0;  // of the last replay
};

struct Variant {
  std::string name;
  std::size_t least, most;  // bytes
  void (*call)(int rank, int ranks, Device& d, const Peers& peers, std::size_t n);
  bool bf16 = false;                         // of the same bytes; else float
  std::size_t chunk = std::size_t{1} << 40;  // most bytes of a rank's part
  bool whole = true;                         // false: a part of an all-reduce, to tell where its time goes
};

// The lab's ring on a part of the data each, with a communicator and a stream of its own: the sums of one hide behind the
// messages of the others, and a send has more of NCCL's channels.
template <int kRings>
void launch_rings(int, int, Device& d, const Peers&, std::size_t n) {
  const std::size_t part = n / kRings;
  CUDA(cudaEventRecord(d.fork, d.stream));
  for (int k = 0; k < kRings; ++k) {
    const std::size_t at = part * static_cast<std::size_t>(k), count = k + 1 < kRings ? part : n - at;
    CUDA(cudaStreamWaitEvent(d.lanes[k], d.fork));
    ring(d.in + at, d.out + at, count, d.workspace + at, count * sizeof(float), d.comms[static_cast<std::size_t>(k)],
         d.lanes[k]);
    CUDA(cudaEventRecord(d.joins[k], d.lanes[k]));
    CUDA(cudaStreamWaitEvent(d.stream, d.joins[k]));
  }
}

// own, received: (p - 1, chunk) from the other ranks in their order; out: (chunk). Sums of four floats at a time.
__global__ void sum_all_kernel(const float4* own, const float4* received, float4* out, int rank, int ranks,
                               std::size_t chunk) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= chunk) return;
  float4 sum{};
  for (int q = 0; q < ranks; ++q) {
    const float4 x = q == rank ? own[i] : received[static_cast<std::size_t>(q - (q > rank)) * chunk + i];
    sum = {sum.x + x.x, sum.y + x.y, sum.z + x.z, sum.w + x.w};
  }
  out[i] = sum;
}

// The bytes of a ring in two exchanges instead of 2 (p - 1): every rank sends each other one that one's chunk, adds what came
// for its own, and sends the sum to all. n: a multiple of 4 p.
void launch_direct(int rank, int ranks, Device& d, const Peers&, std::size_t n) {
  const std::size_t chunk = n / static_cast<std::size_t>(ranks);
  auto at = [=](float* p, int q) { return p + static_cast<std::size_t>(q) * chunk; };
  NCCL(ncclGroupStart());
  for (int q = 0; q < ranks; ++q) {
    if (q == rank) continue;
    NCCL(ncclSend(at(d.in, q), chunk, ncclFloat, q, d.comm, d.stream));
    NCCL(ncclRecv(at(d.workspace, q - (q > rank)), chunk, ncclFloat, q, d.comm, d.stream));
  }
  NCCL(ncclGroupEnd());
  sum_all_kernel<<<static_cast<unsigned>((chunk / 4 + 255) / 256), 256, 0, d.stream>>>(
      reinterpret_cast<const float4*>(at(d.in, rank)), reinterpret_cast<const float4*>(d.workspace),
      reinterpret_cast<float4*>(at(d.out, rank)), rank, ranks, chunk / 4);
  NCCL(ncclGroupStart());
  for (int q = 0; q < ranks; ++q) {
    if (q == rank) continue;
    NCCL(ncclSend(at(d.out, rank), chunk, ncclFloat, q, d.comm, d.stream));
    NCCL(ncclRecv(at(d.out, q), chunk, ncclFloat, q, d.comm, d.stream));
  }
  NCCL(ncclGroupEnd());
}

// Blocks of 512 threads for a chunk of n / ranks floats, `most` at most.
int grid_for(std::size_t n, int ranks, int most) {
  return std::clamp(static_cast<int>((n / 4 / static_cast<std::size_t>(ranks) + 511) / 512), 1, most);
}

template <int kUnroll, int kBlocks>
void launch_two_shot(int rank, int ranks, Device& d, const Peers& peers, std::size_t n) {
  const int grid = grid_for(n, ranks, kBlocks);
  if (ranks == 2) two_shot<2, kUnroll><<<grid, 512, 0, d.stream>>>(peers, rank, n);
  if (ranks == 4) two_shot<4, kUnroll><<<grid, 512, 0, d.stream>>>(peers, rank, n);
  if (ranks == 8) two_shot<8, kUnroll><<<grid, 512, 0, d.stream>>>(peers, rank, n);
}

template <int kUnroll, int kBlocks>
void launch_push(int rank, int ranks, Device& d, const Peers& peers, std::size_t n) {
  const int grid = grid_for(n, ranks, kBlocks);
  if (ranks == 2) push<2, kUnroll><<<grid, 512, 0, d.stream>>>(peers, rank, n);
  if (ranks == 4) push<4, kUnroll><<<grid, 512, 0, d.stream>>>(peers, rank, n);
  if (ranks == 8) push<8, kUnroll><<<grid, 512, 0, d.stream>>>(peers, rank, n);
}

unsigned grid_of_packets(std::size_t floats) {
  return static_cast<unsigned>((floats / 3 + kPacketThreads) / kPacketThreads);
}

void launch_packets(int rank, int ranks, Device& d, const Peers& peers, std::size_t n) {
  const unsigned grid = grid_of_packets(n);
  if (ranks == 2) packets<2><<<grid, kPacketThreads, 0, d.stream>>>(peers, rank, n);
  if (ranks == 4) packets<4><<<grid, kPacketThreads, 0, d.stream>>>(peers, rank, n);
  if (ranks == 8) packets<8><<<grid, kPacketThreads, 0, d.stream>>>(peers, rank, n);
}

void launch_packets_twice(int rank, int ranks, Device& d, const Peers& peers, std::size_t n) {
  const unsigned grid = grid_of_packets(n / static_cast<std::size_t>(ranks));
  if (ranks == 2) packets_twice<2><<<grid, kPacketThreads, 0, d.stream>>>(peers, rank, n);
  if (ranks == 4) packets_twice<4><<<grid, kPacketThreads, 0, d.stream>>>(peers, rank, n);
  if (ranks == 8) packets_twice<8><<<grid, kPacketThreads, 0, d.stream>>>(peers, rank, n);
}

// The pipelined ring of the lab adds bf16.
template <int kSlices>
void launch_pipelined(int, int, Device& d, const Peers&, std::size_t n) {
  pipelined(reinterpret_cast<const __nv_bfloat16*>(d.in), reinterpret_cast<__nv_bfloat16*>(d.out), 2 * n, kSlices,
            d.workspace, n * sizeof(float), d.comm, d.stream);
}

// The same with a communicator and a stream for each slice: the fixed cost of one slice's exchange hides behind another's bytes.
template <int kSlices>
void launch_pipelined_side_by_side(int, int, Device& d, const Peers&, std::size_t n) {
  const std::size_t part = 2 * n / kSlices;  // of bf16
  auto* in = reinterpret_cast<const __nv_bfloat16*>(d.in);
  auto *out = reinterpret_cast<__nv_bfloat16*>(d.out), *workspace = reinterpret_cast<__nv_bfloat16*>(d.workspace);
  CUDA(cudaEventRecord(d.fork, d.stream));
  for (std::size_t k = 0; k < kSlices; ++k) {
    CUDA(cudaStreamWaitEvent(d.lanes[k], d.fork));
    pipelined(in + k * part, out + k * part, part, 1, workspace + k * part, part * 2, d.comms[k], d.lanes[k]);
    CUDA(cudaEventRecord(d.joins[k], d.lanes[k]));
    CUDA(cudaStreamWaitEvent(d.stream, d.joins[k]));
  }
}

// One step of a ring: a chunk goes to the right, one comes from the left.
void launch_exchange(int rank, int ranks, Device& d, const Peers&, std::size_t n) {
  const std::size_t chunk = n / static_cast<std::size_t>(ranks);
  NCCL(ncclGroupStart());
  NCCL(ncclSend(d.in, chunk, ncclFloat, (rank + 1) % ranks, d.comm, d.stream));
  NCCL(ncclRecv(d.workspace, chunk, ncclFloat, (rank + ranks - 1) % ranks, d.comm, d.stream));
  NCCL(ncclGroupEnd());
}

// in, received, out: (n) of which a thread adds one: the ring's sum of a chunk.
__global__ void sum_kernel(const float* in, const float* received, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + received[i];
}

void launch_sum(int, int ranks, Device& d, const Peers&, std::size_t n) {
  const std::size_t chunk = n / static_cast<std::size_t>(ranks);
  sum_kernel<<<static_cast<unsigned>((chunk + 255) / 256), 256, 0, d.stream>>>(d.in, d.workspace, d.out, chunk);
}

constexpr std::size_t kMiB = 1 << 20, kAll = std::size_t{1} << 40;

const Variant kVariants[] = {
    {"nccl", 0, kAll,
     [](int, int, Device& d, const Peers&, std::size_t n) {
       NCCL(ncclAllReduce(d.in, d.out, n, ncclFloat, ncclSum, d.comm, d.stream));
     }},
    {"nccl bf16", 0, kAll,
     [](int, int, Device& d, const Peers&, std::size_t n) {
       NCCL(ncclAllReduce(d.in, d.out, 2 * n, ncclBfloat16, ncclSum, d.comm, d.stream));
     },
     true},
    {"ring", kMiB, kAll,
     [](int, int, Device& d, const Peers&, std::size_t n) {
       ring(d.in, d.out, n, d.workspace, n * sizeof(float), d.comm, d.stream);
     }},
    {"rings 2", 4 * kMiB, kAll, launch_rings<2>},
    {"rings 4", 16 * kMiB, kAll, launch_rings<4>},
    {"rings 8", 16 * kMiB, kAll, launch_rings<8>},
    {"rings 16", 256 * kMiB, kAll, launch_rings<16>},
    {"direct", kMiB, kAll, launch_direct},
    {"pipelined 2", kMiB, kAll, launch_pipelined<2>, true},
    {"pipelined 4", 4 * kMiB, kAll, launch_pipelined<4>, true},
    {"pipelined 8", 16 * kMiB, kAll, launch_pipelined<8>, true},
    {"pipelined, side by side 2", kMiB, kAll, launch_pipelined_side_by_side<2>, true},
    {"pipelined, side by side 4", 16 * kMiB, kAll, launch_pipelined_side_by_side<4>, true},
    {"one exchange", kMiB / 4, kAll, launch_exchange, false, kAll, false},
    {"one sum", kMiB / 4, kAll, launch_sum, false, kAll, false},
    {"two_shot 32 blocks", 1 << 16, kAll, launch_two_shot<2, 32>},
    {"two_shot 64 blocks", 1 << 16, kAll, launch_two_shot<2, 64>},
    {"two_shot 132 blocks", 1 << 16, kAll, launch_two_shot<2, 132>},
    {"two_shot 132 blocks, 4 vectors", kMiB, kAll, launch_two_shot<4, 132>},
    {"push 32 blocks", 1 << 16, kAll, launch_push<2, 32>},
    {"push 64 blocks", 1 << 16, kAll, launch_push<2, 64>},
    {"push 132 blocks", 1 << 16, kAll, launch_push<2, 132>},
    {"push 132 blocks, 4 vectors", kMiB, kAll, launch_push<4, 132>},
    {"packets", 0, kPacketWords * sizeof(float), launch_packets},
    {"packets, twice", 1 << 14, kAll, launch_packets_twice, false, kPacketWords / 2 * sizeof(float)},
};

// Is `name` one of those that begin like a word of `words`?
bool among(const std::string& words, const std::string& name) {
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find(',', at), words.size());
    if (name.rfind(words.substr(at, end - at), 0) == 0) return true;
    at = end + 1;
  }
  return false;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 8, turns = argc > 2 ? std::atoi(argv[2]) : 15;
  const std::size_t largest = (argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 4096) << 20;
  const std::string wanted = argc > 4 ? argv[4] : "all";
  const bool registered = argc > 5;  // buffers from ncclMemAlloc, registered with the communicator
  if (ranks != 2 && ranks != 4 && ranks != 8) return std::fprintf(stderr, "2, 4 or 8 GPUs\n"), 2;
  std::vector<Device> devices(static_cast<std::size_t>(ranks));
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks));
  NCCL(ncclCommInitAll(comms.data(), ranks, nullptr));
  std::vector<std::vector<ncclComm_t>> more(kMostRings, comms);
  if (wanted == "all" || among(wanted, "rings 2") || among(wanted, "pipelined, side by side 2"))
    for (auto& of_ring : more) NCCL(ncclCommInitAll(of_ring.data(), ranks, nullptr));
  Peers peers{};
  for (int r = 0; r < ranks; ++r) {
    Device& d = devices[static_cast<std::size_t>(r)];
    CUDA(cudaSetDevice(r));
    for (int other = 0; other < ranks; ++other)
      if (cudaError_t e = other == r ? cudaSuccess : cudaDeviceEnablePeerAccess(other, 0);
          e != cudaSuccess && e != cudaErrorPeerAccessAlreadyEnabled)
        CUDA(e);
    cudaGetLastError();
    d.comm = comms[static_cast<std::size_t>(r)];
    for (float** p : {&d.in, &d.out, &d.workspace}) {
      if (!registered) {
        CUDA(cudaMalloc(p, largest));
        continue;
      }
      void* handle;
      NCCL(ncclMemAlloc(reinterpret_cast<void**>(p), largest));
      NCCL(ncclCommRegister(d.comm, *p, largest, &handle));
      for (const auto& of_ring : more)
        if (of_ring[static_cast<std::size_t>(r)] != d.comm)
          NCCL(ncclCommRegister(of_ring[static_cast<std::size_t>(r)], *p, largest, &handle));
    }
    CUDA(cudaMalloc(&d.shared, sizeof(Shared)));
    CUDA(cudaMemset(d.shared, 0, sizeof(Shared)));
    const std::size_t packet_bytes = 4 * static_cast<std::size_t>(ranks) * kPackets * sizeof(uint4);
    CUDA(cudaMalloc(&d.packets, packet_bytes));
    CUDA(cudaMemset(d.packets, 0, packet_bytes));
    CUDA(cudaStreamCreateWithFlags(&d.stream, cudaStreamNonBlocking));
    for (const auto& of_ring : more) d.comms.push_back(of_ring[static_cast<std::size_t>(r)]);
    for (cudaStream_t& lane : d.lanes) CUDA(cudaStreamCreateWithFlags(&lane, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&d.fork, cudaEventDisableTiming));
    for (cudaEvent_t& e : d.joins) CUDA(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    peers.in[r] = d.in, peers.out[r] = d.out, peers.scratch[r] = d.workspace, peers.shared[r] = d.shared,
    peers.packets[r] = d.packets;
    CUDA(cudaDeviceSynchronize());
  }

  // Small whole numbers: sums are exact in any order. Of each rank the same pattern, shifted. Read as bf16 each float is a
  // zero and the same number, so that answers in bf16 can be compared as floats.
  constexpr std::size_t kPattern = 1 << 20;
  std::vector<float> pattern(kPattern + 64);
  std::mt19937 random(20261122);
  for (float& x : pattern) x = static_cast<float>(static_cast<int>(random() % 31) - 15);
  std::barrier together(ranks);
  std::vector<std::string> lines;
  bool wrong = false;

  auto of_rank = [&](int r) {
    Device& d = devices[static_cast<std::size_t>(r)];
    CUDA(cudaSetDevice(r));
    for (std::size_t at = 0; at < largest / 4; at += kPattern)
      CUDA(cudaMemcpy(d.in + at, pattern.data() + r, std::min(kPattern, largest / 4 - at) * 4, cudaMemcpyHostToDevice));
    cudaEvent_t begin, end;
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    for (std::size_t bytes = 4096; bytes <= largest; bytes *= 4) {
      const std::size_t n = bytes / 4;
      const int calls = bytes <= 1 << 20 ? 50 : bytes <= std::size_t{64} << 20 ? 10 : 2;
      std::vector<cudaGraphExec_t> graphs;
      std::vector<const Variant*> variants;
      for (const Variant& v : kVariants) {
        if (bytes < v.least || bytes > v.most || bytes / static_cast<std::size_t>(ranks) > v.chunk) continue;
        if (wanted != "all" && v.name.rfind("nccl", 0) != 0 && !among(wanted, v.name)) continue;
        // Kernels that wait for each other must all run: more lanes than the device has queues for would hang.
        if (v.name == "rings 16" && std::getenv("CUDA_DEVICE_MAX_CONNECTIONS") == nullptr) continue;
        CUDA(cudaMemsetAsync(d.out, 0xff, bytes, d.stream));
        CUDA(cudaStreamSynchronize(d.stream));
        together.arrive_and_wait();
        v.call(r, ranks, d, peers, n);
        CUDA(cudaStreamSynchronize(d.stream));
        std::vector<float> got(std::min(n, kPattern));
        CUDA(cudaMemcpy(got.data(), d.out + (n - got.size()), got.size() * 4, cudaMemcpyDeviceToHost));
        for (std::size_t i = 0; i < got.size() && v.whole; ++i) {
          float sum = 0;
          for (int k = 0; k < ranks; ++k) sum += pattern[i + static_cast<std::size_t>(k)];
          if (n >= kPattern || n == got.size())
            if (got[i] != sum) {
              std::fprintf(stderr, "rank %d, %s, %zu bytes: out[%zu] is %g, not %g\n", r, v.name.c_str(), bytes, i,
                           static_cast<double>(got[i]), static_cast<double>(sum));
              wrong = true;
              break;
            }
        }
        cudaGraph_t graph;
        CUDA(cudaStreamBeginCapture(d.stream, cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < calls; ++i) v.call(r, ranks, d, peers, n);
        CUDA(cudaStreamEndCapture(d.stream, &graph));
        graphs.push_back(nullptr);
        CUDA(cudaGraphInstantiate(&graphs.back(), graph, 0));
        CUDA(cudaGraphDestroy(graph));
        variants.push_back(&v);
      }
      std::vector<std::vector<double>> seconds(variants.size());
      for (int turn = -2; turn < turns; ++turn)
        for (std::size_t k = 0; k < variants.size(); ++k) {
          together.arrive_and_wait();
          CUDA(cudaEventRecord(begin, d.stream));
          CUDA(cudaGraphLaunch(graphs[k], d.stream));
          CUDA(cudaEventRecord(end, d.stream));
          CUDA(cudaStreamSynchronize(d.stream));
          CUDA(cudaEventElapsedTime(&d.milliseconds, begin, end));
          together.arrive_and_wait();
          if (r == 0 && turn >= 0) {  // the rank that began last waited least
            float least = d.milliseconds;
            for (const Device& other : devices) least = std::min(least, other.milliseconds);
            seconds[k].push_back(least / 1e3 / calls);
          }
          together.arrive_and_wait();
        }
      for (cudaGraphExec_t g : graphs) CUDA(cudaGraphExecDestroy(g));
      if (r != 0) continue;
      for (std::size_t k = 0; k < variants.size(); ++k) {
        std::vector<double> ratios;
        const std::vector<double>& vendor = seconds[variants[k]->bf16 ? 1 : 0];  // of the same type
        for (std::size_t t = 0; t < seconds[k].size(); ++t) ratios.push_back(vendor[t] / seconds[k][t]);
        std::vector<double> sorted = ratios;
        std::sort(sorted.begin(), sorted.end());
        const double s = median(seconds[k]);
        char line[512];
        std::snprintf(line, sizeof line,
                      "{\"bytes\": %zu, \"variant\": \"%s\", \"us\": %.3f, \"bus_GBps\": %.2f, \"over_nccl\": %.4f, "
                      "\"low\": %.4f, \"high\": %.4f, \"turns\": %zu}",
                      bytes, variants[k]->name.c_str(), s * 1e6,
                      static_cast<double>(bytes) * 2 * (ranks - 1) / ranks / s / 1e9, median(ratios), sorted.front(),
                      sorted.back(), ratios.size());
        lines.push_back(line);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) threads.emplace_back(of_rank, r);
  for (auto& t : threads) t.join();
  int version = 0, driver = 0;
  ncclGetVersion(&version);
  cudaDriverGetVersion(&driver);
  cudaDeviceProp properties;
  CUDA(cudaGetDeviceProperties(&properties, 0));
  std::printf("{\"device\": \"%s\", \"gpus\": %d, \"nccl\": %d, \"cuda_driver\": %d, \"right\": %s, \"results\": [\n",
              properties.name, ranks, version, driver, wrong ? "false" : "true");
  for (std::size_t i = 0; i < lines.size(); ++i)
    std::printf("  %s%s\n", lines[i].c_str(), i + 1 < lines.size() ? "," : "");
  std::printf("]}\n");
  return wrong ? 1 : 0;
}
