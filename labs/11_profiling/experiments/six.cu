// The six kernels of task `predict`, once each, at the sizes of the lesson's table.
//
//   ./ridge cc -I labs/11_profiling labs/11_profiling/experiments/six.cu -o six
//   RIDGE_COUNTERS=1 ./six
// With a GPU: nvcc -O3 -lineinfo -arch=native -I labs/11_profiling labs/11_profiling/experiments/six.cu -o six
#include <cstdio>
#include <cstdlib>

#include "kernels.hpp"

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "six: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

float* array_of(size_t floats) {
  float* p = nullptr;
  check(cudaMalloc(&p, floats * sizeof(float)), "cudaMalloc");
  check(cudaMemset(p, 0, floats * sizeof(float)), "cudaMemset");
  return p;
}

}  // namespace

// six [blocks threads a_strided a_row_sum a_transpose a_halo a_wide a_table kernel]; the transpose has 256 threads. `kernel`: 0 to 5
// runs one of them alone.
int main(int argc, char** argv) {
  int v[9] = {1320, 256, 6, 16, 0, 2, 2, 128, -1};
  for (int i = 0; i < 9 && i + 1 < argc; ++i) v[i] = std::atoi(argv[i + 1]);
  const int blocks = v[0], threads = v[1], n = blocks * threads, most = v[3] > 16 ? v[3] : 16;
  const size_t floats = size_t(n) * most + 64, of_transpose = size_t(blocks) * 1024;
  float* in = array_of(floats > of_transpose ? floats : of_transpose);
  float *coefficient = array_of(1024), *out = array_of(size_t(n) * 4 > of_transpose ? size_t(n) * 4 : of_transpose);
  auto runs = [&](int kernel) { return v[8] < 0 || v[8] == kernel; };
  if (runs(0)) strided_kernel<<<blocks, threads>>>(in, out, v[2]);
  if (runs(1)) row_sum_kernel<<<blocks, threads>>>(in, out, v[3]);
  if (runs(2)) transpose_kernel<<<blocks, 256, 32 * (32 + v[4]) * sizeof(float)>>>(in, out, v[4]);
  if (runs(3)) halo_kernel<<<blocks, threads>>>(in, out, v[5]);
  if (runs(4)) wide_kernel<<<blocks, threads>>>(reinterpret_cast<float4*>(in), reinterpret_cast<float4*>(out), v[6]);
  if (runs(5)) table_kernel<<<blocks, threads>>>(in, coefficient, out, v[7]);
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "kernels");
  for (float* p : {in, coefficient, out}) cudaFree(p);
}
