// cublasSgemm and Dgemm: all transposes, leading dimensions, alpha and beta; a matrix full of NaN with beta = 0.
#include <cublas_v2.h>

#include <cmath>
#include <vector>

#include "check.hpp"

template <class T, class Gemm>
void check(cublasHandle_t handle, Gemm gemm, double tolerance) {
  const int m = 37, n = 29, k = 41, lda = 50, ldb = 53, ldc = 40;
  T *a, *b, *c;
  cudaMallocManaged(&a, 64 * 64 * sizeof(T));
  cudaMallocManaged(&b, 64 * 64 * sizeof(T));
  cudaMallocManaged(&c, 64 * 64 * sizeof(T));
  for (int i = 0; i < 64 * 64; ++i) a[i] = T(i * 37 % 101) / 50 - 1, b[i] = T(i * 53 % 97) / 48 - 1;
  for (cublasOperation_t ta : {CUBLAS_OP_N, CUBLAS_OP_T})
    for (cublasOperation_t tb : {CUBLAS_OP_N, CUBLAS_OP_T})
      for (T beta : {T(0), T(0.5)}) {
        const T alpha = T(1.5);
        for (int i = 0; i < 64 * 64; ++i) c[i] = beta == 0 ? T(NAN) : T(i % 7);
        expect(gemm(handle, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc) == CUBLAS_STATUS_SUCCESS, "gemm");
        expect_error(cudaDeviceSynchronize(), cudaSuccess, "gemm");
        for (int j = 0; j < n; ++j)
          for (int i = 0; i < m; ++i) {
            double sum = 0;
            for (int l = 0; l < k; ++l)
              sum += double(ta == CUBLAS_OP_N ? a[i + l * lda] : a[l + i * lda]) *
                     double(tb == CUBLAS_OP_N ? b[l + j * ldb] : b[j + l * ldb]);
            double wanted = double(alpha) * sum + (beta == 0 ? 0 : double(beta) * ((i + j * ldc) % 7));
            expect(std::fabs(double(c[i + j * ldc]) - wanted) < tolerance, "element of the product");
          }
        expect(beta == 0 ? std::isnan(c[m]) : c[m] == m % 7, "rows below m are left alone");
      }
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}

int main() {
  cublasHandle_t handle;
  expect(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
  check<float>(handle, cublasSgemm, 1e-4);
  check<double>(handle, cublasDgemm, 1e-11);
  expect(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS, "cublasDestroy");
  std::puts("ok");
}
