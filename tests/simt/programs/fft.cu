// Radix-2 FFT of a row per block in shared memory, forward and back, with a twiddle table in constant memory.
#include "sample.hpp"

constexpr int kN = 256, kLog = 8;
__constant__ float2 twiddles[kN / 2];

__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

__device__ int reversed(int i) {
  int r = 0;
  for (int bit = 0; bit < kLog; ++bit) r |= ((i >> bit) & 1) << (kLog - 1 - bit);
  return r;
}

// kN / 2 threads; a butterfly per thread and stage.
template <bool Inverse>
__global__ void fft(float2* rows) {
  __shared__ float2 s[kN];
  float2* row = rows + blockIdx.x * kN;
  for (int i = threadIdx.x; i < kN; i += blockDim.x) s[reversed(i)] = row[i];
  for (int half = 1; half < kN; half *= 2) {
    __syncthreads();
    int k = threadIdx.x % half, at = threadIdx.x / half * 2 * half + k;
    float2 w = twiddles[k * (kN / 2 / half)];
    if (Inverse) w.y = -w.y;
    float2 a = s[at], b = s[at + half] * w;
    s[at] = a + b;
    s[at + half] = a - b;
  }
  __syncthreads();
  const float scale = Inverse ? 1.0f / kN : 1.0f;
  for (int i = threadIdx.x; i < kN; i += blockDim.x) row[i] = make_float2(s[i].x * scale, s[i].y * scale);
}

__global__ void multiply(float2* a, const float2* b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = a[i] * b[i];
}

int main() {
  const int rows = 5, n = rows * kN;
  const double pi = std::acos(-1.0);
  std::vector<float2> table(kN / 2);
  for (int k = 0; k < kN / 2; ++k)
    table[k] =
        make_float2(static_cast<float>(std::cos(2 * pi * k / kN)), static_cast<float>(-std::sin(2 * pi * k / kN)));
  CUDA_CHECK(cudaMemcpyToSymbol(twiddles, table.data(), sizeof(float2) * table.size()));
  Random random(14);
  std::vector<float2> a(n), b(n);
  for (float2& v : a) v = make_float2(random.uniform(-1, 1), random.uniform(-1, 1));
  for (float2& v : b) v = make_float2(random.uniform(-1, 1), 0);
  float2 *d_a = to_device(a), *d_b = to_device(b);
  auto flat = [&](const float2* device) {
    std::vector<float> v(2 * n);
    CUDA_CHECK(cudaMemcpy(v.data(), device, n * sizeof(float2), cudaMemcpyDeviceToHost));
    return v;
  };

  fft<false><<<rows, kN / 2>>>(d_a);
  CUDA_CHECK(cudaGetLastError());
  std::vector<double> wanted(2 * n);
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < kN; ++k)
      for (int i = 0; i < kN; ++i) {
        double angle = -2 * pi * ((i * k) % kN) / kN, c = std::cos(angle), s = std::sin(angle);
        float2 v = a[r * kN + i];
        wanted[2 * (r * kN + k)] += v.x * c - v.y * s;
        wanted[2 * (r * kN + k) + 1] += v.x * s + v.y * c;
      }
  expect_close(flat(d_a), wanted, 1e-4, "the transform");

  // Circular convolution by the product of the transforms.
  fft<false><<<rows, kN / 2>>>(d_b);
  multiply<<<3, 96>>>(d_a, d_b, n);
  fft<true><<<rows, kN / 2>>>(d_a);
  CUDA_CHECK(cudaGetLastError());
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < kN; ++k) {
      double x = 0, y = 0;
      for (int i = 0; i < kN; ++i) {
        double factor = b[r * kN + (k - i + kN) % kN].x;
        x += a[r * kN + i].x * factor;
        y += a[r * kN + i].y * factor;
      }
      wanted[2 * (r * kN + k)] = x;
      wanted[2 * (r * kN + k) + 1] = y;
    }
  expect_close(flat(d_a), wanted, 1e-4, "convolution");
  CUDA_CHECK(cudaFree(d_a));
  CUDA_CHECK(cudaFree(d_b));
  std::puts("ok");
}
