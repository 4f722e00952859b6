// A separable blur: weights in constant memory, rows and columns one after the other, a template for the radius.
#include <algorithm>

#include "../sample.hpp"

constexpr int kMost = 8;
__constant__ float weights[2 * kMost + 1];

template <int radius, bool horizontal>
__global__ void blur(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
#pragma unroll
  for (int k = -radius; k <= radius; ++k) {
    const int i = horizontal ? min(max(x + k, 0), width - 1) : x, j = horizontal ? y : min(max(y + k, 0), height - 1);
    sum += weights[k + radius] * in[j * width + i];
  }
  out[y * width + x] = sum;
}

int main() {
  constexpr int radius = 3;
  const int width = 61, height = 33;
  std::vector<float> w(2 * radius + 1);
  float total = 0;
  for (int k = -radius; k <= radius; ++k) total += w[k + radius] = std::exp(-0.25f * k * k);
  for (float& v : w) v /= total;
  CUDA_CHECK(cudaMemcpyToSymbol(weights, w.data(), w.size() * sizeof(float)));
  Random random(29);
  std::vector<float> image = random.floats(width * height), rows(image.size()), want(image.size());
  for (int pass = 0; pass < 2; ++pass)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        float sum = 0;
        for (int k = -radius; k <= radius; ++k) {
          const int i = pass == 0 ? std::min(std::max(x + k, 0), width - 1) : x;
          const int j = pass == 0 ? y : std::min(std::max(y + k, 0), height - 1);
          sum += w[k + radius] * (pass == 0 ? image : rows)[j * width + i];
        }
        (pass == 0 ? rows : want)[y * width + x] = sum;
      }
  float *a = to_device(image), *b = device_array<float>(image.size()), *c = device_array<float>(image.size());
  const dim3 block(32, 4), grid((width + 31) / 32, (height + 3) / 4);
  blur<radius, true><<<grid, block>>>(a, b, width, height);
  blur<radius, false><<<grid, block>>>(b, c, width, height);
  CUDA_CHECK(cudaGetLastError());
  expect_close(to_host(c, image.size()), want, 1e-5, "blurred");
  for (float* p : {a, b, c}) CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
