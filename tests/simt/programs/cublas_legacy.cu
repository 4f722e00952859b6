// cublas.h, the interface before handles: letters for operations, results returned, one error for all calls.
#include <cublas.h>

#include <cmath>

#include "check.hpp"

int main() {
  expect(cublasInit() == CUBLAS_STATUS_SUCCESS, "cublasInit");
  const int m = 3, n = 2, k = 4;
  float a[k * m], b[k * n], c[m * n];  // column-major: a is k x m and b is k x n
  for (int i = 0; i < k * m; ++i) a[i] = float(i % 5) - 1;
  for (int i = 0; i < k * n; ++i) b[i] = float(i % 3) + 1;
  for (float& v : c) v = 10;
  float *device_a, *device_b, *device_c;
  expect(cublasAlloc(k * m, sizeof(float), reinterpret_cast<void**>(&device_a)) == CUBLAS_STATUS_SUCCESS,
         "cublasAlloc");
  cublasAlloc(k * n, sizeof(float), reinterpret_cast<void**>(&device_b));
  cublasAlloc(m * n, sizeof(float), reinterpret_cast<void**>(&device_c));
  cublasSetMatrix(k, m, sizeof(float), a, k, device_a, k);
  cublasSetMatrix(k, n, sizeof(float), b, k, device_b, k);
  cublasSetVector(m * n, sizeof(float), c, 1, device_c, 1);
  cublasSgemm('t', 'n', m, n, k, 2, device_a, k, device_b, k, 0.5f, device_c, m);
  cublasGetMatrix(m, n, sizeof(float), device_c, m, c, m);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[j * k + l];
      expect(c[j * m + i] == 2 * sum + 5, "c = 2 trans(a) b + c / 2");
    }
  }
  cublasSgemv('T', k, m, 1, device_a, k, device_b, 1, 0, device_c, 1);
  cublasSaxpy(m, -1, device_a, 1, device_c, 1);
  cublasGetVector(m, sizeof(float), device_c, 1, c, 1);
  for (int i = 0; i < m; ++i) {
    float sum = 0;
    for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l];
    expect(c[i] == sum - a[i], "c = trans(a) b - a");
  }
  float dot = 0, squares = 0, absolute = 0;
  for (int i = 0; i < k * n; ++i) dot += a[i] * b[i], squares += a[i] * a[i], absolute += std::fabs(a[i]);
  expect(cublasSdot(k * n, device_a, 1, device_b, 1) == dot, "dot");
  expect(std::fabs(cublasSnrm2(k * n, device_a, 1) - std::sqrt(squares)) < 1e-5f, "nrm2");
  expect(cublasSasum(k * n, device_a, 1) == absolute, "asum");
  expect(cublasIsamax(k * n, device_a, 1) == 5 && cublasIsamin(k * n, device_a, 1) == 2,
         "where |a| is largest, smallest");
  expect(cublasGetError() == CUBLAS_STATUS_SUCCESS, "no error so far");

  cublasSgemm('x', 'n', m, n, k, 1, device_a, k, device_b, k, 0, device_c, m);
  expect(cublasGetError() == CUBLAS_STATUS_INVALID_VALUE, "x is no operation");
  expect(cublasGetError() == CUBLAS_STATUS_SUCCESS, "an error is told once");

  double *device_d, d[4] = {1, -2, 3, 4};
  cublasAlloc(4, sizeof(double), reinterpret_cast<void**>(&device_d));
  cublasSetVector(4, sizeof(double), d, 1, device_d, 1);
  cublasDscal(4, 2, device_d, 1);
  cublasDgemm('N', 'N', 2, 2, 2, 1, device_d, 2, device_d, 2, 0, device_d, 2);
  cublasGetVector(4, sizeof(double), device_d, 1, d, 1);
  expect(d[0] == -20 && d[1] == -40 && d[2] == 60 && d[3] == 40, "the square of ((2 6) (-4 8))");

  for (void* p : {static_cast<void*>(device_a), static_cast<void*>(device_b), static_cast<void*>(device_c),
                  static_cast<void*>(device_d)})
    expect(cublasFree(p) == CUBLAS_STATUS_SUCCESS, "cublasFree");
  expect(cublasShutdown() == CUBLAS_STATUS_SUCCESS, "cublasShutdown");
  cublasSscal(1, 1, nullptr, 1);
  expect(cublasGetError() == CUBLAS_STATUS_NOT_INITIALIZED, "after cublasShutdown");
  std::printf("ok\n");
}
