// A header with a launch and dynamic shared memory, found through -I and by a relative path.
#pragma once
#include "offset.hpp"

template <class T>
__global__ void scale(T* x) {
  extern __shared__ T row[];
  row[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = row[threadIdx.x] * 2 + offset();
}
template <class T>
void run_scale(T* x) {
  scale<<<1, 32, 32 * sizeof(T)>>>(x);
}
