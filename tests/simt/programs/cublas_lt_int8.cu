// A product of int8 matrices by cuBLASLt: int32 sums, exact.
#include <cublasLt.h>

#include <cstdio>
#include <vector>

#define CHECK(call)                                        \
  if (int status = static_cast<int>(call); status != 0) {  \
    std::printf("line %d: status %d\n", __LINE__, status); \
    return 1;                                              \
  }

int main() {
  constexpr int m = 8, n = 12, k = 1700;  // sums that no float holds
  std::vector<signed char> a(m * k), b(k * n);
  std::vector<int> c(m * n, 7), wanted(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<signed char>(100 + i * 37 % 28);
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<signed char>(100 + i * 53 % 27);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int l = 0; l < k; ++l) sum += a[l * m + i] * b[j * k + l];
      wanted[j * m + i] = 3 * sum + 2 * c[j * m + i];
    }
  signed char *da, *db;
  int* dc;
  cudaMalloc(&da, a.size());
  cudaMalloc(&db, b.size());
  cudaMalloc(&dc, c.size() * sizeof(int));
  cudaMemcpy(da, a.data(), a.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(dc, c.data(), c.size() * sizeof(int), cudaMemcpyHostToDevice);

  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t la, lb, lc;
  CHECK(cublasLtCreate(&handle));
  CHECK(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32I, CUDA_R_32I));
  CHECK(cublasLtMatrixLayoutCreate(&la, CUDA_R_8I, m, k, m));
  CHECK(cublasLtMatrixLayoutCreate(&lb, CUDA_R_8I, k, n, k));
  CHECK(cublasLtMatrixLayoutCreate(&lc, CUDA_R_32I, m, n, m));
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t found[1];
  int count = 0;
  CHECK(cublasLtMatmulPreferenceCreate(&preference));
  CHECK(cublasLtMatmulAlgoGetHeuristic(handle, product, la, lb, lc, lc, preference, 1, found, &count));
  const int alpha = 3, beta = 2;
  CHECK(cublasLtMatmul(handle, product, &alpha, da, la, db, lb, &beta, dc, lc, dc, lc, &found[0].algo, nullptr, 0,
                       nullptr));
  cudaMemcpy(c.data(), dc, c.size() * sizeof(int), cudaMemcpyDeviceToHost);
  cublasLtMatmulPreferenceDestroy(preference);
  cublasLtMatrixLayoutDestroy(la);
  cublasLtMatrixLayoutDestroy(lb);
  cublasLtMatrixLayoutDestroy(lc);
  cublasLtMatmulDescDestroy(product);
  cublasLtDestroy(handle);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  std::puts(c == wanted ? "ok" : "wrong");
}
