// Every shuffle with every width and distance, for every type that CUDA has it for, against the definition of shfl.sync.
#include <vector>

#include "check.hpp"

constexpr int kLanes = 32, kKinds = 4;
constexpr unsigned kAll = 0xffffffff;

template <class T>
__host__ __device__ T number(int lane) {
  return static_cast<T>(lane * 3 + 1);
}

// out[kind][distance][lane]; distances from 0 to 35: those past a warp count modulo 32
template <class T>
__global__ void shuffles(T* out, int width, int distances) {
  int l = threadIdx.x;
  T v = number<T>(l);
  for (int d = 0; d < distances; ++d) {
    T* to = out + d * kLanes + l;
    to[0 * distances * kLanes] = static_cast<T>(__shfl_sync(kAll, v, d, width));
    to[1 * distances * kLanes] = static_cast<T>(__shfl_up_sync(kAll, v, d, width));
    to[2 * distances * kLanes] = static_cast<T>(__shfl_down_sync(kAll, v, d, width));
    to[3 * distances * kLanes] = static_cast<T>(__shfl_xor_sync(kAll, v, d, width));
  }
}

// The lane that is read.
int source(int kind, int lane, int distance, int width) {
  int first = lane / width * width, from = lane, b = distance % 32;
  if (kind == 0) return first + distance % width;
  if (kind == 1) return lane - b >= first ? lane - b : lane;
  from = kind == 2 ? lane + b : lane ^ b;
  return from < first + width ? from : lane;
}

template <class T>
void check(const char* type) {
  constexpr int kDistances = 36, kCount = kKinds * kDistances * kLanes;
  T* out;
  std::vector<T> host(kCount);
  cudaMalloc(&out, kCount * sizeof(T));
  for (int width = 1; width <= 32; width *= 2) {
    shuffles<T><<<1, kLanes>>>(out, width, kDistances);
    expect_error(cudaMemcpy(host.data(), out, kCount * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess, type);
    int i = 0;
    for (int kind = 0; kind < kKinds; ++kind)
      for (int d = 0; d < kDistances; ++d)
        for (int l = 0; l < kLanes; ++l) expect(host[i++] == number<T>(source(kind, l, d, width)), type);
  }
  cudaFree(out);
}

int main() {
  check<int>("int");
  check<unsigned>("unsigned");
  check<long>("long");
  check<unsigned long>("unsigned long");
  check<long long>("long long");
  check<unsigned long long>("unsigned long long");
  check<float>("float");
  check<double>("double");
  check<short>("short, as int");
  check<unsigned char>("unsigned char, as int");
  std::puts("ok");
}
