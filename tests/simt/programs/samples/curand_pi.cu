// Monte Carlo for pi: a generator state for each thread, kept in memory between launches.
#include <curand_kernel.h>

#include "../sample.hpp"

__global__ void seed_states(curandState* states, unsigned long long seed) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(seed, id, 0, &states[id]);
}

__global__ void throw_darts(curandState* states, int darts, unsigned long long* hits) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  curandState local = states[id];
  unsigned inside = 0;
  for (int i = 0; i < darts; ++i) {
    const float x = curand_uniform(&local), y = curand_uniform(&local);
    inside += x * x + y * y <= 1.0f;
  }
  states[id] = local;
  for (int d = 16; d > 0; d /= 2) inside += __shfl_down_sync(0xffffffffu, inside, d);
  if (threadIdx.x % 32 == 0) atomicAdd(hits, static_cast<unsigned long long>(inside));
}

int main() {
  const int blocks = 4, threads = 128, darts = 40, rounds = 2;
  curandState* states = device_array<curandState>(blocks * threads);
  auto* hits = to_device(std::vector<unsigned long long>{0});
  seed_states<<<blocks, threads>>>(states, 1234ull);
  for (int r = 0; r < rounds; ++r) throw_darts<<<blocks, threads>>>(states, darts, hits);
  CUDA_CHECK(cudaGetLastError());
  const double total = double(blocks) * threads * darts * rounds, pi = 4 * double(to_host(hits, 1)[0]) / total;
  expect(std::fabs(pi - 3.14159265) < 5 * 1.64 / std::sqrt(total), "pi");
  CUDA_CHECK(cudaFree(states));
  CUDA_CHECK(cudaFree(hits));
  std::puts("ok");
}
