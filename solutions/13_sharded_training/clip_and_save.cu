// Lab 13, task `clip_and_save`: the norm of a sharded gradient, and a state that another number of ranks can load.
//
// Run: ./ridge check 13 --task clip_and_save
#include <algorithm>

#include "sharded.hpp"

// TASK(clip_and_save)
namespace {

constexpr int kThreads = 256;

// g: n floats. Adds the sum of their squares to *sum. A block adds once.
__global__ void squares_kernel(const float* g, std::size_t n, float* sum) {
  __shared__ float part[kThreads];
  float own = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    own += g[i] * g[i];
  part[threadIdx.x] = own;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}

// g: n floats. Every thread takes the same root; the first one writes the norm.
__global__ void clip_kernel(float* g, std::size_t n, const float* sum, float max_norm, float* norm) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const float length = sqrtf(*sum);
  if (i == 0) *norm = length;
  if (i < n && length > max_norm) g[i] *= max_norm / length;
}

}  // namespace

void clip_and_save(float* gradients, const float* weights, const float* m, const float* v, std::size_t n,
                   float max_norm, float* norm, float* file, void* workspace, std::size_t, ncclComm_t comm,
                   cudaStream_t stream) {
  int r = 0, p = 1;
  ncclCommUserRank(comm, &r);
  ncclCommCount(comm, &p);
  const std::size_t count = own_count(n, p, r);
  const auto blocks = static_cast<unsigned>(count / kThreads + 1);
  auto* sum = static_cast<float*>(workspace);
  cudaMemsetAsync(sum, 0, sizeof(float), stream);
  squares_kernel<<<std::min(blocks, 512u), kThreads, 0, stream>>>(gradients, count, sum);
  ncclAllReduce(sum, sum, 1, ncclFloat, ncclSum, comm, stream);
  clip_kernel<<<blocks, kThreads, 0, stream>>>(gradients, count, sum, max_norm, norm);
  for (const float* from : {weights, m, v}) {
    cudaMemcpyAsync(file, from, count * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    file += count;
  }
}

void load_state(const float* const* files, int q, std::size_t n, float* weights, float* m, float* v, ncclComm_t comm,
                cudaStream_t stream) {
  int r = 0, p = 1;
  ncclCommUserRank(comm, &r);
  ncclCommCount(comm, &p);
  const std::size_t part = part_of(n, p), begin = static_cast<std::size_t>(r) * part;
  const std::size_t end = begin + own_count(n, p, r);
  float* to[] = {weights, m, v};
  for (float* array : to) cudaMemsetAsync(array, 0, part * sizeof(float), stream);  // the padding
  for (int s = 0; s < q; ++s) {
    const std::size_t first = static_cast<std::size_t>(s) * part_of(n, q), count = own_count(n, q, s);
    const std::size_t from = std::max(first, begin), until = std::min(first + count, end);
    if (from >= until) continue;
    for (std::size_t k = 0; k < 3; ++k)
      cudaMemcpyAsync(to[k] + (from - begin), files[s] + k * count + (from - first), (until - from) * sizeof(float),
                      cudaMemcpyDeviceToDevice, stream);
  }
}
// END(clip_and_save)
