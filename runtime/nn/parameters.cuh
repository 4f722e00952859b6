// The initial weights, as GPT-2's, in the flat buffers of layout.hpp.
#pragma once
#include "nn/check.hpp"
#include "nn/layout.hpp"
#include "nn/numbers.cuh"

namespace nn {

// A mixing function with full avalanche (the finalizer of SplitMix64).
__host__ __device__ inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// master, copy: (n) = mean + std * z, z nearly normal and a function of (key, i) alone: equal on every device, and no
// shard needs the others. z is the sum of eight 16-bit uniform numbers, scaled: exact in integers, where logf and cosf
// of a Box-Muller transform differ between a CPU and a GPU. It never exceeds 4.9.
template <class T>
__global__ void init_kernel(float* master, T* copy, std::size_t n, float mean, float std, std::uint64_t key) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int half = 0; half < 2; ++half) {
    const std::uint64_t bits = mix(key + 2 * i + static_cast<std::uint64_t>(half));
    for (int k = 0; k < 4; ++k) sum += static_cast<int>(bits >> (16 * k) & 0xffff);
  }
  // The sum has the mean 4 * 65535 and the variance 8 / 12 * 65536^2.
  const float z = static_cast<float>(sum - 4 * 65535) * (1.2247449f / 65536);
  const float w = mean + std * z;
  master[i] = w;
  store(copy + i, w);
}

template <class T>
void init_parameters(const ParameterLayout& layout, float* master, T* copy, std::uint64_t seed, cudaStream_t stream) {
  // Zeros for what lies between the tensors: an update of all of the buffer must meet numbers.
  check(cudaMemsetAsync(master, 0, layout.elements * sizeof(float), stream), "clearing the weights");
  check(cudaMemsetAsync(copy, 0, layout.elements * sizeof(T), stream), "clearing the weights");
  std::uint64_t tensor = 0;
  for (const Parameter& p : layout.parameters) {
    const std::uint64_t key = mix(mix(seed) + tensor++);
    init_kernel<<<blocks_for(p.size(), kThreads), kThreads, 0, stream>>>(master + p.offset, copy + p.offset, p.size(),
                                                                         p.mean, p.std, key);
    check_launch("init_kernel");
  }
}

}  // namespace nn
