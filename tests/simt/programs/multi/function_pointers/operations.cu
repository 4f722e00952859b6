#include "operations.cuh"
__device__ int square(int x) { return x * x; }
__device__ static int negative(int x) { return -x; }
__device__ Operation operations[2] = {square, negative};
__device__ int Rule::next(int x) const { return x + 1; }
