// Loads and stores of every wmma operand, layout and type, from global and shared memory, at the smallest legal row length
// and at a padded one. test_matrix.cpp compares the counters of the launches with an H200's, in this order.
#include <mma.h>

#include "check.hpp"

using namespace nvcuda::wmma;

template <class T>
struct Memory {
  using type = T;
};
template <>
struct Memory<precision::tf32> {
  using type = float;
};
template <class F>
struct Info;
template <class Use, int M, int N, int K, class T, class L>
struct Info<fragment<Use, M, N, K, T, L>> {
  using type = typename Memory<T>::type;
  static constexpr bool sum = std::is_same<Use, accumulator>::value, a = std::is_same<Use, matrix_a>::value;
  static constexpr int rows = sum || a ? M : K, cols = sum || !a ? N : K;
};

template <bool kRow, class F, class T>
__device__ __forceinline__ void load(F& f, const T* p, int ldm) {
  if constexpr (Info<F>::sum)
    load_matrix_sync(f, p, ldm, kRow ? mem_row_major : mem_col_major);
  else
    load_matrix_sync(f, p, ldm);
}

template <class F, bool kRow>
__global__ void global_load(const typename Info<F>::type* p, int ldm, float* out) {
  F f;
  load<kRow>(f, p, ldm);
  float sum = 0;
  for (int i = 0; i < f.num_elements; ++i) sum += float(f.x[i]);
  out[threadIdx.x] = sum;
}
template <class F, bool kRow>
__global__ void shared_load(int ldm, float* out) {
  using T = typename Info<F>::type;
  __shared__ __align__(128) T tile[48 * 48];
  for (int i = threadIdx.x; i < 48 * 48; i += 32) tile[i] = T(float(i % 7));
  __syncthreads();
  F f;
  load<kRow>(f, tile, ldm);
  float sum = 0;
  for (int i = 0; i < f.num_elements; ++i) sum += float(f.x[i]);
  out[threadIdx.x] = sum;
}
template <class F, bool kRow>
__global__ void global_store(typename Info<F>::type* p, int ldm) {
  using T = typename Info<F>::type;
  F f;
  fill_fragment(f, T(1.0f));
  store_matrix_sync(p, f, ldm, kRow ? mem_row_major : mem_col_major);
}
template <class F, bool kRow>
__global__ void shared_store(int ldm, float* out) {
  using T = typename Info<F>::type;
  __shared__ __align__(128) T tile[48 * 48];
  F f;
  fill_fragment(f, T(1.0f));
  store_matrix_sync(tile, f, ldm, kRow ? mem_row_major : mem_col_major);
  __syncthreads();
  out[threadIdx.x] = float(tile[threadIdx.x % 8]);
}

void* memory;
float* out;

template <class F, bool kRow>
void operand() {
  using T = typename Info<F>::type;
  const int unit = 16 / int(sizeof(T)), length = kRow ? Info<F>::cols : Info<F>::rows;
  const int least = (length + unit - 1) / unit * unit;
  for (int ldm : {least, least + unit}) global_load<F, kRow><<<1, 32>>>((const T*)memory, ldm, out);
  for (int ldm : {least, least + unit}) shared_load<F, kRow><<<1, 32>>>(ldm, out);
  if constexpr (Info<F>::sum) {
    for (int ldm : {least, least + unit}) global_store<F, kRow><<<1, 32>>>((T*)memory, ldm);
    for (int ldm : {least, least + unit}) shared_store<F, kRow><<<1, 32>>>(ldm, out);
  }
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernels");
}

template <class T, int M, int N, int K>
void operands() {
  operand<fragment<matrix_a, M, N, K, T, row_major>, true>();
  operand<fragment<matrix_a, M, N, K, T, col_major>, false>();
  operand<fragment<matrix_b, M, N, K, T, row_major>, true>();
  operand<fragment<matrix_b, M, N, K, T, col_major>, false>();
}
template <class T, int M, int N, int K>
void sums() {
  operand<fragment<accumulator, M, N, K, T>, true>();
  operand<fragment<accumulator, M, N, K, T>, false>();
}

int main() {
  cudaMalloc(&memory, 48 * 48 * 8);
  cudaMemset(memory, 0, 48 * 48 * 8);
  cudaMalloc(&out, 32 * sizeof(float));
  operands<half, 16, 16, 16>();
  operands<half, 32, 8, 16>();
  operands<half, 8, 32, 16>();
  operands<signed char, 16, 16, 16>();
  operands<signed char, 32, 8, 16>();
  operands<signed char, 8, 32, 16>();
  operands<precision::tf32, 16, 16, 8>();
  operands<double, 8, 8, 4>();
  sums<half, 16, 16, 16>();
  sums<half, 32, 8, 16>();
  sums<half, 8, 32, 16>();
  sums<float, 16, 16, 16>();
  sums<float, 32, 8, 16>();
  sums<float, 8, 32, 16>();
  sums<double, 8, 8, 4>();
  std::puts("ok");
}
