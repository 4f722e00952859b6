// What the tasks are held against on a GPU. occupancy: a plain read of as many bytes as the walks pass in rows.
// divergence: the same rounds, with elements whose kinds are sorted already. The others are not timed; baseline/ has the
// products that the judge times for autotune.
#include "model.hpp"
#include "profile.hpp"
#include "profiling.hpp"
#include "search.hpp"

namespace {

constexpr int kThreads = 256;

// in: n float4. A block sums kVectors x kThreads of them; `out` is written where the sum is one that does not occur.
constexpr int kVectors = 8;
__global__ void read_kernel(const float4* in, float* out, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * kThreads * kVectors + threadIdx.x;
  float4 v[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const std::size_t i = first + static_cast<std::size_t>(k) * kThreads;
    v[k] = i < n ? __ldcs(in + i) : make_float4(0, 0, 0, 0);
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  if (sum == 1.2345e30f) *out = sum;
}

// x, y: (n). Of each kPart neighbours a quarter is taken to be of each kind, in order.
constexpr int kPart = 2048;
__global__ void sorted_kernel(const float* x, float* y, int n) {
  const int begin = blockIdx.x * kPart, of_kind = kPart / kKinds;
  for (int kind = kKinds - 1; kind >= 0; --kind)
    for (int i = begin + kind * of_kind + threadIdx.x; i < begin + (kind + 1) * of_kind; i += kThreads)
      if (i < n) y[i] = relax(kind, x[i]);
}

}  // namespace

void walk(const int*, const float* rows, const int*, float* sums, int nodes, int walks, int hops, void*, std::size_t,
          cudaStream_t stream) {
  constexpr std::size_t of_block = kThreads * kVectors;
  for (std::size_t left = static_cast<std::size_t>(walks) * hops; left > 0;) {
    const std::size_t passed = left < static_cast<std::size_t>(nodes) ? left : nodes, vectors = passed * kRow / 4;
    read_kernel<<<static_cast<unsigned>((vectors + of_block - 1) / of_block), kThreads, 0, stream>>>(
        reinterpret_cast<const float4*>(rows), sums, vectors);
    left -= passed;
  }
}

void evaluate(const int*, const float* x, float* y, int n, void*, std::size_t, cudaStream_t stream) {
  sorted_kernel<<<(n + kPart - 1) / kPart, kThreads, 0, stream>>>(x, y, n);
}

void predict(const Launch*, int, const Device&, Prediction*) {}
void diagnose(const Profile*, int, Diagnosis*) {}
int autotune(const Shape&, const Measure&) { return 0; }
