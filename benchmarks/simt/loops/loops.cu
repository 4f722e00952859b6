// Kernels on the emulator beside the same kernels as OpenMP loops, in turn. Prints JSON: seconds of processor time of all
// threads in each turn, and the ratio of the medians. The benchmarks' README has the command.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <vector>

#include "kernels.cuh"
#include "loops.hpp"

constexpr int kTurns = 9;
bool all_equal = true;

std::vector<float> random_values(std::size_t n) {
  std::vector<float> v(n);
  for (float& x : v) x = float(std::rand()) / float(RAND_MAX) + 0.1f;
  return v;
}

struct Device {
  float* at = nullptr;
  std::size_t n;
  explicit Device(const std::vector<float>& v) : n(v.size()) {
    cudaMalloc(&at, n * sizeof(float));
    cudaMemcpy(at, v.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  }
  ~Device() { cudaFree(at); }
  std::vector<float> values() const {
    std::vector<float> v(n);
    cudaMemcpy(v.data(), at, n * sizeof(float), cudaMemcpyDeviceToHost);
    return v;
  }
};

double seconds(const std::function<void()>& run) {
  const std::clock_t start = std::clock();
  run();
  cudaDeviceSynchronize();
  return double(std::clock() - start) / CLOCKS_PER_SEC;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

void print(const char* key, const std::vector<double>& values) {
  std::printf("\"%s\": [", key);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.5f", i ? ", " : "", values[i]);
  std::printf("], ");
}

// Both write to arrays of the same length, which are compared behind the first call.
void measure(const char* name, const char* kind, const Device& result, std::vector<float>& expected,
             const std::function<void()>& kernel, const std::function<void()>& loop) {
  kernel();
  loop();
  const std::vector<float> got = result.values();
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::fabs(got[i] - expected[i]) <= 1e-3f * (1 + std::fabs(expected[i])))) all_equal = false;
  std::vector<double> emulator, openmp;
  for (int turn = 0; turn < kTurns; ++turn) emulator.push_back(seconds(kernel)), openmp.push_back(seconds(loop));
  static bool first = true;
  std::printf("%s{\"kernel\": \"%s\", \"kind\": \"%s\", ", first ? "" : ",\n ", name, kind);
  first = false;
  print("emulator_s", emulator);
  print("openmp_s", openmp);
  std::printf("\"ratio\": %.2f}", median(emulator) / median(openmp));
}

int main() {
  const int n = 1 << 22, h = 2048, w = 2048, m = 512, points = 4096, blocks = n / (8 * kThreads);
  const std::vector<float> x = random_values(n), y = random_values(n), a = random_values(m * m),
                           b = random_values(m * m);
  const Device dx(x), dy(y), da(a), db(b);
  std::printf("[");
  {
    Device out(y);
    std::vector<float> to = y;
    measure(
        "axpy", "streaming", out, to, [&] { axpy<<<n / kThreads, kThreads>>>(n, 0.5f, dx.at, out.at); },
        [&] { loops::axpy(n, 0.5f, x.data(), to.data()); });
    measure(
        "triad", "streaming", out, to, [&] { triad<<<n / kThreads, kThreads>>>(n, 0.5f, dx.at, dy.at, out.at); },
        [&] { loops::triad(n, 0.5f, x.data(), y.data(), to.data()); });
    measure(
        "softsign", "streaming", out, to, [&] { softsign<<<n / kThreads / 8, kThreads>>>(n, dx.at, out.at); },
        [&] { loops::softsign(n, x.data(), to.data()); });
  }
  {
    Device out(y);
    std::vector<float> to = y;
    measure(
        "stencil", "streaming", out, to, [&] { stencil<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(h, w, dx.at, out.at); },
        [&] { loops::stencil(h, w, x.data(), to.data()); });
    measure(
        "transpose", "barriers", out, to,
        [&] { transpose<<<dim3(w / 32, h / 32), dim3(32, 8)>>>(h, w, dx.at, out.at); },
        [&] { loops::transpose(h, w, x.data(), to.data()); });
  }
  {
    std::vector<float> to(m * m);
    Device out(to);
    measure(
        "gemm", "barriers", out, to,
        [&] { gemm<<<dim3(m / kTile, m / kTile), dim3(kTile, kTile)>>>(m, da.at, db.at, out.at); },
        [&] { loops::gemm(m, a.data(), b.data(), to.data()); });
  }
  {
    std::vector<float> to(blocks);
    Device out(to);
    measure(
        "block_sums", "barriers", out, to, [&] { block_sums<<<blocks, kThreads>>>(dx.at, out.at); },
        [&] { loops::block_sums(blocks, x.data(), to.data()); });
  }
  {
    std::vector<float> to(3 * points);
    Device out(to);
    measure(
        "forces", "barriers", out, to,
        [&] { forces<<<points / kThreads, kThreads>>>(points, (const float4*)dx.at, out.at); },
        [&] { loops::forces(points, x.data(), to.data()); });
  }
  std::printf("]\n");
  if (!all_equal) std::fprintf(stderr, "a kernel and its loop differ\n");
  return all_equal ? 0 : 1;
}
