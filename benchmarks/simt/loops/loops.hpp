// The kernels of kernels.cuh as loops of the host, for OpenMP: a loop over blocks, and in it one over a block's threads
// between two barriers. Shapes are theirs.
#pragma once

namespace loops {
void axpy(int n, float a, const float* x, float* y);
void triad(int n, float a, const float* x, const float* y, float* z);
void softsign(int n, const float* x, float* y);
void stencil(int h, int w, const float* in, float* out);
void gemm(int n, const float* a, const float* b, float* c);
void transpose(int h, int w, const float* in, float* out);
void block_sums(int blocks, const float* in, float* out);
void forces(int n, const float* points, float* out);
}  // namespace loops
