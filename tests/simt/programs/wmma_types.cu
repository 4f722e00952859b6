// wmma with bf16, tf32, int8 and double operands, and the number of elements that a lane holds.
#include <mma.h>

#include <cmath>

#include "check.hpp"

using namespace nvcuda::wmma;

static_assert(fragment<matrix_a, 16, 16, 16, half, row_major>::num_elements == 16);
static_assert(fragment<matrix_b, 8, 32, 16, half, row_major>::num_elements == 16);
static_assert(fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major>::num_elements == 8);
static_assert(fragment<matrix_a, 8, 32, 16, __nv_bfloat16, row_major>::num_elements == 4);
static_assert(fragment<matrix_b, 8, 32, 16, __nv_bfloat16, row_major>::num_elements == 16);
static_assert(fragment<matrix_a, 16, 16, 8, precision::tf32, row_major>::num_elements == 4);
static_assert(fragment<matrix_a, 16, 16, 16, signed char, row_major>::num_elements == 8);
static_assert(fragment<matrix_b, 32, 8, 16, unsigned char, col_major>::num_elements == 4);
static_assert(fragment<accumulator, 16, 16, 16, float>::num_elements == 8);
static_assert(fragment<accumulator, 32, 8, 16, int>::num_elements == 8);
static_assert(fragment<accumulator, 8, 8, 4, double>::num_elements == 2);

template <int m, int n, int k, class T, class M, class Acc, class LA, class LB>
__global__ void multiply(const M* a, const M* b, Acc* c, int lda, int ldb) {
  fragment<matrix_a, m, n, k, T, LA> fa;
  fragment<matrix_b, m, n, k, T, LB> fb;
  fragment<accumulator, m, n, k, Acc> fc;
  load_matrix_sync(fa, a, lda);
  load_matrix_sync(fb, b, ldb);
  load_matrix_sync(fc, c, m, mem_col_major);
  if constexpr (std::is_same<T, precision::tf32>::value) {
    for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = __float_to_tf32(fa.x[i]);
    for (int i = 0; i < fb.num_elements; ++i) fb.x[i] = __float_to_tf32(fb.x[i]);
  }
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(c, fc, m, mem_col_major);
}

template <int m, int n, int k, class T, class M, class Acc, class LA, class LB>
void check(const char* what) {
  constexpr bool a_row = std::is_same<LA, row_major>::value, b_row = std::is_same<LB, row_major>::value;
  const int lda = a_row ? k + 16 : 48, ldb = b_row ? 48 : k + 16;
  M *a, *b;
  Acc* c;
  cudaMallocManaged(&a, 64 * 64 * sizeof(M));
  cudaMallocManaged(&b, 64 * 64 * sizeof(M));
  cudaMallocManaged(&c, m * n * sizeof(Acc));
  for (int i = 0; i < 64 * 64; ++i) a[i] = M(float(i * 7 % 13)), b[i] = M(float(i * 5 % 11));
  for (int i = 0; i < m * n; ++i) c[i] = Acc(i % 5);
  multiply<m, n, k, T, M, Acc, LA, LB><<<1, 32>>>(a, b, c, lda, ldb);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, what);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = (j * m + i) % 5;
      for (int l = 0; l < k; ++l)
        sum +=
            double(float(a[a_row ? i * lda + l : l * lda + i])) * double(float(b[b_row ? l * ldb + j : j * ldb + l]));
      expect(double(c[j * m + i]) == sum, what);  // small integers are exact in every type
    }
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}

template <int m, int n, int k, class T, class M, class Acc>
void layouts(const char* what) {
  check<m, n, k, T, M, Acc, row_major, row_major>(what);
  check<m, n, k, T, M, Acc, row_major, col_major>(what);
  check<m, n, k, T, M, Acc, col_major, row_major>(what);
  check<m, n, k, T, M, Acc, col_major, col_major>(what);
}

int main() {
  layouts<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float>("bf16 16x16x16");
  layouts<32, 8, 16, __nv_bfloat16, __nv_bfloat16, float>("bf16 32x8x16");
  layouts<8, 32, 16, __nv_bfloat16, __nv_bfloat16, float>("bf16 8x32x16");
  layouts<16, 16, 16, signed char, signed char, int>("s8 16x16x16");
  layouts<32, 8, 16, signed char, signed char, int>("s8 32x8x16");
  layouts<8, 32, 16, unsigned char, unsigned char, int>("u8 8x32x16");
  layouts<16, 16, 8, precision::tf32, float, float>("tf32 16x16x8");
  layouts<8, 8, 4, double, double, double>("double 8x8x4");
  std::puts("ok");
}
