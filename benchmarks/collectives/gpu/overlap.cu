// Lab 09's `overlap` on real GPUs, in variants: an MLP with sequence parallelism whose messages hide behind its products, against the
// same in one stream. One process a GPU; prints a line of JSON for each variant.
//
//   nvcc -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a -I runtime -I benchmarks/training benchmarks/collectives/gpu/overlap.cu
//     -lcublas -lnccl -o overlap
//   ./overlap [turns] [names with ; between, or all] [calls in a turn]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "nn/columns.cuh"
#include "nn/elementwise.cuh"
#include "nn/gemm.hpp"
#include "ranks.hpp"

namespace {

constexpr int kRanks = 2, kN = 8192, kC = 1024, kF = 4096 / kRanks, kChunks = 4;  // those of the lab's measured case

enum class Part { all, products, messages };

struct Variant {
  const char* name;
  int chunks = kChunks;
  Part part = Part::all;
  bool priority = false;  // the messages' stream has a higher one
  int blocks = 0;         // NCCL's kernels have at most that many; 0: as NCCL likes
  int cluster = -1;       // of NCCL's blocks; -1: as NCCL likes
  int lanes = 1;          // streams of products, in turn
  bool ends = false;      // the first gather and the last scatter with as many blocks as NCCL likes
};

const Variant kVariants[] = {
    {"sequential", 1},
    {"products", 1, Part::products},
    {"products in chunks", kChunks, Part::products},
    {"messages", 1, Part::messages},
    {"messages in chunks", kChunks, Part::messages},
    {"messages in chunks, 4 blocks", kChunks, Part::messages, false, 4, 1},
    {"overlap"},
    {"overlap, messages first", kChunks, Part::all, true},
    {"overlap, 8 blocks", kChunks, Part::all, false, 8},
    {"overlap, 4 blocks", kChunks, Part::all, false, 4},
    {"overlap, 4 blocks, no clusters", kChunks, Part::all, false, 4, 1},
    {"overlap, 8 blocks, no clusters, all at the ends", kChunks, Part::all, false, 8, 1, 1, true},
    {"overlap, 4 blocks, no clusters, all at the ends", kChunks, Part::all, false, 4, 1, 1, true},
    {"overlap, 4 blocks, no clusters, all at the ends, messages first", kChunks, Part::all, true, 4, 1, 1, true},
    {"overlap, 3 blocks, no clusters, all at the ends", kChunks, Part::all, false, 3, 1, 1, true},
    {"overlap, 2 blocks, no clusters, all at the ends", kChunks, Part::all, false, 2, 1, 1, true},
    {"overlap, 2 lanes", kChunks, Part::all, false, 0, -1, 2},
    {"overlap, 2 lanes, messages first, 8 blocks, no clusters", kChunks, Part::all, true, 8, 1, 2},
    {"overlap, 2 lanes, messages first, 8 blocks, no clusters, all at the ends", kChunks, Part::all, true, 8, 1, 2,
     true},
};

bool among(const std::string& words, const std::string& name) {
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find(';', at), words.size());
    if (name == words.substr(at, end - at)) return true;
    at = end + 1;
  }
  return words == "all";
}

float* floats(std::size_t n) {
  float* p = nullptr;
  nn::check(cudaMalloc(&p, n * sizeof(float)), "memory");
  return p;
}

// to: (n) numbers between -scale and scale.
__global__ void fill_kernel(float* to, std::size_t n, float scale, unsigned seed) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    unsigned h = static_cast<unsigned>(i) * 2654435761u + seed;
    h ^= h >> 15, h *= 2246822519u, h ^= h >> 13;
    to[i] = (static_cast<float>(h >> 8) / (1 << 23) - 1) * scale;
  }
}

// Of one rank. x, y: (kN / kRanks, kC); A: (kF, kC), a: (kF), B: (kC, kF), b: (kC); gathered, partial: (kN, kC); pre, act: (kN, kF).
struct Layer {
  float *x, *y, *A, *a, *B, *b, *gathered, *partial, *pre, *act;
};

cudaEvent_t event() {
  cudaEvent_t e;
  nn::check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "an event");
  return e;
}

