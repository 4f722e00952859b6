// Integer divisions that trap on other processors and do not on a GPU: by zero, and of the lowest number by -1.
#include <climits>

#include "sample.hpp"

template <class T>
__global__ void divide(const T* a, const T* b, T* quotient, T* rest) {
  const unsigned i = threadIdx.x;
  quotient[i] = a[i] / b[i];
  rest[i] = a[i] % b[i];
}

template <class T>
void test(T lowest, T lowest_quotient, T lowest_rest) {
  T* p = nullptr;
  CUDA_CHECK(cudaMallocManaged(reinterpret_cast<void**>(&p), 16 * sizeof(T)));
  const T a[] = {T(7), lowest, T(100), T(0)}, b[] = {T(0), T(-1), T(7), T(0)};
  for (int i = 0; i < 4; ++i) p[i] = a[i], p[4 + i] = b[i];
  divide<T><<<1, 4>>>(p, p + 4, p + 8, p + 12);
  CUDA_CHECK(cudaDeviceSynchronize());
  // What 7 / 0 gives is not specified: that it gives something is.
  expect(p[9] == lowest_quotient, "lowest / -1");
  expect(p[13] == lowest_rest, "lowest % -1");
  expect(p[10] == T(14), "100 / 7");
  expect(p[14] == T(2), "100 % 7");
  CUDA_CHECK(cudaFree(p));
}

int main() {
  test<int>(INT_MIN, INT_MIN, 0);
  test<long long>(LLONG_MIN, LLONG_MIN, 0);
  test<unsigned>(5, 0, 5);
  test<unsigned long long>(5, 0, 5);
  test<unsigned short>(5, 0, 5);
  test<unsigned char>(5, 0, 5);
  std::puts("ok");
}
