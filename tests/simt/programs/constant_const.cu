// __constant__ variables that are const beside others that are not; a kernel defined with its namespace's name.
#include <cstdio>

__constant__ float scale[4] = {1, 2, 3, 4};
__constant__ const int prods[4] = {10, 20, 30, 40};
__constant__ static const float halves[2] = {0.5f, 1.5f};
const __constant__ double third = 3;
__constant__ constexpr int kFive = 5;
__constant__ const int* pointer;  // not const itself
static_assert(kFive == 5, "still a constant expression");

namespace mine {
__global__ void combine(float* out);
template <class T>
__global__ void copy(T* out);
}  // namespace mine

__global__ void mine::combine(float* out) {
  const int i = threadIdx.x;
  out[i] = scale[i] * prods[i] + halves[i % 2] + static_cast<float>(third) + kFive + *pointer;
}

int main() {
  float *out = nullptr, wanted = 0, got[4];
  int *one = nullptr, host = 1;
  cudaMalloc(&out, sizeof got);
  cudaMalloc(&one, sizeof host);
  cudaMemcpy(one, &host, sizeof host, cudaMemcpyHostToDevice);
  const float changed[4] = {2, 2, 2, 2};
  int table[4] = {0, 0, 0, 0};
  if (cudaMemcpyToSymbol(scale, changed, sizeof changed) != cudaSuccess) return 1;
  if (cudaMemcpyToSymbol(pointer, &one, sizeof one) != cudaSuccess) return 2;
  if (cudaMemcpyFromSymbol(table, prods, sizeof table) != cudaSuccess || table[3] != 40) return 3;
  void* arguments[] = {&out};
  if (cudaLaunchKernel(mine::combine, dim3(1), dim3(4), arguments, 0, nullptr) != cudaSuccess) return 4;
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 4; ++i) {
    wanted = 2.0f * 10 * (i + 1) + (i % 2 == 0 ? 0.5f : 1.5f) + 3 + 5 + 1;
    if (got[i] != wanted) return std::printf("element %d is %g instead of %g\n", i, got[i], wanted), 5;
  }
  std::printf("ok\n");
}
