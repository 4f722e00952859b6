// Members of a program's own classes that are named as CUDA's indices: each is what the program makes of it.
#include "sample.hpp"

struct Shape {
  dim3 gridDim;
  dim3 blockDim = dim3(64);
  unsigned threads() const { return gridDim.x * blockDim.x; }
};

struct Place {
  uint3 blockIdx, threadIdx;
};

class Launcher {
 public:
  explicit Launcher(dim3 gridDim, dim3 block) : gridDim(gridDim), blockDim(block) {}
  Launcher(int n);
  dim3 grid() const { return gridDim; }
  dim3 block() const { return this->blockDim; }

 private:
  dim3 gridDim, blockDim;
};
Launcher::Launcher(int n) : gridDim((n + 31) / 32), blockDim(32) {}

template <typename T>
struct Extent {
  const T* blockDim;
  T gridDim[2];
};

class Counter {
 public:
  int gridDim() const { return 7; }
};

__global__ void where(Place* out, int n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i].blockIdx = blockIdx;
  out[i].threadIdx = threadIdx;
}

__global__ void total(Shape s, unsigned* out) {
  if (blockIdx.x * blockDim.x + threadIdx.x == 0) *out = s.gridDim.x * s.blockDim.x - gridDim.x * blockDim.x;
}

int main() {
  const int n = 150;
  Place* out = nullptr;
  unsigned* off = nullptr;
  CUDA_CHECK(cudaMallocManaged(&out, n * sizeof *out));
  CUDA_CHECK(cudaMallocManaged(&off, sizeof *off));
  Shape s;
  s.gridDim = dim3((n + s.blockDim.x - 1) / s.blockDim.x);
  where<<<s.gridDim, s.blockDim>>>(out, n);
  total<<<s.gridDim, s.blockDim>>>(s, off);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i)
    expect(out[i].blockIdx.x == i / 64u && (out + i)->threadIdx.x == i % 64u, "members of a struct");
  expect(s.threads() == 192 && *off == 0, "members in a function of the class and in a kernel");
  const Launcher a(dim3(3), dim3(50)), b(n);
  expect(a.grid().x == 3 && a.block().x == 50 && b.grid().x == 5 && b.block().x == 32, "lists of initialisers");
  int sides[] = {4, 5};
  const Extent<int> e = {sides, {8, 9}};
  expect(e.blockDim[1] == 5 && e.gridDim[0] == 8 && e.gridDim[1] == 9, "a pointer and an array");
  const Extent<int> d = {.blockDim = sides + 1, .gridDim = {1, 2}};
  expect(*d.blockDim == 5 && d.gridDim[1] == 2, "designators");
  expect(Counter().gridDim() == 7, "a function");
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(3);
  config.blockDim = s.blockDim;
  CUDA_CHECK(cudaLaunchKernelEx(&config, where, out, n));
  CUDA_CHECK(cudaDeviceSynchronize());
  std::puts("ok");
}
