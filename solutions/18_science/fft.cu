// Lab 18, task `fft`: many Fourier transforms, each point read once and written once.
//
// 5 n log2 n operations for 16 n bytes: memory decides again, if nothing goes there in between.
// Run: ./ridge check 18 --task fft
#include "fft.hpp"

// TASK(fft)
namespace {

constexpr int kThreads = 256, kOwn = 16;  // of a block; points of a thread
constexpr int kParts = 16;                // blocks that have a transform of 65536 points: 16 columns each
constexpr int kDelay = 24;                // transforms between the passes of one: 12 MiB that stay in L2

// roots[k] = exp(-2 pi i k / n)
__global__ void roots_kernel(float2* roots, int n) {
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k < n) roots[k] = root(k, n);
}

// An inverse transform is the forward one of the conjugate numbers, conjugated and divided by n: sign is -1 and scale
// 1 / n; else both are 1.
__device__ float2 conjugate(float2 a, float sign) { return make_float2(a.x, sign * a.y); }
__device__ float2 ended(float2 a, float sign, float scale) { return make_float2(scale * a.x, sign * scale * a.y); }

// A block a transform of 4096 points: j = 256 j0 + 16 j1 + j2, k = k0 + 16 k1 + 256 k2. in, out: (batch, 4096).
__global__ void __launch_bounds__(kThreads, 4)
    points_4096_kernel(const float2* in, float2* out, const float2* roots, float sign, float scale) {
  __shared__ float2 shared[16 * 257];  // 257: the rows of 16 lanes begin in different banks
  const int t = static_cast<int>(threadIdx.x), low = t % 16, high = t / 16;
  const std::size_t at = std::size_t{blockIdx.x} * 4096 + t;
  const float2 one = make_float2(1, 0);
  float2 v[kOwn];
#pragma unroll
  for (int i = 0; i < kOwn; ++i) v[i] = conjugate(__ldcs(in + at + 256 * i), sign);
  fft16(v);  // over j0; this thread has j1 and j2: t = 16 j1 + j2
  twiddle(v, one, roots[t]);
#pragma unroll
  for (int i = 0; i < kOwn; ++i) shared[257 * i + t] = v[i];  // (k0, j1, j2)
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kOwn; ++i) v[i] = shared[257 * low + 16 * i + high];
  __syncthreads();
  fft16(v);  // over j1; k0 = low, j2 = high
  twiddle(v, one, roots[16 * high]);
#pragma unroll
  for (int i = 0; i < kOwn; ++i) shared[256 * i + t] = v[i];  // (k1, j2, k0)
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kOwn; ++i) v[i] = shared[256 * high + 16 * i + low];
  fft16(v);  // over j2; k0 = low, k1 = high
#pragma unroll
  for (int i = 0; i < kOwn; ++i) __stcs(out + at + 256 * i, ended(v[i], sign, scale));
}

// 65536 points in two passes: j = 256 a + b, k = c + 256 d. Pass one has 16 columns b in a block: FFTs over a = 16 a0 + a1
// to c = c0 + 16 c1, the roots between, and stores at place 256 b + c.
__device__ void first_pass(const float2* in, float2* out, int first, float2* shared, float sign) {
  const int t = static_cast<int>(threadIdx.x), low = t % 16, high = t / 16, b = first + high;
  float2 v[kOwn];
#pragma unroll
  for (int i = 0; i < kOwn; ++i) v[i] = conjugate(__ldcs(in + 256 * (16 * i + high) + first + low), sign);
  fft16(v);  // over a0; a1 = high, b = first + low
  twiddle(v, make_float2(1, 0), root(high, 256));
#pragma unroll
  for (int i = 0; i < kOwn; ++i) shared[17 * (16 * i + high) + low] = v[i];  // (c0, a1, b)
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kOwn; ++i) v[i] = shared[17 * (16 * low + i) + high];
  fft16(v);  // over a1; c0 = low
  twiddle(v, root(b * low, 65536), root(b, 4096));
#pragma unroll
  for (int i = 0; i < kOwn; ++i) __stcg(out + 256 * b + low + 16 * i, v[i]);
}
// Pass two has 16 columns c: FFTs over b = 16 b0 + b1 to d = d0 + 16 d1, in place.
__device__ void second_pass(float2* out, int first, float2* shared, float sign, float scale) {
  const int t = static_cast<int>(threadIdx.x), low = t % 16, high = t / 16, c = first + low;
  float2 v[kOwn];
#pragma unroll
  for (int i = 0; i < kOwn; ++i) v[i] = __ldcg(out + 256 * (16 * i + high) + c);
  fft16(v);  // over b0; b1 = high
  twiddle(v, make_float2(1, 0), root(high, 256));
#pragma unroll
  for (int i = 0; i < kOwn; ++i) shared[16 * (16 * i + high) + low] = v[i];  // (d0, b1, c)
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kOwn; ++i) v[i] = shared[16 * (16 * high + i) + low];
  fft16(v);  // over b1; d0 = high
#pragma unroll
  for (int i = 0; i < kOwn; ++i) __stcs(out + 256 * (high + 16 * i) + c, ended(v[i], sign, scale));
}

// Both passes in one launch, the second kDelay transforms after the first, so that it finds its numbers in L2. Blocks take
// tickets, and each waits only for blocks with earlier ones, which have begun. counters: (1 + batch), 0 before: the next
// ticket; how many blocks have ended the first pass of a transform. in, out: (batch, 65536).
__global__ void __launch_bounds__(kThreads, 4)
    points_65536_kernel(const float2* in, float2* out, unsigned* counters, int batch, float sign, float scale) {
  __shared__ float2 shared[256 * 17];
  __shared__ unsigned ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(counters, 1u);
  __syncthreads();
  const int group = static_cast<int>(ticket) / (2 * kParts), part = static_cast<int>(ticket) % (2 * kParts);
  const bool second = part >= kParts;
  const int transform = second ? group - kDelay : group;
  if (transform < 0 || transform >= batch) return;
  const std::size_t at = std::size_t(transform) * 65536;
  unsigned* parts = counters + 1 + transform;
  if (!second) {
    first_pass(in + at, out + at, 16 * part, shared, sign);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(parts, 1u);
  } else {
    if (threadIdx.x == 0)
      while (*static_cast<volatile unsigned*>(parts) < kParts) {
      }
    __syncthreads();
    __threadfence();
    second_pass(out + at, 16 * (part - kParts), shared, sign, scale);
  }
}

}  // namespace

void fft_plan(float2* plan, int n, cudaStream_t stream) { roots_kernel<<<(n + 255) / 256, 256, 0, stream>>>(plan, n); }

void fft(const float2* in, float2* out, const float2* plan, int n, int batch, bool inverse, void* workspace,
         std::size_t, cudaStream_t stream) {
  const float sign = inverse ? -1.0f : 1.0f, scale = inverse ? 1.0f / static_cast<float>(n) : 1.0f;
  if (n == 4096) {
    points_4096_kernel<<<batch, kThreads, 0, stream>>>(in, out, plan, sign, scale);
    return;
  }
  auto* counters = static_cast<unsigned*>(workspace);
  cudaMemsetAsync(counters, 0, (1 + std::size_t(batch)) * sizeof(unsigned), stream);
  points_65536_kernel<<<2 * kParts*(batch + kDelay), kThreads, 0, stream>>>(in, out, counters, batch, sign, scale);
}
// END(fft)
