// grid.sync(): a heat equation whose steps all run in one cooperative launch.
#include <cooperative_groups.h>

#include <utility>
#include <vector>

#include "check.hpp"

namespace cg = cooperative_groups;

__global__ void steps(int* a, int* b, int n, int count, int* valid) {
  cg::grid_group grid = cg::this_grid();
  int i = static_cast<int>(grid.thread_rank());
  if (i == 0) *valid = grid.is_valid() && grid.size() == static_cast<unsigned>(n);
  for (int s = 0; s < count; ++s) {
    b[i] = (a[(i + n - 1) % n] + 2 * a[i] + a[(i + 1) % n]) / 4;
    grid.sync();
    int* t = a;
    a = b;
    b = t;
  }
}

int main() {
  constexpr int blocks = 6, threads = 48, n = blocks * threads;
  std::vector<int> now(n), next(n), got(n);
  for (int i = 0; i < n; ++i) now[i] = i * i * 31 % 10007;
  int *a, *b, *valid, size = n, count = 20, is_valid = 0;
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  cudaMalloc(&valid, sizeof(int));
  cudaMemcpy(a, now.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  void* arguments[] = {&a, &b, &size, &count, &valid};
  expect_error(cudaLaunchCooperativeKernel(steps, dim3(blocks), dim3(threads), arguments, 0, nullptr), cudaSuccess,
               "the launch");
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernel");
  for (int s = 0; s < count; ++s) {
    for (int i = 0; i < n; ++i) next[i] = (now[(i + n - 1) % n] + 2 * now[i] + now[(i + 1) % n]) / 4;
    std::swap(now, next);
  }
  cudaMemcpy(got.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(&is_valid, valid, sizeof(int), cudaMemcpyDeviceToHost);
  expect(got == now, "twenty steps");
  expect(is_valid == 1, "is_valid");
  expect_error(cudaLaunchCooperativeKernel(steps, dim3(1 << 20), dim3(1024), arguments, 0, nullptr),
               cudaErrorCooperativeLaunchTooLarge, "more blocks than fit at once");
  cudaGetLastError();
  cudaFree(a);
  cudaFree(b);
  cudaFree(valid);
  std::puts("ok");
}
