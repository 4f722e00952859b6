#include <cstdio>

float largest_of(const float* p);

__global__ void store(float4* v) { *v = make_float4(1, 4, 2, 3); }

int main() {
  float4* v = nullptr;
  cudaMallocManaged(&v, sizeof *v);
  store<<<1, 1>>>(v);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::printf(largest_of(&v->x) == 4 ? "ok\n" : "wrong\n");
}
