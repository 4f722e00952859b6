// Matrix products in the order in which one improves them, and the row-wise kernels around them.
#include <cmath>

#include "harness.cuh"

// C (m x n) = A (m x k) B (k x n), row after row.
__global__ void matmul_naive(const float* a, const float* b, float* c, int m, int n, int k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= m) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[y * k + i] * b[i * n + x];
  c[y * n + x] = sum;
}

// A is stored by columns (k x m): neighbours in y are neighbours in memory, neighbours in x share an element.
__global__ void matmul_at(const float* a, const float* b, float* c, int m, int n, int k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= m) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[i * m + y] * b[i * n + x];
  c[y * n + x] = sum;
}

// B is stored by columns (n x k): every lane reads a row of its own.
__global__ void matmul_bt(const float* a, const float* b, float* c, int m, int n, int k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= m) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[y * k + i] * b[x * k + i];
  c[y * n + x] = sum;
}

__global__ void matmul_tile16(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float sa[16][16], sb[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  float sum = 0;
  for (int first = 0; first < k; first += 16) {
    sa[ty][tx] = y < m && first + tx < k ? a[y * k + first + tx] : 0.0f;
    sb[ty][tx] = first + ty < k && x < n ? b[(first + ty) * n + x] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += sa[ty][i] * sb[i][tx];
    __syncthreads();
  }
  if (x < n && y < m) c[y * n + x] = sum;
}

__global__ void matmul_tile32(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float sa[32][32], sb[32][32];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
  float sum = 0;
  for (int first = 0; first < k; first += 32) {
    sa[ty][tx] = y < m && first + tx < k ? a[y * k + first + tx] : 0.0f;
    sb[ty][tx] = first + ty < k && x < n ? b[(first + ty) * n + x] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += sa[ty][i] * sb[i][tx];
    __syncthreads();
  }
  if (x < n && y < m) c[y * n + x] = sum;
}

// The same with rows of 33 floats: a compiler cannot join neighbouring elements into one wide load.
__global__ void matmul_tile32_padded(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float sa[32][33], sb[32][33];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
  float sum = 0;
  for (int first = 0; first < k; first += 32) {
    sa[ty][tx] = y < m && first + tx < k ? a[y * k + first + tx] : 0.0f;
    sb[ty][tx] = first + ty < k && x < n ? b[(first + ty) * n + x] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += sa[ty][i] * sb[i][tx];
    __syncthreads();
  }
  if (x < n && y < m) c[y * n + x] = sum;
}

// A block of 16 x 16 threads makes 64 x 64 elements, a thread 4 x 4, 16 of k at a time. Sizes are multiples of that.
__global__ void matmul_register(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float sa[16][64 + 1], sb[16][64];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
  int row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int first = 0; first < k; first += 16) {
    for (int j = 0; j < 4; ++j) {
      int at = t + 256 * j;
      sa[at % 16][at / 16] = a[(row + at / 16) * k + first + at % 16];
      sb[at / 64][at % 64] = b[(first + at / 64) * n + column + at % 64];
    }
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      float left[4], right[4];
      for (int j = 0; j < 4; ++j) {
        left[j] = sa[i][ty + 16 * j];
        right[j] = sb[i][tx + 16 * j];
      }
      for (int p = 0; p < 4; ++p)
        for (int q = 0; q < 4; ++q) sum[p][q] += left[p] * right[q];
    }
    __syncthreads();
  }
  for (int p = 0; p < 4; ++p)
    for (int q = 0; q < 4; ++q) c[(row + ty + 16 * p) * n + column + tx + 16 * q] = sum[p][q];
}

// y = A x, A is rows x cols: a thread for each row.
__global__ void matvec_thread(const float* a, const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int i = 0; i < cols; ++i) sum += a[r * cols + i] * x[i];
  y[r] = sum;
}

// A warp for each row.
__global__ void matvec_warp(const float* a, const float* x, float* y, int rows, int cols) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0;
  for (int i = lane; i < cols; i += 32) sum += a[r * cols + i] * x[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, offset);
  if (lane == 0) y[r] = sum;
}

// A block of 128 threads for each row; maximum and sum through shared memory.
__global__ void softmax_rows(const float* in, float* out, int cols) {
  __shared__ float s[128];
  const float* row = in + blockIdx.x * cols;
  int t = threadIdx.x;
  float top = -1e30f;
  for (int i = t; i < cols; i += 128) top = fmaxf(top, row[i]);
  s[t] = top;
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (t < step) s[t] = fmaxf(s[t], s[t + step]);
    __syncthreads();
  }
  top = s[0];
  __syncthreads();
  float sum = 0;
  for (int i = t; i < cols; i += 128) sum += expf(row[i] - top);
  s[t] = sum;
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  sum = s[0];
  for (int i = t; i < cols; i += 128) out[blockIdx.x * cols + i] = expf(row[i] - top) / sum;
}

__device__ float sum_of_warp(float x) {
  for (int mask = 16; mask > 0; mask /= 2) x += __shfl_xor_sync(0xFFFFFFFFu, x, mask);
  return x;
}

// A warp for each row: mean and variance through shuffles.
__global__ void layernorm_rows(const float* in, const float* gain, const float* bias, float* out, int rows, int cols) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const float* row = in + r * cols;
  float sum = 0;
  for (int i = lane; i < cols; i += 32) sum += row[i];
  float mean = sum_of_warp(sum) / cols;
  float squares = 0;
  for (int i = lane; i < cols; i += 32) squares += (row[i] - mean) * (row[i] - mean);
  float scale = rsqrtf(sum_of_warp(squares) / cols + 1e-5f);
  for (int i = lane; i < cols; i += 32) out[r * cols + i] = (row[i] - mean) * scale * gain[i] + bias[i];
}

