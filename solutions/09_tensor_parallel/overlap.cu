// Lab 09, task `overlap`: the MLP with sequence parallelism, in chunks that travel while others are multiplied.
//
// Run: ./ridge check 09 --task overlap
#include "tensor_parallel.hpp"

// TASK(overlap)
#include <algorithm>

namespace {

// Products stay in the caller's stream, and collectives have a stream of their own. Each of NCCL's blocks takes a
// multiprocessor from the product beside it. A product of the measured case has 128 tiles, for 132 multiprocessors: with
// more than 4 of them taken, some tiles wait for a second round, and the product takes twice as long. So collectives
// beside products have a communicator of 4 blocks.
struct Lane {
  ncclComm_t beside;
  cudaStream_t messages;
  cudaEvent_t begin, end, gathered[kMostChunks], multiplied[kMostChunks];
  explicit Lane(const Group& group) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.maxCTAs = 4;
    config.cgaClusterSize = 1;  // blocks in a cluster would wait for multiprocessors that are neighbours
    ncclCommSplit(group.comm, 0, group.rank, &beside, &config);
    cudaStreamCreateWithFlags(&messages, cudaStreamNonBlocking);
    for (cudaEvent_t* e : {&begin, &end}) cudaEventCreateWithFlags(e, cudaEventDisableTiming);
    for (cudaEvent_t& e : gathered) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    for (cudaEvent_t& e : multiplied) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  }
};

}  // namespace

void overlap(const float* x, const MlpTensors<const float*>& w, float* y, const OverlapSpace& s, int N, int C, int F,
             int chunks, const Group& group) {
  static const Lane lane(group);
  const int n = N / group.size, m = (n + chunks - 1) / chunks;
  const int used = (n + m - 1) / m;  // chunks that are not empty
  const cudaStream_t stream = group.stream;
  // Chunk c: `rows` rows of each rank from `first` on. Gathered, all ranks' lie one after the other from t * first on.
  auto first = [&](int c) { return static_cast<std::size_t>(c) * m; };
  auto rows = [&](int c) { return std::min(m, n - c * m); };
  auto whole = [&](float* of, int c, int width) { return of + group.size * first(c) * width; };

  // The first gather and the last scatter run alone on the GPU, with all of NCCL's blocks.
  auto gather = [&](int c) {
    ncclAllGather(x + first(c) * C, whole(s.gathered, c, C), static_cast<std::size_t>(rows(c)) * C, ncclFloat,
                  c == 0 ? group.comm : lane.beside, lane.messages);
    cudaEventRecord(lane.gathered[c], lane.messages);
  };
  auto multiply = [&](int c) {
    const int all = group.size * rows(c);
    float *pre = whole(s.pre, c, F), *act = whole(s.act, c, F);
    cudaStreamWaitEvent(stream, lane.gathered[c]);
    nn::linear_forward(group.gemm, whole(s.gathered, c, C), w.A, pre, all, C, F);
    nn::bias_gelu(pre, w.a, act, all, F, stream);
    nn::linear_forward(group.gemm, act, w.B, whole(s.partial, c, C), all, F, C);
    cudaEventRecord(lane.multiplied[c], stream);
  };
  auto scatter = [&](int c) {
    cudaStreamWaitEvent(lane.messages, lane.multiplied[c]);
    ncclReduceScatter(whole(s.partial, c, C), y + first(c) * C, static_cast<std::size_t>(rows(c)) * C, ncclFloat,
                      ncclSum, c + 1 == used ? group.comm : lane.beside, lane.messages);
  };

  cudaEventRecord(lane.begin, stream);  // x may still be in the making
  cudaStreamWaitEvent(lane.messages, lane.begin);
  gather(0);
  for (int c = 0; c < used; ++c) {
    if (c + 1 < used) gather(c + 1);  // before the scatter of c, which waits for a product
    multiply(c);
    scatter(c);
  }
  cudaEventRecord(lane.end, lane.messages);
  cudaStreamWaitEvent(stream, lane.end);
  nn::add_bias(y, w.b, n, C, stream);
}
// END(overlap)
