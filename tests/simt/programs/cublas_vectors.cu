// BLAS 1 and 2: increments, results on the host and on the device, gemv, ger, geam, and copies of matrices.
#include <cublas_v2.h>

#include <cmath>

#include "check.hpp"

#define CHECK(call) expect((call) == CUBLAS_STATUS_SUCCESS, #call)

int main() {
  cublasHandle_t handle;
  cudaStream_t stream, back;
  CHECK(cublasCreate(&handle));
  cudaStreamCreate(&stream);
  CHECK(cublasSetStream(handle, stream));
  CHECK(cublasGetStream(handle, &back));
  expect(back == stream, "the handle's stream");
  const int n = 100;
  float host[2 * n], *x, *y, *device_result;
  cudaMalloc(&x, 2 * n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMalloc(&device_result, sizeof(float));
  for (int i = 0; i < 2 * n; ++i) host[i] = i % 2 ? 1000.0f : (i / 2 == 40 ? -60.0f : float(i / 2 % 10));
  CHECK(cublasSetVector(2 * n, sizeof(float), host, 1, x, 1));
  CHECK(cublasSetVector(n, sizeof(float), host, 2, y, 1));  // every second element
  float alpha = 2, result = 0;
  CHECK(cublasSaxpy(handle, n, &alpha, x, 2, y, 1));  // y = 3 v
  CHECK(cublasSscal(handle, n, &alpha, y, 1));        // y = 6 v
  CHECK(cublasSdot(handle, n, x, 2, y, 1, &result));
  double squares = 3600, absolute = 60;
  for (int i = 0; i < n; ++i)
    if (i != 40) squares += (i % 10) * (i % 10), absolute += i % 10;
  expect(std::fabs(result - 6 * squares) < 0.01, "dot");
  CHECK(cublasSnrm2(handle, n, x, 2, &result));
  expect(std::fabs(result - std::sqrt(squares)) < 1e-3, "nrm2");
  CHECK(cublasSasum(handle, n, x, 2, &result));
  expect(std::fabs(result - absolute) < 1e-3, "asum");
  int where = 0;
  CHECK(cublasIsamax(handle, n, x, 2, &where));
  expect(where == 41, "isamax counts from 1");
  CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  CHECK(cublasSasum(handle, n, x, 2, device_result));
  cudaStreamSynchronize(stream);
  cudaMemcpy(&result, device_result, sizeof result, cudaMemcpyDeviceToHost);
  expect(std::fabs(result - absolute) < 1e-3, "a result on the device");
  CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));

  // a is 2 x 3 in column-major order: 1 2 3 / 4 5 6
  const double entries[] = {1, 4, 2, 5, 3, 6}, ones[] = {1, 1, 1}, one = 1, zero = 0;
  double *a, *v, *w, *c, out[6];
  cudaMalloc(&a, sizeof entries);
  cudaMalloc(&v, sizeof ones);
  cudaMalloc(&w, sizeof ones);
  cudaMalloc(&c, sizeof entries);
  CHECK(cublasSetMatrix(2, 3, sizeof(double), entries, 2, a, 2));
  CHECK(cublasSetVector(3, sizeof(double), ones, 1, v, 1));
  CHECK(cublasDgemv(handle, CUBLAS_OP_N, 2, 3, &one, a, 2, v, 1, &zero, w, 1));
  cudaStreamSynchronize(stream);
  CHECK(cublasGetVector(2, sizeof(double), w, 1, out, 1));
  expect(out[0] == 6 && out[1] == 15, "gemv");
  CHECK(cublasDgemv(handle, CUBLAS_OP_T, 2, 3, &one, a, 2, v, 1, &zero, w, 1));
  cudaStreamSynchronize(stream);
  CHECK(cublasGetVector(3, sizeof(double), w, 1, out, 1));
  expect(out[0] == 5 && out[1] == 7 && out[2] == 9, "gemv, transposed");
  CHECK(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 3, 2, &one, a, 2, &zero, c, 3, c, 3));
  cudaStreamSynchronize(stream);
  CHECK(cublasGetMatrix(3, 2, sizeof(double), c, 3, out, 3));
  for (int i = 0; i < 6; ++i) expect(out[i] == i + 1, "geam transposes");
  CHECK(cublasDger(handle, 3, 2, &one, v, 1, w, 1, c, 3));
  cudaStreamSynchronize(stream);
  CHECK(cublasGetMatrix(3, 2, sizeof(double), c, 3, out, 3));
  for (int i = 0; i < 6; ++i) expect(out[i] == i + 1 + (i < 3 ? 5 : 7), "ger");
  CHECK(cublasDestroy(handle));
  std::puts("ok");
}
