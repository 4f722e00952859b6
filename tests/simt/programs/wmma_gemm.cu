// Matrix multiplication with wmma: every shape of fp16, all layouts, both accumulators, against double precision.
#include <mma.h>

#include <vector>

#include "check.hpp"

using namespace nvcuda;

// a: m x k, b: k x n, each row- or column-major; c and d: row-major.
template <int m, int n, int k, class Acc, class LA, class LB>
__global__ void multiply(const half* a, const half* b, Acc* c, int lda, int ldb, int depth) {
  wmma::fragment<wmma::matrix_a, m, n, k, half, LA> fa;
  wmma::fragment<wmma::matrix_b, m, n, k, half, LB> fb;
  wmma::fragment<wmma::accumulator, m, n, k, Acc> fc;
  wmma::fill_fragment(fc, Acc(0.0f));
  constexpr bool a_row = std::is_same<LA, wmma::row_major>::value, b_row = std::is_same<LB, wmma::row_major>::value;
  for (int l = 0; l < depth; l += k) {
    wmma::load_matrix_sync(fa, a_row ? a + l : a + l * lda, lda);
    wmma::load_matrix_sync(fb, b_row ? b + l * ldb : b + l, ldb);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = Acc(2.0f) * fc.x[i];
  wmma::store_matrix_sync(c, fc, n, wmma::mem_row_major);
}

template <int m, int n, int k, class Acc, class LA, class LB>
void check() {
  constexpr bool a_row = std::is_same<LA, wmma::row_major>::value, b_row = std::is_same<LB, wmma::row_major>::value;
  const int depth = 64, lda = a_row ? depth : m, ldb = b_row ? n : depth;
  std::vector<half> a(m * depth), b(depth * n);
  std::vector<Acc> c(m * n);
  for (size_t i = 0; i < a.size(); ++i) a[i] = half(float(i * 37 % 23) / 16 - 0.7f);
  for (size_t i = 0; i < b.size(); ++i) b[i] = half(float(i * 53 % 19) / 16 - 0.5f);
  half *da, *db;
  Acc* dc;
  cudaMalloc(&da, a.size() * sizeof(half));
  cudaMalloc(&db, b.size() * sizeof(half));
  cudaMalloc(&dc, c.size() * sizeof(Acc));
  cudaMemcpy(da, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice);
  multiply<m, n, k, Acc, LA, LB><<<1, 32>>>(da, db, dc, lda, ldb, depth);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernel");
  cudaMemcpy(c.data(), dc, c.size() * sizeof(Acc), cudaMemcpyDeviceToHost);
  const double tolerance = sizeof(Acc) == 2 ? 0.15 : 1e-3;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < depth; ++l)
        sum +=
            double(float(a[a_row ? i * lda + l : l * lda + i])) * double(float(b[b_row ? l * ldb + j : j * ldb + l]));
      double got = double(float(c[i * n + j]));
      expect(got - 2 * sum <= tolerance && 2 * sum - got <= tolerance, "element of the product");
    }
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
}

template <int m, int n, int k>
void shapes() {
  check<m, n, k, float, wmma::row_major, wmma::row_major>();
  check<m, n, k, float, wmma::row_major, wmma::col_major>();
  check<m, n, k, float, wmma::col_major, wmma::row_major>();
  check<m, n, k, float, wmma::col_major, wmma::col_major>();
  check<m, n, k, half, wmma::row_major, wmma::col_major>();
  check<m, n, k, half, wmma::col_major, wmma::row_major>();
}

int main() {
  shapes<16, 16, 16>();
  shapes<32, 8, 16>();
  shapes<8, 32, 16>();
  std::puts("ok");
}