cudaStream_t stream_of(bool first) {
  int low = 0, high = 0;
  nn::check(cudaDeviceGetStreamPriorityRange(&low, &high), "priorities");
  cudaStream_t s;
  nn::check(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, first ? high : low), "a stream");
  return s;
}

class Run {
 public:
  Run(const Variant& v, const Layer& l, ncclComm_t comm, int rank, cudaStream_t stream)
      : v_(v),
        l_(l),
        whole_(comm),
        comm_(comm),
        stream_(stream),
        messages_(v.chunks == 1 ? stream : stream_of(v.priority)) {
    if (v.blocks > 0 || v.cluster >= 0) {
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      if (v.blocks > 0) config.maxCTAs = v.blocks;
      if (v.cluster >= 0) config.cgaClusterSize = v.cluster;
      bench::check(ncclCommSplit(comm, 0, rank, &comm_, &config), "ncclCommSplit");
    }
    for (int i = 0; i < v.lanes; ++i) {
      lanes_.push_back(v.lanes == 1 ? stream : stream_of(false));
      gemms_.push_back(std::make_unique<nn::Gemm>(lanes_.back()));
    }
    for (int c = 0; c < v.chunks; ++c) gathered_.push_back(event()), multiplied_.push_back(event());
  }

  void operator()() {
    const int n = kN / kRanks, m = n / v_.chunks;
    auto own = [&](float* of, int c) { return of + static_cast<std::size_t>(c) * m * kC; };
    auto whole = [&](float* of, int c, int width) { return of + static_cast<std::size_t>(c) * kRanks * m * width; };
    auto gather = [&](int c) {
      if (v_.part != Part::products)
        bench::check(ncclAllGather(own(l_.x, c), whole(l_.gathered, c, kC), static_cast<std::size_t>(m) * kC, ncclFloat,
                                   v_.ends && c == 0 ? whole_ : comm_, messages_),
                     "ncclAllGather");
      order(gathered_[static_cast<std::size_t>(c)], messages_);
    };
    auto multiply = [&](int c) {
      const std::size_t lane = static_cast<std::size_t>(c % v_.lanes);
      const cudaStream_t s = lanes_[lane];
      after(s, gathered_[static_cast<std::size_t>(c)]);
      if (v_.part != Part::messages) {
        float *pre = whole(l_.pre, c, kF), *act = whole(l_.act, c, kF);
        nn::linear_forward(*gemms_[lane], whole(l_.gathered, c, kC), l_.A, pre, kRanks * m, kC, kF);
        nn::bias_gelu(pre, l_.a, act, kRanks * m, kF, s);
        nn::linear_forward(*gemms_[lane], act, l_.B, whole(l_.partial, c, kC), kRanks * m, kF, kC);
      }
      order(multiplied_[static_cast<std::size_t>(c)], s);
    };
    auto scatter = [&](int c) {
      after(messages_, multiplied_[static_cast<std::size_t>(c)]);
      if (v_.part != Part::products)
        bench::check(ncclReduceScatter(whole(l_.partial, c, kC), own(l_.y, c), static_cast<std::size_t>(m) * kC,
                                       ncclFloat, ncclSum, v_.ends && c + 1 == v_.chunks ? whole_ : comm_, messages_),
                     "ncclReduceScatter");
    };
    order(begin_, stream_);
    after(messages_, begin_);
    for (cudaStream_t s : lanes_) after(s, begin_);
    gather(0);
    for (int c = 0; c < v_.chunks; ++c) {
      if (c + 1 < v_.chunks) gather(c + 1);
      multiply(c);
      scatter(c);
    }
    order(end_, messages_);
    after(stream_, end_);
    nn::add_bias(l_.y, l_.b, n, kC, stream_);
  }

 private:
  static void order(cudaEvent_t e, cudaStream_t s) { nn::check(cudaEventRecord(e, s), "recording"); }
  static void after(cudaStream_t s, cudaEvent_t e) { nn::check(cudaStreamWaitEvent(s, e), "waiting"); }

  const Variant& v_;
  Layer l_;
  ncclComm_t whole_, comm_;
  cudaStream_t stream_, messages_;
  std::vector<cudaStream_t> lanes_;
  std::vector<std::unique_ptr<nn::Gemm>> gemms_;
  std::vector<cudaEvent_t> gathered_, multiplied_;
  cudaEvent_t begin_ = event(), end_ = event();
};

