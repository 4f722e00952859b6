// Inline PTX that is made of macros: its operands, its text, a type, the name of an instruction.
#include <cstdint>
#include <cstdio>

#define REGISTER(i) "+f"(d[i])
#define REGISTERS REGISTER(0), REGISTER(1), REGISTER(2), REGISTER(3)
#define FUSED(type, i) "fma.rn." #type " %" #i ", %" #i ", %4, %5;\n"
#define SPACE "shared::cta"
#define STORE(pointer, value)                                                                                \
  asm volatile("st." SPACE ".u32 [%0], %1;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(pointer))), \
               "r"(value)                                                                                    \
               : "memory")
#define ARITHMETIC(name, result, a, b) asm(#name ".s32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b))

__device__ void scale(float (&d)[4], float x) {
  asm volatile(FUSED(f32, 0) FUSED(f32, 1) FUSED(f32, 2) FUSED(f32, 3) : REGISTERS : "f"(x), "f"(1.0f) : "memory");
}

__global__ void k(float* sums, int* results) {
  __shared__ int stored[32];
  const int i = static_cast<int>(threadIdx.x);
  float d[4] = {1, 2, 3, 4};
  scale(d, static_cast<float>(i));
  for (int e = 0; e < 4; ++e) sums[4 * i + e] = d[e];
  STORE(&stored[i ^ 1], 10 * i);
  __syncwarp();
  int sum, most;
  ARITHMETIC(add, sum, stored[i], i);
  ARITHMETIC(max, most, stored[i], i);
  results[2 * i] = sum;
  results[2 * i + 1] = most;
}

int main() {
  float* sums;
  int* results;
  cudaMallocManaged(&sums, 128 * sizeof *sums);
  cudaMallocManaged(&results, 64 * sizeof *results);
  k<<<1, 32>>>(sums, results);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < 32; ++i) {
    for (int e = 0; e < 4; ++e) wrong += sums[4 * i + e] != static_cast<float>((e + 1) * i + 1);
    const int other = 10 * (i ^ 1);
    wrong += results[2 * i] != other + i;
    wrong += results[2 * i + 1] != (other > i ? other : i);
  }
  cudaFree(sums);
  cudaFree(results);
  std::puts(wrong == 0 ? "ok" : "wrong");
  return wrong != 0;
}
