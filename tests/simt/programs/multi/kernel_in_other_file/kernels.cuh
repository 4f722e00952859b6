#pragma once

// y = a * x + y
__global__ void axpy(int n, float a, const float* x, float* y);

// One sum a block, with blockDim.x floats of dynamic shared memory.
__global__ void block_sums(const float* in, int n, float* out);
