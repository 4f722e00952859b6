// Lab 02's stencil in variants beside cudaMemcpy and copies without a halo; stencil.txt beside this file is what it printed.
//   nvcc -O3 -std=c++20 -gencode=arch=compute_90a,code=sm_90a -Ilabs/02_tiling benchmarks/h100/tuning/stencil.cu -o stencil
#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tiling.hpp"
constexpr int kPad = 4;
// kMode 0: cp.async.cg; 1: with L2::128B; 2: with L2::256B; 3: cp.async.ca.
template <int kMode>
__device__ __forceinline__ void copy16(float* to, const float* from) {
  unsigned t = (unsigned)__cvta_generic_to_shared(to);
  if constexpr (kMode == 0) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(t), "l"(from) : "memory");
  if constexpr (kMode == 1)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(t), "l"(from) : "memory");
  if constexpr (kMode == 2)
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(t), "l"(from) : "memory");
  if constexpr (kMode == 3) asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(t), "l"(from) : "memory");
}
// in, out: rows x cols, row-major. A block has kCW warps across, 128 columns each, and kRW down, kWalk rows each.
// kOrder > 1: blocks run through groups of kOrder rows of tiles, column by column.
template <int kCW, int kRW, int kWalk, int kMin, int kMode, int kOrder>
__global__ void __launch_bounds__(kCW* kRW * 32, kMin) wide_kernel(const float* in, float* out, int rows, int cols) {
  constexpr int kTileX = kCW * 128, kTileY = kRW * kWalk, kRows = kTileY + 4, kPitch = kTileX + 8, kWarps = kCW * kRW;
  extern __shared__ __align__(16) float smem[];
  float(*tile)[kPitch] = reinterpret_cast<float(*)[kPitch]>(smem);
  int bx = blockIdx.x, by = blockIdx.y;
  if (kOrder > 1) {  // groups of kOrder tile rows, column by column
    const int id = by * gridDim.x + bx, per = gridDim.x * kOrder, group = id / per, in_group = id % per;
    const int high = min(kOrder, (int)gridDim.y - group * kOrder);
    by = group * kOrder + in_group % high;
    bx = in_group / high;
  }
  const int row0 = by * kTileY, col0 = bx * kTileX;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int q = warp; q < kRows * kCW; q += kWarps) {
    const int r = q / kCW, c = q % kCW;
    const float* from = in + (std::ptrdiff_t)(row0 - 2 + r) * cols + col0 - kPad;
    const bool ok = row0 - 2 + r >= 0 && row0 - 2 + r < rows;
    auto load = [&](int s) {
      if (ok && col0 - kPad + s >= 0 && col0 - kPad + s < cols)
        copy16<kMode>(&tile[r][s], from + s);
      else
        *reinterpret_cast<float4*>(&tile[r][s]) = make_float4(0, 0, 0, 0);
    };
    load(kPad + c * 128 + lane * 4);
    if (lane == 0 && c == 0) load(0);
    if (lane == 31 && c == kCW - 1) load(kPad + kTileX);
  }
  asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  const int x = (warp % kCW) * 128 + lane * 4, y = warp / kCW * kWalk;
  float sum[kWalk][4] = {};
#pragma unroll
  for (int i = 0; i < kWalk + 4; ++i) {
    const float4 left = *reinterpret_cast<const float4*>(&tile[y + i][x]);
    const float4 mid = *reinterpret_cast<const float4*>(&tile[y + i][x + 4]);
    const float4 right = *reinterpret_cast<const float4*>(&tile[y + i][x + 8]);
    const float cell[8] = {left.z, left.w, mid.x, mid.y, mid.z, mid.w, right.x, right.y};
#pragma unroll
    for (int dy = 0; dy < 5; ++dy) {
      const int r = i - dy;
      if (r < 0 || r >= kWalk) continue;
#pragma unroll
      for (int dx = 0; dx < 5; ++dx)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[r][j] += weight(dy, dx) * cell[j + dx];
    }
    const int r = i - 4;
    if (r < 0 || row0 + y + r >= rows) continue;
    float* to = out + (std::size_t)(row0 + y + r) * cols + col0 + x;
    if (col0 + x < cols) *reinterpret_cast<float4*>(to) = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
  }
}
// in, out: n float4.
__global__ void __launch_bounds__(512) plain_copy(const float4* in, float4* out, std::size_t n) {
  const std::size_t i = (std::size_t)blockIdx.x * 2048 + threadIdx.x;
  float4 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) v[k] = in[i + k * 512];
#pragma unroll
  for (int k = 0; k < 4; ++k) out[i + k * 512] = v[k];
}
// in, out: rows x cols. A copy in tiles without a halo shows the cost of the order of memory alone.
template <int kTileY>
__global__ void __launch_bounds__(256) tile_copy(const float* in, float* out, int cols) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::size_t at = ((std::size_t)blockIdx.y * kTileY + warp * (kTileY / 8)) * cols + blockIdx.x * 128 + lane * 4;
  float4 v[kTileY / 8];
#pragma unroll
  for (int k = 0; k < kTileY / 8; ++k) v[k] = *reinterpret_cast<const float4*>(in + at + (std::size_t)k * cols);