int main(int argc, char** argv) {
  Program program(argc, argv, [](const float* in, float* out, int n) { init_flush<<<1056, 256>>>(in, out, n); });
  std::vector<float> host = random_floats(1 << 23, 13);
  float *a = to_device(host), *b = a + (1 << 22);
  float* c = device_array<float>(1 << 23);

  struct Size {
    int m, n, k;
    Kind kind;
  };
  auto check = [&](const Size& s, auto left, auto right, const char* what) {
    Random random(14);
    for (int turn = 0; turn < 50; ++turn) {
      int y = random.below(s.m), x = random.below(s.n);
      double sum = 0;
      for (int i = 0; i < s.k; ++i) sum += double(host[left(y, i)]) * host[(1 << 22) + right(i, x)];
      expect(near(value_at(c, std::size_t(y) * s.n + x), sum, 1e-3), what);
    }
  };
  for (Size s : {Size{70, 45, 53, Kind::count}, Size{64, 64, 64, Kind::count}, Size{512, 512, 256, Kind::time}}) {
    auto rows = [&](int y, int i) { return y * s.k + i; };
    auto columns = [&](int y, int i) { return i * s.m + y; };
    auto plain = [&](int i, int x) { return i * s.n + x; };
    auto turned = [&](int i, int x) { return x * s.k + i; };
    dim3 grid16(blocks_for(s.n, 16), blocks_for(s.m, 16)), grid32(blocks_for(s.n, 32), blocks_for(s.m, 32));
    dim3 block16(16, 16), block32(32, 32), flat(32, 8), grid_flat(blocks_for(s.n, 32), blocks_for(s.m, 8));
    program.launch("matmul_naive", s.kind, [&] { matmul_naive<<<grid_flat, flat>>>(a, b, c, s.m, s.n, s.k); });
    check(s, rows, plain, "matmul_naive");
    program.launch("matmul_at", s.kind, [&] { matmul_at<<<grid_flat, flat>>>(a, b, c, s.m, s.n, s.k); });
    check(s, columns, plain, "matmul_at");
    program.launch("matmul_bt", s.kind, [&] { matmul_bt<<<grid16, block16>>>(a, b, c, s.m, s.n, s.k); });
    check(s, rows, turned, "matmul_bt");
    program.launch("matmul_tile16", s.kind, [&] { matmul_tile16<<<grid16, block16>>>(a, b, c, s.m, s.n, s.k); });
    check(s, rows, plain, "matmul_tile16");
    program.launch("matmul_tile32", s.kind, [&] { matmul_tile32<<<grid32, block32>>>(a, b, c, s.m, s.n, s.k); });
    check(s, rows, plain, "matmul_tile32");
    program.launch("matmul_tile32_padded", s.kind,
                   [&] { matmul_tile32_padded<<<grid32, block32>>>(a, b, c, s.m, s.n, s.k); });
    check(s, rows, plain, "matmul_tile32_padded");
    if (s.m % 64 != 0) continue;
    Size r = s.kind == Kind::time ? Size{1024, 1024, 128, Kind::time} : s;
    program.launch("matmul_register", r.kind,
                   [&] { matmul_register<<<dim3(r.n / 64, r.m / 64), dim3(16, 16)>>>(a, b, c, r.m, r.n, r.k); });
    check(
        r, [&](int y, int i) { return y * r.k + i; }, [&](int i, int x) { return i * r.n + x; }, "matmul_register");
  }

  struct Rows {
    int rows, cols;
    Kind kind;
  };
  for (Rows s : {Rows{301, 173, Kind::count}, Rows{128, 256, Kind::count}, Rows{8192, 512, Kind::time}}) {
    auto row = [&](int r, auto term) {
      double sum = 0;
      for (int i = 0; i < s.cols; ++i) sum += term(double(host[std::size_t(r) * s.cols + i]), i);
      return sum;
    };
    double product = row(33, [&](double x, int i) { return x * host[(1 << 22) + i]; });
    program.launch("matvec_thread", s.kind,
                   [&] { matvec_thread<<<blocks_for(s.rows, 64), 64>>>(a, b, c, s.rows, s.cols); });
    expect(near(value_at(c, 33), product), "matvec_thread");
    program.launch("matvec_warp", s.kind,
                   [&] { matvec_warp<<<blocks_for(s.rows, 4), 128>>>(a, b, c, s.rows, s.cols); });
    expect(near(value_at(c, 33), product), "matvec_warp");
    double exponentials = row(33, [](double x, int) { return std::exp(x); });
    program.launch("softmax_rows", s.kind, [&] { softmax_rows<<<s.rows, 128>>>(a, c, s.cols); });
    std::size_t at = std::size_t(33) * s.cols + 5;
    expect(near(value_at(c, at) * 1000, std::exp(host[at]) / exponentials * 1000, 1e-3), "softmax_rows");
    double mean = row(33, [](double x, int) { return x; }) / s.cols;
    double variance = row(33, [&](double x, int) { return (x - mean) * (x - mean); }) / s.cols;
    program.launch("layernorm_rows", s.kind,
                   [&] { layernorm_rows<<<blocks_for(s.rows, 4), 128>>>(a, b, b + s.cols, c, s.rows, s.cols); });
    double wanted = (host[at] - mean) / std::sqrt(variance + 1e-5) * host[(1 << 22) + 5] + host[(1 << 22) + s.cols + 5];
    expect(near(value_at(c, at), wanted, 1e-3), "layernorm_rows");
  }
}
