#include "../../sample.hpp"
#include "physics.cuh"

__constant__ Box box;
__device__ int bounces = 0;
__device__ float energies[64];

__device__ float reflect(float x, float& v) {
  if (x < box.low || x > box.high) {
    x = x < box.low ? 2 * box.low - x : 2 * box.high - x;
    v = -v;
    atomicAdd(&bounces, 1);
  }
  return x;
}

void set_box(float low, float high) {
  Box b{low, high};
  CUDA_CHECK(cudaMemcpyToSymbol(box, &b, sizeof b));
}
