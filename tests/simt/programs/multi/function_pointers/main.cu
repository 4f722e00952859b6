// Functions of another file, called directly, through its table and through virtual functions.
#include <cstdio>

#include "operations.cuh"

struct Double : Rule {
  __device__ int next(int x) const override { return 2 * x; }
};

__global__ void run(int* out) {
  const int t = static_cast<int>(threadIdx.x);
  const Rule plain;
  const Double twice;
  const Rule& rule = t % 2 == 0 ? plain : static_cast<const Rule&>(twice);
  Operation own = square;
  out[t] = operations[t % 2](t) + rule.next(t) + own(t);
}

int main() {
  int* out;
  cudaMallocManaged(&out, 32 * sizeof(int));
  run<<<1, 32>>>(out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int t = 0; t < 32; ++t)
    if (out[t] != (t % 2 == 0 ? t * t + t + 1 : -t + 2 * t) + t * t) return 1;
  cudaFree(out);
  std::puts("ok");
}
