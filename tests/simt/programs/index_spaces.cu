// Index arithmetic: 3D grids of 3D blocks, pitch and strides in 64 bits, a large offset, and small integer types.
#include "sample.hpp"

using Index = long long;

struct View {  // (depth, height, width) with strides in elements
  short* data;
  int width, height, depth;
  Index row, slice;
  __host__ __device__ Index at(int x, int y, int z) const { return x + y * row + z * slice; }
};

// Rotates (x, y, z) -> (y, z, x) into `out`.
__global__ void rotate(View in, View out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= in.width || y >= in.height || z >= in.depth) return;
  out.data[out.at(y, z, x)] = in.data[in.at(x, y, z)];
}

// Touches a few places of a large array; the offsets need more than 32 bits.
__global__ void sparse_touch(unsigned char* big, Index step, int n, int* sum) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Index at = i * step;
  big[at] = static_cast<unsigned char>(3 * i + at % 7);
  atomicAdd(sum, static_cast<int>(big[at]));
}

// int8 dot products, eight a thread, with saturation to 16 bits.
__global__ void dot_int8(const signed char* a, const signed char* b, short* out, int n, int length) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int sum = 0;
    for (int k = 0; k < length; ++k) sum += a[i * length + k] * b[k * n + i];
    out[i] = static_cast<short>(sum > 32767 ? 32767 : sum < -32768 ? -32768 : sum);
  }
}

int main() {
  const int w = 19, h = 11, d = 7;
  Random random(25);
  std::vector<short> in(24 * 13 * d), out(static_cast<std::size_t>(16) * d * w, -1);
  for (short& v : in) v = static_cast<short>(random.below(60000) - 30000);
  short *d_in = to_device(in), *d_out = to_device(out);
  const View a{d_in, w, h, d, 24, 24 * 13}, b{d_out, h, d, w, 16, 16 * d};
  dim3 block(8, 4, 2), grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y, (d + block.z - 1) / block.z);
  rotate<<<grid, block>>>(a, b);
  CUDA_CHECK(cudaGetLastError());
  for (int z = 0; z < d; ++z)
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) out[b.at(y, z, x)] = in[a.at(x, y, z)];
  expect_equal(to_host(d_out, out.size()), out, "rotated axes; the padding is left alone");
  CUDA_CHECK(cudaFree(d_in));
  CUDA_CHECK(cudaFree(d_out));

  const Index bytes = 5'000'000'000, step = 49'999'999;
  const int places = 100;
  unsigned char* big = nullptr;
  int *d_sum = device_array<int>(1), wanted = 0;
  CUDA_CHECK(cudaMalloc(&big, bytes));
  CUDA_CHECK(cudaMemset(d_sum, 0, sizeof(int)));
  sparse_touch<<<4, 32>>>(big, step, places, d_sum);
  CUDA_CHECK(cudaGetLastError());
  for (int i = 0; i < places; ++i) wanted += static_cast<unsigned char>(3 * i + i * step % 7);
  expect(to_host(d_sum, 1)[0] == wanted, "places behind 4 GiB");
  unsigned char last = 0;
  CUDA_CHECK(cudaMemcpy(&last, big + (places - 1) * step, 1, cudaMemcpyDeviceToHost));
  expect(last == static_cast<unsigned char>(3 * (places - 1) + (places - 1) * step % 7), "the last place");
  CUDA_CHECK(cudaFree(big));
  CUDA_CHECK(cudaFree(d_sum));

  const int n = 203, length = 9;
  std::vector<signed char> left(n * length), right(n * length);
  std::vector<short> dots(n);
  for (auto& v : left) v = static_cast<signed char>(random.below(256) - 128);
  for (auto& v : right) v = static_cast<signed char>(random.below(4) == 0 ? 127 : random.below(256) - 128);
  for (int i = 0; i < n; ++i) {
    if (i % 10 == 0)
      for (int k = 0; k < length; ++k) left[i * length + k] = right[k * n + i];
    int sum = 0;
    for (int k = 0; k < length; ++k) sum += left[i * length + k] * right[k * n + i];
    dots[i] = static_cast<short>(sum > 32767 ? 32767 : (sum < -32768 ? -32768 : sum));
  }
  signed char *d_left = to_device(left), *d_right = to_device(right);
  short* d_dots = device_array<short>(n);
  dot_int8<<<3, 33>>>(d_left, d_right, d_dots, n, length);
  CUDA_CHECK(cudaGetLastError());
  expect_equal(to_host(d_dots, n), dots, "products of bytes");
  CUDA_CHECK(cudaFree(d_left));
  CUDA_CHECK(cudaFree(d_right));
  CUDA_CHECK(cudaFree(d_dots));
  std::puts("ok");
}
