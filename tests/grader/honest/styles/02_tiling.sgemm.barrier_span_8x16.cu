// Style: modern C++, cuda::pipeline of a thread, std::array and std::span, 8 x 16 results a thread in 64 x 128 tiles.
#include <array>
#include <cuda/pipeline>
#include <span>

#include "tiling.hpp"

namespace {

constexpr int kTileM = 64, kTileN = 128, kStep = 16;
constexpr int kBlock = 64;

struct alignas(16) Strip {
  std::array<std::array<float, kTileM + 4>, kStep> a;  // transposed
  std::array<std::array<float, kTileN>, kStep> b;
};

struct Shape {
  int m, n, k;
};

using Pipe = cuda::pipeline<cuda::thread_scope_thread>;

// a: m x k; b: k x n. Strip s of the tile at (row0, col0) goes to `to`.
__device__ void bring(Strip& to, const float* a, const float* b, Shape s, int row0, int col0, int k0, Pipe& pipe) {
  const int t = threadIdx.x;
#pragma unroll 4
  for (int e = 0; e < kTileM * kStep / kBlock; ++e) {
    const int p = t % 8 + e % 2 * 8, r = t / 8 + e / 2 * 8;
    float* place = &to.a[p][r];
    if (row0 + r < s.m && k0 + p < s.k)
      cuda::memcpy_async(place, a + std::size_t(row0 + r) * s.k + k0 + p, sizeof(float), pipe);
    else
      *place = 0.0f;
  }
  const bool vectors = s.n % 4 == 0;
#pragma unroll 4
  for (int e = 0; e < kTileN * kStep / 4 / kBlock; ++e) {
    const int q = e * kBlock + t, p = q / (kTileN / 4), j = q % (kTileN / 4) * 4;
    float* place = &to.b[p][j];
    const float* from = b + std::size_t(k0 + p) * s.n + col0 + j;
    if (vectors && k0 + p < s.k && col0 + j < s.n) {
      cuda::memcpy_async(reinterpret_cast<float4*>(place), reinterpret_cast<const float4*>(from),
                         cuda::aligned_size_t<16>(16), pipe);
    } else {
      for (int i = 0; i < 4; ++i) place[i] = k0 + p < s.k && col0 + j + i < s.n ? from[i] : 0.0f;
    }
  }
}

__device__ void read4(std::span<float, 4> to, const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

// a: m x k; b: k x n; c: m x n
__global__ void __launch_bounds__(kBlock) sgemm_spans(const float* a, const float* b, float* c, Shape s, int tiles_n) {
  __shared__ Strip strips[2];
  Pipe pipe = cuda::make_pipeline();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row0 = blockIdx.x / tiles_n * kTileM, col0 = blockIdx.x % tiles_n * kTileN;
  const int row = 32 * warp + 4 * (lane % 2 + lane / 16 * 2), col = lane / 2 % 8 * 4;

  std::array<std::array<float, 16>, 8> acc{};
  const int steps = (s.k + kStep - 1) / kStep;
  pipe.producer_acquire();
  bring(strips[0], a, b, s, row0, col0, 0, pipe);
  pipe.producer_commit();
  for (int step = 0; step < steps; ++step) {
    pipe.consumer_wait();
    __syncthreads();
    pipe.consumer_release();
    if (step + 1 < steps) {
      pipe.producer_acquire();
      bring(strips[(step + 1) % 2], a, b, s, row0, col0, (step + 1) * kStep, pipe);
      pipe.producer_commit();
    }
    const Strip& strip = strips[step % 2];
#pragma unroll 4
    for (int p = 0; p < kStep; ++p) {
      std::array<float, 8> fa;
      std::array<float, 16> fb;
      for (int h = 0; h < 2; ++h) read4(std::span(fa).subspan(4 * h).first<4>(), &strip.a[p][row + 16 * h]);
      for (int h = 0; h < 4; ++h) read4(std::span(fb).subspan(4 * h).first<4>(), &strip.b[p][col + 32 * h]);
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 16; ++j) acc[i][j] = fmaf(fa[i], fb[j], acc[i][j]);
    }
  }
  for (int i = 0; i < 8; ++i) {
    const int r = row0 + row + i % 4 + 16 * (i / 4);
    if (r >= s.m) continue;
    for (int h = 0; h < 4; ++h) {
      const int x = col0 + col + 32 * h;
      float* to = c + std::size_t(r) * s.n + x;
      if (s.n % 4 == 0 && x < s.n)
        *reinterpret_cast<float4*>(to) =
            make_float4(acc[i][4 * h], acc[i][4 * h + 1], acc[i][4 * h + 2], acc[i][4 * h + 3]);
      else
        for (int j = 0; j < 4; ++j)
          if (x + j < s.n) to[j] = acc[i][4 * h + j];
    }
  }
}

}  // namespace

void sgemm(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t, cudaStream_t stream) {
  const int tiles_m = (m + kTileM - 1) / kTileM, tiles_n = (n + kTileN - 1) / kTileN;
  sgemm_spans<<<tiles_m * tiles_n, kBlock, 0, stream>>>(a, b, c, Shape{m, n, k}, tiles_n);
}
