// __device__ and __constant__ variables, and a device function, of another file (nvcc: -rdc=true).
#include "../../sample.hpp"
#include "physics.cuh"

__global__ void move(float* x, float* v, int n, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float xi = x[i], vi = v[i];
  for (int s = 0; s < steps; ++s) xi = reflect(xi + vi, vi);
  x[i] = xi;
  v[i] = vi;
  if (i < 64) energies[i] = 0.5f * vi * vi;
}

int main() {
  const int n = 203, steps = 20;
  Random random(33);
  std::vector<float> x(n), v(n);
  for (int i = 0; i < n; ++i) {
    // Multiples of 1/64: exact, so a bounce never depends on rounding.
    x[i] = static_cast<float>(random.below(129) - 64) / 64;
    v[i] = static_cast<float>(random.below(33) - 16) / 64;
  }
  float *d_x = to_device(x), *d_v = to_device(v);
  set_box(-1.5f, 1.0f);
  move<<<blocks_for(n, 64), 64>>>(d_x, d_v, n, steps);
  CUDA_CHECK(cudaGetLastError());
  int wanted = 0, got = -1;
  for (int i = 0; i < n; ++i)
    for (int s = 0; s < steps; ++s) {
      x[i] += v[i];
      if (x[i] >= -1.5f && x[i] <= 1.0f) continue;
      x[i] = x[i] < 0 ? -3.0f - x[i] : 2.0f - x[i];
      v[i] = -v[i];
      ++wanted;
    }
  expect_equal(to_host(d_x, n), x, "positions");
  expect_equal(to_host(d_v, n), v, "velocities");
  CUDA_CHECK(cudaMemcpyFromSymbol(&got, bounces, sizeof got));
  expect(got == wanted && wanted > 0, "bounces, counted in the other file");
  float energy[64];
  CUDA_CHECK(cudaMemcpyFromSymbol(energy, energies, sizeof energy));
  for (int i = 0; i < 64; ++i) expect(energy[i] == 0.5f * v[i] * v[i], "energies");
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_v));
  std::puts("ok");
}
