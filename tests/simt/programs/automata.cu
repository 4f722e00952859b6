// Integer grids: the game of life on a torus (bytes, a 2D tile with halo), its bit-packed twin, and Mandelbrot counts.
#include "sample.hpp"

constexpr int kX = 16, kY = 16;

__global__ void life(const unsigned char* in, unsigned char* out, int w, int h) {
  __shared__ unsigned char tile[kY + 2][kX + 2];
  const int x0 = blockIdx.x * kX, y0 = blockIdx.y * kY;
  for (int i = threadIdx.y * kX + threadIdx.x; i < (kX + 2) * (kY + 2); i += kX * kY) {
    int lx = i % (kX + 2), ly = i / (kX + 2);
    tile[ly][lx] = in[(y0 + ly - 1 + h) % h * w + (x0 + lx - 1 + w) % w];
  }
  __syncthreads();
  int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  if (x >= w || y >= h) return;
  int neighbours = 0;
  for (int dy = 0; dy <= 2; ++dy)
    for (int dx = 0; dx <= 2; ++dx) {
      if (dx == 1 && dy == 1) continue;
      neighbours += tile[threadIdx.y + dy][threadIdx.x + dx];
    }
  out[y * w + x] = neighbours == 3 || (neighbours == 2 && tile[threadIdx.y + 1][threadIdx.x + 1]);
}

// 32 cells a word, w = 32 * words; a thread makes one word.
__global__ void life_bits(const unsigned* in, unsigned* out, int words, int h) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= words * h) return;
  int x = k % words, y = k / words, left = (x + words - 1) % words, right = (x + 1) % words;
  unsigned ones = 0, twos = 0, fours = 0;  // a binary counter for each of 32 cells; 8 wraps to 0, which is dead anyway
  auto add = [&](unsigned bits) {
    unsigned carry = ones & bits;
    ones ^= bits;
    unsigned carry2 = twos & carry;
    twos ^= carry;
    fours ^= carry2;
  };
  unsigned self = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    const unsigned* row = in + (y + dy + h) % h * words;
    unsigned middle = row[x];
    add((middle << 1) | (row[left] >> 31));
    add((middle >> 1) | (row[right] << 31));
    if (dy == 0)
      self = middle;
    else
      add(middle);
  }
  out[k] = twos & ~fours & (ones | self);
}

__host__ __device__ int escape(double cx, double cy, int limit) {
  double x = 0, y = 0;
  int i = 0;
  while (i < limit) {
    double xx = x * x, yy = y * y;
    if (xx + yy > 4) break;
    y = 2 * x * y + cy;
    x = xx - yy + cx;
    ++i;
  }
  return i;
}

__global__ void mandelbrot(unsigned short* out, int w, int h, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  out[y * w + x] = static_cast<unsigned short>(escape(-2.0 + 3.0 * x / w, -1.25 + 2.5 * y / h, limit));
}

int main() {
  const int words = 3, w = 32 * words, h = 45, n = w * h, steps = 6;
  Random random(15);
  std::vector<unsigned char> cells(n), next(n);
  std::vector<unsigned> packed(words * h);
  for (int i = 0; i < n; ++i) {
    cells[i] = random.below(3) == 0;
    packed[i / 32] |= static_cast<unsigned>(cells[i]) << (i % 32);
  }
  unsigned char *d_a = to_device(cells), *d_b = device_array<unsigned char>(n);
  unsigned *d_c = to_device(packed), *d_d = device_array<unsigned>(words * h);
  for (int step = 0; step < steps; ++step) {
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        int count = -cells[y * w + x];
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) count += cells[(y + dy + h) % h * w + (x + dx + w) % w];
        next[y * w + x] = count == 3 || (count == 2 && cells[y * w + x]);
      }
    cells.swap(next);
    life<<<dim3(blocks_for(w, kX), blocks_for(h, kY)), dim3(kX, kY)>>>(d_a, d_b, w, h);
    life_bits<<<blocks_for(words * h, 64), 64>>>(d_c, d_d, words, h);
    CUDA_CHECK(cudaGetLastError());
    std::swap(d_a, d_b);
    std::swap(d_c, d_d);
  }
  expect_equal(to_host(d_a, n), cells, "life");
  packed = to_host(d_c, words * h);
  for (int i = 0; i < n; ++i) expect(((packed[i / 32] >> (i % 32)) & 1) == cells[i], "life in bits");

  const int mw = 61, mh = 43, limit = 60;
  unsigned short* d_m = device_array<unsigned short>(mw * mh);
  mandelbrot<<<dim3(blocks_for(mw, 32), blocks_for(mh, 4)), dim3(32, 4)>>>(d_m, mw, mh, limit);
  CUDA_CHECK(cudaGetLastError());
  std::vector<unsigned short> counts = to_host(d_m, mw * mh);
  int different = 0;
  for (int i = 0; i < mw * mh; ++i)
    different += counts[i] != escape(-2.0 + 3.0 * (i % mw) / mw, -1.25 + 2.5 * (i / mw) / mh, limit);
  expect(different <= mw * mh / 100, "Mandelbrot, but for a few points that rounding decides");
  CUDA_CHECK(cudaFree(d_a));
  CUDA_CHECK(cudaFree(d_b));
  CUDA_CHECK(cudaFree(d_c));
  CUDA_CHECK(cudaFree(d_d));
  CUDA_CHECK(cudaFree(d_m));
  std::puts("ok");
}
