// Every configuration of task `autotune` that can run: its time, and its error against a product in double precision.
// Needs a GPU for times that mean anything:
//   nvcc -O3 -std=c++20 -arch=native -I labs/11_profiling labs/11_profiling/experiments/all_configs.cu -o all_configs
//   ./all_configs 2000 1500 1000
// Errors are the same on the emulator, where small sizes are enough:
//   ./ridge cc -I labs/11_profiling labs/11_profiling/experiments/all_configs.cu -o all_configs
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "baseline/gemm.hpp"

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "all_configs: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

float* on_device(const std::vector<float>& values) {
  float* p = nullptr;
  check(cudaMalloc(&p, values.size() * sizeof(float)), "cudaMalloc");
  check(cudaMemcpy(p, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  return p;
}

bool run(int config, const float* a, const float* b, float* c, const Shape& s) {
  switch (config / 16) {
    case 0:
      return gemm_of_tile<0>(config, a, b, c, s, nullptr);
    case 1:
      return gemm_of_tile<16>(config, a, b, c, s, nullptr);
    case 2:
      return gemm_of_tile<32>(config, a, b, c, s, nullptr);
    default:
      return gemm_of_tile<48>(config, a, b, c, s, nullptr);
  }
}

// Of all elements, over the largest.
double error_of(const std::vector<float>& c, const std::vector<double>& expected) {
  double error = 0, size = 0;
  for (size_t i = 0; i < c.size(); ++i) {
    const double off = std::fabs(c[i] - expected[i]);
    error = off <= error ? error : off;  // NaN stays
    size = std::max(size, std::fabs(expected[i]));
  }
  return error / size;
}

}  // namespace

// all_configs [m n k turns]. Errors are computed for up to 2^28 products.
int main(int argc, char** argv) {
  int v[4] = {150, 139, 101, 1};
  for (int i = 0; i < 4 && i + 1 < argc; ++i) v[i] = std::atoi(argv[i + 1]);
  const Shape s{v[0], v[1], v[2]};
  const size_t m = s.m, n = s.n, k = s.k;
  std::mt19937 random(1);
  std::vector<float> a(m * k), b(k * n), c(m * n, NAN);
  for (std::vector<float>* all : {&a, &b})
    for (float& x : *all) x = static_cast<float>(random() % 2001) / 1000 - 1;
  std::vector<double> expected;
  if (m * n * k <= size_t{1} << 28) {
    expected.assign(m * n, 0);
    for (size_t i = 0; i < m; ++i)
      for (size_t p = 0; p < k; ++p)
        for (size_t j = 0; j < n; ++j) expected[i * n + j] += double{a[i * k + p]} * b[p * n + j];
  }
  float *da = on_device(a), *db = on_device(b), *dc = on_device(c);
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start), "cudaEventCreate");
  check(cudaEventCreate(&stop), "cudaEventCreate");
  std::printf("config tile_m tile_n tile_k thread stages microseconds error\n");
  for (int config = 0; config < kConfigs; ++config) {
    check(cudaMemset(dc, 0xff, c.size() * sizeof(float)), "cudaMemset");
    if (!run(config, da, db, dc, s)) continue;
    check(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::vector<float> times;
    for (int turn = 0; turn < v[3]; ++turn) {
      constexpr int kCalls = 10;
      check(cudaEventRecord(start), "cudaEventRecord");
      for (int call = 0; call < (v[3] > 1 ? kCalls : 1); ++call) run(config, da, db, dc, s);
      check(cudaEventRecord(stop), "cudaEventRecord");
      check(cudaEventSynchronize(stop), "kernel");
      float ms = 0;
      check(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
      times.push_back(ms * 1e3f / (v[3] > 1 ? kCalls : 1));
    }
    std::sort(times.begin(), times.end());
    const Config t = config_of(config);
    std::printf("%d %d %d %d %d %d %.2f", config, t.tile_m, t.tile_n, t.tile_k, t.thread_m, t.stages,
                times[times.size() / 2]);
    if (expected.empty())
      std::printf("\n");
    else
      std::printf(" %.2g\n", error_of(c, expected));
  }
  for (float* p : {da, db, dc}) cudaFree(p);
  for (cudaEvent_t e : {start, stop}) cudaEventDestroy(e);
}