void measure(int turns, const std::string& wanted, int calls, int rank, bench::Ranks& ranks) {
  using Clock = std::chrono::steady_clock;
  ncclComm_t comm = ranks.communicator(rank);
  cudaStream_t stream;
  nn::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  const std::size_t rows = kN / kRanks, C = kC, F = kF, N = kN;
  Layer l{floats(rows * C), floats(rows * C), floats(F * C), floats(F),     floats(C * F),
          floats(C),        floats(N * C),    floats(N * C), floats(N * F), floats(N * F)};
  auto fill = [&](float* to, std::size_t n, float scale, unsigned seed) {
    fill_kernel<<<1024, 256, 0, stream>>>(to, n, scale, seed);
    nn::check_launch("fill_kernel");
  };
  const auto own = static_cast<unsigned>(rank + 1);
  fill(l.x, rows * C, 1, own * 7), fill(l.A, F * C, 0.05f, own * 11), fill(l.a, F, 0.1f, own * 13);
  fill(l.B, C * F, 0.05f, own * 17), fill(l.b, C, 0.1f, 19);
  std::vector<const Variant*> variants;
  std::vector<std::unique_ptr<Run>> runs;
  for (const Variant& v : kVariants)
    if (among(wanted, v.name)) variants.push_back(&v), runs.push_back(std::make_unique<Run>(v, l, comm, rank, stream));
  std::vector<std::vector<double>> seconds(runs.size());
  std::vector<double> error(runs.size(), 0);
  std::vector<float> right, got(rows * C);
  for (std::size_t k = 0; k < runs.size(); ++k) {
    nn::check(cudaMemsetAsync(l.y, 0xff, rows * C * sizeof(float), stream), "poison");
    (*runs[k])();
    nn::check(cudaStreamSynchronize(stream), "a call");
    nn::check(cudaMemcpy(got.data(), l.y, rows * C * sizeof(float), cudaMemcpyDeviceToHost), "reading y");
    if (k == 0) right = got;
    if (variants[k]->part == Part::all)
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double e = std::fabs(static_cast<double>(got[i]) - static_cast<double>(right[i]));
        error[k] = e <= error[k] ? error[k] : e;  // NaN stays
      }
  }
  for (int turn = -2; turn < turns; ++turn)
    for (std::size_t k = 0; k < runs.size(); ++k) {
      nn::check(cudaStreamSynchronize(stream), "the call before");
      ranks.barrier();
      const auto start = Clock::now();
      for (int i = 0; i < calls; ++i) (*runs[k])();
      nn::check(cudaStreamSynchronize(stream), "calls");
      ranks.of(rank) = std::chrono::duration<double>(Clock::now() - start).count() / calls;
      ranks.barrier();
      const std::vector<double> each = ranks.of_all();
      if (turn >= 0) seconds[k].push_back(*std::max_element(each.begin(), each.end()));
      ranks.barrier();
    }
  ranks.of(rank) = 0;
  if (rank != 0) return;
  cudaDeviceProp about{};
  nn::check(cudaGetDeviceProperties(&about, rank), "the GPU's name");
  for (std::size_t k = 0; k < runs.size(); ++k) {
    std::vector<double> ratios;
    for (std::size_t t = 0; t < seconds[k].size(); ++t) ratios.push_back(seconds[0][t] / seconds[k][t]);
    std::sort(ratios.begin(), ratios.end());
    std::printf(
        "{\"what\": \"lab 09 overlap\", \"device\": \"%s\", \"variant\": \"%s\", \"us\": %.1f, \"over_first\": %.4f, "
        "\"low\": %.4f, \"high\": %.4f, \"difference\": %.2g}\n",
        about.name, variants[k]->name, bench::median(seconds[k]) * 1e6, bench::median(ratios), ratios.front(),
        ratios.back(), error[k]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int turns = argc > 1 ? std::atoi(argv[1]) : 9, calls = argc > 3 ? std::atoi(argv[3]) : 4;
  const std::string wanted = argc > 2 ? argv[2] : "all";
  bench::Ranks ranks(kRanks);
  return ranks.run([&](int rank) { measure(turns, wanted, calls, rank, ranks); });
}