#pragma unroll
  for (int k = 0; k < kTileY / 8; ++k) *reinterpret_cast<float4*>(out + at + (std::size_t)k * cols) = v[k];
}
#define CK(x)                                        \
  do {                                               \
    cudaError_t e = (x);                             \
    if (e != cudaSuccess) {                          \
      printf("%s: %s\n", #x, cudaGetErrorString(e)); \
      return 1;                                      \
    }                                                \
  } while (0)
int main(int argc, char** argv) {
  for (int n : {16384, 8192}) {
    const int rows = n, cols = n;
    const std::size_t cells = (std::size_t)n * n;
    float *in, *out;
    CK(cudaMalloc(&in, cells * 4));
    CK(cudaMalloc(&out, cells * 4));
    {
      std::vector<float> h(cells);
      std::mt19937 g(1);
      for (auto& v : h) v = (float)(g() & 0xffff) / 65536.f;
      CK(cudaMemcpy(in, h.data(), cells * 4, cudaMemcpyHostToDevice));
    }
    struct V {
      std::string name;
      std::function<void()> f;
      std::vector<float> us;
    };
    std::vector<V> all;
    all.push_back({"memcpy", [=] { cudaMemcpyAsync(out, in, cells * 4, cudaMemcpyDeviceToDevice); }, {}});
#define WIDE(C, R, K, M, MODE, O)                                                                              \
  {                                                                                                            \
    auto k = wide_kernel<C, R, K, M, MODE, O>;                                                                 \
    int X = C * 128, Y = R * K, bytes = (Y + 4) * (X + 8) * 4;                                                 \
    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);                               \
    cudaFuncSetAttribute(k, cudaFuncAttributePreferredSharedMemoryCarveout, 100);                              \
    all.push_back(                                                                                             \
        {"wide " #C " x " #R " walk " #K " min " #M " mode " #MODE " order " #O,                               \
         [=] { k<<<dim3((cols + X - 1) / X, (rows + Y - 1) / Y), C * R * 32, bytes>>>(in, out, rows, cols); }, \
         {}});                                                                                                 \
  }
    WIDE(1, 8, 8, 5, 0, 1);
    WIDE(1, 8, 8, 5, 1, 1);
    WIDE(1, 8, 8, 5, 2, 1);
    WIDE(1, 8, 8, 5, 3, 1);
    WIDE(2, 4, 8, 5, 0, 1);
    WIDE(4, 2, 8, 5, 0, 1);
    WIDE(4, 2, 8, 5, 2, 1);
    WIDE(4, 4, 8, 3, 0, 1);
    WIDE(8, 2, 8, 3, 0, 1);
    WIDE(8, 2, 8, 3, 2, 1);
    WIDE(2, 8, 8, 3, 0, 1);
    WIDE(1, 8, 8, 5, 0, 2);
    WIDE(1, 8, 8, 5, 0, 4);
    WIDE(1, 8, 8, 5, 0, 8);
    WIDE(1, 8, 8, 5, 0, 16);
    WIDE(1, 4, 16, 6, 0, 1);
    WIDE(1, 8, 8, 3, 0, 1);
    WIDE(1, 8, 8, 2, 0, 1);
    const std::size_t checked = all.size();
    all.push_back({"copy, a thread 4 float4",
                   [=] { plain_copy<<<cells / 4 / 2048, 512>>>((const float4*)in, (float4*)out, cells / 4); },
                   {}});
    all.push_back(
        {"copy in tiles of 64", [=] { tile_copy<64><<<dim3(cols / 128, rows / 64), 256>>>(in, out, cols); }, {}});
    all.push_back(
        {"copy in tiles of 32", [=] { tile_copy<32><<<dim3(cols / 128, rows / 32), 256>>>(in, out, cols); }, {}});
    // reference result of variant 1
    std::vector<float> want(cells), got(cells);
    cudaEvent_t a, b;
    cudaEventCreate(&a);
    cudaEventCreate(&b);
    for (std::size_t v = 1; v < checked; ++v) {
      cudaMemset(out, 0xff, cells * 4);
      all[v].f();
      if (cudaDeviceSynchronize() != cudaSuccess) {
        printf("%s: %s\n", all[v].name.c_str(), cudaGetErrorString(cudaGetLastError()));
        return 1;
      }
      if (auto e = cudaGetLastError(); e != cudaSuccess) {
        printf("%s: %s\n", all[v].name.c_str(), cudaGetErrorString(e));
        continue;
      }
      cudaMemcpy((v == 1 ? want : got).data(), out, cells * 4, cudaMemcpyDeviceToHost);
      if (v > 1) {
        double worst = 0;
        for (std::size_t i = 0; i < cells; ++i) {
          double d = std::abs((double)want[i] - got[i]);
          if (!(d <= worst)) worst = d;
        }
        if (!(worst < 1e-4)) printf("WRONG %s %g\n", all[v].name.c_str(), worst);
      }
    }
    for (int turn = 0; turn < 25; ++turn)
      for (auto& v : all) {
        v.f();
        cudaEventRecord(a);
        for (int i = 0; i < 5; ++i) v.f();
        cudaEventRecord(b);
        cudaEventSynchronize(b);
        float ms;
        cudaEventElapsedTime(&ms, a, b);
        v.us.push_back(ms * 200);
      }
    auto med = [](std::vector<float> x) {
      std::sort(x.begin(), x.end());
      return x[x.size() / 2];
    };
    const float base = med(all[0].us);
    for (auto& v : all) printf("%d %-55s %8.1f us ratio %.3f\n", n, v.name.c_str(), med(v.us), base / med(v.us));
    cudaFree(in);
    cudaFree(out);
  }
}
