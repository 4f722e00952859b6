#include "loops.hpp"

#include <cmath>

namespace loops {

constexpr int kThreads = 256, kTile = 16;

void axpy(int n, float a, const float* x, float* y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) y[i] += a * x[i];
}

void triad(int n, float a, const float* x, const float* y, float* z) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) z[i] = x[i] + a * y[i];
}

void softsign(int n, const float* x, float* y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) y[i] = x[i] / (1 + std::fabs(x[i]));
}

void stencil(int h, int w, const float* in, float* out) {
#pragma omp parallel for
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      const float* at = in + y * w + x;
      out[y * w + x] = 0.2f * (at[0] + at[-1] + at[1] + at[-w] + at[w]);
    }
}

void gemm(int n, const float* a, const float* b, float* c) {
#pragma omp parallel for collapse(2)
  for (int by = 0; by < n; by += kTile)
    for (int bx = 0; bx < n; bx += kTile) {
      float as[kTile][kTile], bs[kTile][kTile], sum[kTile][kTile] = {};
      for (int k = 0; k < n; k += kTile) {
        for (int y = 0; y < kTile; ++y)
          for (int x = 0; x < kTile; ++x) as[y][x] = a[(by + y) * n + k + x], bs[y][x] = b[(k + y) * n + bx + x];
        for (int y = 0; y < kTile; ++y)
          for (int i = 0; i < kTile; ++i)
            for (int x = 0; x < kTile; ++x) sum[y][x] += as[y][i] * bs[i][x];
      }
      for (int y = 0; y < kTile; ++y)
        for (int x = 0; x < kTile; ++x) c[(by + y) * n + bx + x] = sum[y][x];
    }
}

void transpose(int h, int w, const float* in, float* out) {
#pragma omp parallel for collapse(2)
  for (int by = 0; by < h; by += 32)
    for (int bx = 0; bx < w; bx += 32) {
      float tile[32][33];
      for (int y = 0; y < 32; ++y)
        for (int x = 0; x < 32; ++x) tile[y][x] = in[(by + y) * w + bx + x];
      for (int y = 0; y < 32; ++y)
        for (int x = 0; x < 32; ++x) out[(bx + y) * h + by + x] = tile[x][y];
    }
}

void block_sums(int blocks, const float* in, float* out) {
#pragma omp parallel for
  for (int block = 0; block < blocks; ++block) {
    float part[kThreads];
    const float* at = in + block * 8 * kThreads;
    for (int t = 0; t < kThreads; ++t) part[t] = at[t];
    for (int j = 1; j < 8; ++j)
      for (int t = 0; t < kThreads; ++t) part[t] += at[j * kThreads + t];
    for (int d = kThreads / 2; d > 0; d /= 2)
      for (int t = 0; t < d; ++t) part[t] += part[t + d];
    out[block] = part[0];
  }
}

void forces(int n, const float* points, float* out) {
#pragma omp parallel for
  for (int block = 0; block < n; block += kThreads) {
    float tile[4 * kThreads], f[3][kThreads] = {};
    for (int first = 0; first < n; first += kThreads) {
      for (int t = 0; t < 4 * kThreads; ++t) tile[t] = points[4 * first + t];
      for (int j = 0; j < kThreads; ++j)
        for (int t = 0; t < kThreads; ++t) {
          const float* own = points + 4 * (block + t);
          const float dx = tile[4 * j] - own[0], dy = tile[4 * j + 1] - own[1], dz = tile[4 * j + 2] - own[2];
          const float r = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + 1e-3f), s = tile[4 * j + 3] * r * r * r;
          f[0][t] += s * dx, f[1][t] += s * dy, f[2][t] += s * dz;
        }
    }
    for (int t = 0; t < kThreads; ++t)
      for (int d = 0; d < 3; ++d) out[3 * (block + t) + d] = f[d][t];
  }
}

}  // namespace loops
