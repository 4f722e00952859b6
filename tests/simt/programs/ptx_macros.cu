// Inline PTX that is made of macros: its operands, its text, a type, the name of an instruction. Comments between its
// literals; and the transpose of a matrix by movmatrix.
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

// A matrix of 8 x 8 elements: lane l holds elements (l / 4, 2 * (l % 4)) and the one beside it.
__device__ unsigned transposed(unsigned elements) {
  unsigned result;
  asm volatile(
      // 16 bits each
      "movmatrix.sync.aligned.m8n8.trans.b16 "  // all lanes of a warp
      /* to, from */ "%0, %1;"
      : "=r"(result)
      : "r"(elements));
  return result;
}

__global__ void k(float* sums, int* results, unsigned* matrix) {
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
  matrix[i] = transposed(static_cast<unsigned>(2 * i | (2 * i + 1) << 16));  // element e is e
}

int main() {
  float* sums;
  int* results;
  cudaMallocManaged(&sums, 128 * sizeof *sums);
  unsigned* matrix;
  cudaMallocManaged(&results, 64 * sizeof *results);
  cudaMallocManaged(&matrix, 32 * sizeof *matrix);
  k<<<1, 32>>>(sums, results, matrix);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < 32; ++i) {
    for (int e = 0; e < 4; ++e) wrong += sums[4 * i + e] != static_cast<float>((e + 1) * i + 1);
    const int other = 10 * (i ^ 1);
    wrong += results[2 * i] != other + i;
    wrong += results[2 * i + 1] != (other > i ? other : i);
    const unsigned row = static_cast<unsigned>(i) / 4, column = static_cast<unsigned>(i) % 4 * 2;
    wrong += matrix[i] != (column * 8 + row | ((column + 1) * 8 + row) << 16);
  }
  cudaFree(sums);
  cudaFree(results);
  cudaFree(matrix);
  std::puts(wrong == 0 ? "ok" : "wrong");
  return wrong != 0;
}
