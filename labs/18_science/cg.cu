// Lab 18, task `cg`: conjugate gradients without the host.
//
// A solver whose host decides when to stop waits for the device in each iteration. Here the device decides.
// Run: ./ridge check 18 --task cg
#include "science.hpp"

// TASK(cg)
namespace {

// x, b: (rows).
__global__ void begin_kernel(Csr a, const float* b, float* x, int* iterations, double* rho) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < a.rows) x[i] = b[i];
  if (i == 0) *iterations = 0, rho[0] = 0;
}

}  // namespace

void cg(const Csr& a, const float* b, float* x, int* iterations, double* rho, float, int, void*, std::size_t,
        cudaStream_t stream) {
  // TODO: x = b solves no system but that of the identity. One cooperative kernel can do the whole iteration, with
  // grid.sync() where all blocks need a sum; so can a graph of an iteration's kernels, launched `most` times.
  begin_kernel<<<(a.rows + 255) / 256, 256, 0, stream>>>(a, b, x, iterations, rho);
}
// END(cg)
