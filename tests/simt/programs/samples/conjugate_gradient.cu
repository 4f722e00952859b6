// Conjugate gradients for a Poisson matrix that is never stored, as one cooperative kernel: grid.sync() between its phases.
#include <cooperative_groups.h>

#include "../sample.hpp"

namespace cg = cooperative_groups;

__device__ float row(const float* p, int i, int n) {  // of the matrix (-1, 3, -1) times p
  return 3 * p[i] - (i > 0 ? p[i - 1] : 0) - (i + 1 < n ? p[i + 1] : 0);
}

__device__ void add_dot(float v, double* to) {
  double sum = v;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(to, sum);
}

__global__ void solve(const float* b, float* x, float* r, float* p, double* dots, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  const int first = static_cast<int>(grid.thread_rank()), stride = static_cast<int>(grid.size());
  float own = 0;
  for (int i = first; i < n; i += stride) {
    x[i] = 0;
    r[i] = p[i] = b[i];
    own += b[i] * b[i];
  }
  add_dot(own, &dots[0]);
  grid.sync();
  for (int k = 0; k < steps; ++k) {
    const double rr = dots[2 * k];
    own = 0;
    for (int i = first; i < n; i += stride) own += p[i] * row(p, i, n);
    add_dot(own, &dots[2 * k + 1]);
    grid.sync();
    const float alpha = static_cast<float>(rr / dots[2 * k + 1]);
    own = 0;
    for (int i = first; i < n; i += stride) {
      x[i] += alpha * p[i];
      r[i] -= alpha * row(p, i, n);
      own += r[i] * r[i];
    }
    add_dot(own, &dots[2 * k + 2]);
    grid.sync();
    const float beta = static_cast<float>(dots[2 * k + 2] / rr);
    for (int i = first; i < n; i += stride) p[i] = r[i] + beta * p[i];
    grid.sync();
  }
}

int main() {
  int n = 300, steps = 30;
  Random random(31);
  std::vector<float> b = random.floats(n);
  float *d_b = to_device(b), *x = device_array<float>(n), *r = device_array<float>(n), *p = device_array<float>(n);
  double* dots = to_device(std::vector<double>(2 * steps + 2));
  int blocks = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, solve, 64, 0));
  expect(blocks > 0, "a block fits");
  void* arguments[] = {&d_b, &x, &r, &p, &dots, &n, &steps};
  CUDA_CHECK(cudaLaunchCooperativeKernel(solve, dim3(3), dim3(64), arguments, 0, nullptr));
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::vector<float> got = to_host(x, n);
  for (int i = 0; i < n; ++i) {
    const float ax = 3 * got[i] - (i > 0 ? got[i - 1] : 0) - (i + 1 < n ? got[i + 1] : 0);
    expect(std::fabs(ax - b[i]) < 1e-4f, "A x = b");
  }
  for (void* q : {(void*)d_b, (void*)x, (void*)r, (void*)p, (void*)dots}) CUDA_CHECK(cudaFree(q));
  std::puts("ok");
}
