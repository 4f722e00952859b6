// Byte images: separable blur with a filter in constant memory (clamped edges), Sobel, RGB to grey, bilinear resize.
#include <algorithm>

#include "sample.hpp"

using Byte = unsigned char;
constexpr int kRadius = 2;
__constant__ float filter[2 * kRadius + 1];

__device__ int clamped(int v, int high) { return v < 0 ? 0 : (v > high ? high : v); }

__global__ void grey(const uchar3* rgb, Byte* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uchar3 p = rgb[i];
  out[i] = static_cast<Byte>((77 * p.x + 150 * p.y + 29 * p.z) >> 8);
}

__global__ void blur_rows(const Byte* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float sum = 0;
  for (int d = -kRadius; d <= kRadius; ++d) sum += filter[d + kRadius] * in[y * w + clamped(x + d, w - 1)];
  out[y * w + x] = sum;
}

__global__ void blur_columns(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float sum = 0;
  for (int d = -kRadius; d <= kRadius; ++d) sum += filter[d + kRadius] * in[clamped(y + d, h - 1) * w + x];
  out[y * w + x] = sum;
}

__global__ void sobel(const Byte* in, Byte* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
    out[y * w + x] = 0;
    return;
  }
  int p[3][3];
  for (int dy = 0; dy < 3; ++dy)
    for (int dx = 0; dx < 3; ++dx) p[dy][dx] = in[(y + dy - 1) * w + x + dx - 1];
  int gx = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
  int gy = p[2][0] + 2 * p[2][1] + p[2][2] - p[0][0] - 2 * p[0][1] - p[0][2];
  int g = abs(gx) + abs(gy);
  out[y * w + x] = static_cast<Byte>(g > 255 ? 255 : g);
}

__global__ void resize(const Byte* in, int w, int h, float* out, int w2, int h2) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w2 || y >= h2) return;
  float sx = x * static_cast<float>(w - 1) / (w2 - 1), sy = y * static_cast<float>(h - 1) / (h2 - 1);
  int x0 = min(static_cast<int>(sx), w - 2), y0 = min(static_cast<int>(sy), h - 2);
  float fx = sx - x0, fy = sy - y0;
  const Byte* p = in + y0 * w + x0;
  float top = p[0] + fx * (p[1] - p[0]), bottom = p[w] + fx * (p[w + 1] - p[w]);
  out[y * w2 + x] = top + fy * (bottom - top);
}

int main() {
  const int w = 93, h = 51, n = w * h, w2 = 130, h2 = 40;
  const float f[2 * kRadius + 1] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
  Random random(3);
  std::vector<uchar3> rgb(n);
  for (uchar3& p : rgb)
    p = make_uchar3(static_cast<Byte>(random.below(256)), static_cast<Byte>(random.below(256)),
                    static_cast<Byte>(random.below(256)));
  CUDA_CHECK(cudaMemcpyToSymbol(filter, f, sizeof f));
  uchar3* d_rgb = to_device(rgb);
  Byte *d_grey = device_array<Byte>(n), *d_edges = device_array<Byte>(n);
  float *d_rows = device_array<float>(n), *d_blur = device_array<float>(n), *d_small = device_array<float>(w2 * h2);
  dim3 block(32, 4), grid(blocks_for(w, 32), blocks_for(h, 4));
  grey<<<blocks_for(n, 128), 128>>>(d_rgb, d_grey, n);
  blur_rows<<<grid, block>>>(d_grey, d_rows, w, h);
  blur_columns<<<grid, block>>>(d_rows, d_blur, w, h);
  sobel<<<grid, block>>>(d_grey, d_edges, w, h);
  resize<<<dim3(blocks_for(w2, 32), blocks_for(h2, 4)), block>>>(d_grey, w, h, d_small, w2, h2);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());

  std::vector<Byte> g(n), edges(n);
  for (int i = 0; i < n; ++i) g[i] = static_cast<Byte>((77 * rgb[i].x + 150 * rgb[i].y + 29 * rgb[i].z) >> 8);
  expect_equal(to_host(d_grey, n), g, "grey");
  auto at = [&](int x, int y) {
    x = x < 0 ? 0 : (x >= w ? w - 1 : x);
    y = y < 0 ? 0 : (y >= h ? h - 1 : y);
    return static_cast<int>(g[y * w + x]);
  };
  std::vector<double> blur(n), small(w2 * h2);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      for (int dy = -kRadius; dy <= kRadius; ++dy)
        for (int dx = -kRadius; dx <= kRadius; ++dx)
          blur[y * w + x] += static_cast<double>(f[dy + kRadius]) * f[dx + kRadius] * at(x + dx, y + dy);
      if (x == 0 || y == 0 || x == w - 1 || y == h - 1) continue;
      int gx = 0, gy = 0;
      for (int d = -1; d <= 1; ++d) {
        int weight = d == 0 ? 2 : 1;
        gx += weight * (at(x + 1, y + d) - at(x - 1, y + d));
        gy += weight * (at(x + d, y + 1) - at(x + d, y - 1));
      }
      int sum = std::abs(gx) + std::abs(gy);
      edges[y * w + x] = static_cast<Byte>(sum > 255 ? 255 : sum);
    }
  for (int y = 0; y < h2; ++y)
    for (int x = 0; x < w2; ++x) {
      double sx = x * (w - 1.0) / (w2 - 1), sy = y * (h - 1.0) / (h2 - 1);
      int x0 = std::min(static_cast<int>(sx), w - 2), y0 = std::min(static_cast<int>(sy), h - 2);
      double fx = sx - x0, fy = sy - y0;
      small[y * w2 + x] = (1 - fy) * ((1 - fx) * at(x0, y0) + fx * at(x0 + 1, y0)) +
                          fy * ((1 - fx) * at(x0, y0 + 1) + fx * at(x0 + 1, y0 + 1));
    }
  expect_close(to_host(d_blur, n), blur, 1e-4, "blur");
  expect_equal(to_host(d_edges, n), edges, "sobel");
  // Interpolation is continuous, so rounding at a pixel's border changes little.
  expect_close(to_host(d_small, w2 * h2), small, 2e-3, "resize");
  for (void* p : {(void*)d_rgb, (void*)d_grey, (void*)d_edges, (void*)d_rows, (void*)d_blur, (void*)d_small})
    CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
