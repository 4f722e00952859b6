// Lab 07, task `compressed_host`: send the k largest elements only, which the host chooses, and keep the rest.
//
// The host copies the values, sorts their indices, and sends the chosen ones to the device. The lesson has the function
// that chooses. Run: ./ridge check 07 --task compressed_host
#include "ddp.hpp"

// TASK(compressed_host)
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace {

constexpr int kThreads = 256;

// The indices of the k largest |a|; where magnitudes are equal, the lower index comes first.
std::vector<unsigned> top_k(const std::vector<float>& a, std::size_t k) {
  std::vector<unsigned> order(a.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](unsigned i, unsigned j) {
    return std::fabs(a[i]) != std::fabs(a[j]) ? std::fabs(a[i]) > std::fabs(a[j]) : i < j;
  });
  order.resize(k);
  return order;
}

// residual: (n) += gradient: (n). One thread an element.
__global__ void accumulate_kernel(float* residual, const float* gradient, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) residual[i] += gradient[i];
}

// The elements at indices: (k), which are distinct, go to values: (k), and leave the residual.
__global__ void take_kernel(float* a, const unsigned* indices, unsigned k, float* values) {
  const unsigned j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= k) return;
  values[j] = a[indices[j]];
  a[indices[j]] = 0;
}

// mean: (n) += scale * values at indices, which are distinct.
__global__ void scatter_kernel(const float* values, const unsigned* indices, unsigned k, float scale, float* mean) {
  const unsigned j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < k) mean[indices[j]] += scale * values[j];
}

unsigned blocks(std::size_t items) { return static_cast<unsigned>((items + kThreads - 1) / kThreads); }

}  // namespace

void compressed_host(const float* gradient, float* residual, float* mean, std::size_t n, std::size_t k, void* workspace,
                     std::size_t, ncclComm_t comm, cudaStream_t stream) {
  int p = 1;
  ncclCommCount(comm, &p);
  const auto size = static_cast<unsigned>(n), count = static_cast<unsigned>(k);
  auto* own = static_cast<float*>(workspace);  // k values, then k indices
  auto* all = own + 2 * k;                     // the same of each rank

  accumulate_kernel<<<blocks(n), kThreads, 0, stream>>>(residual, gradient, size);
  std::vector<float> a(n);
  cudaMemcpyAsync(a.data(), residual, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);  // before, the values are not there
  const std::vector<unsigned> chosen = top_k(a, k);
  auto* indices = reinterpret_cast<unsigned*>(own + k);
  cudaMemcpyAsync(indices, chosen.data(), k * sizeof(unsigned), cudaMemcpyHostToDevice, stream);
  take_kernel<<<blocks(k), kThreads, 0, stream>>>(residual, indices, count, own);
  ncclAllGather(own, all, 2 * k, ncclFloat, comm, stream);
  cudaMemsetAsync(mean, 0, n * sizeof(float), stream);
  // One rank after the other, in the same order everywhere: the same bits, and no two threads meet.
  for (int r = 0; r < p; ++r) {
    const float* values = all + 2 * k * static_cast<std::size_t>(r);
    scatter_kernel<<<blocks(k), kThreads, 0, stream>>>(values, reinterpret_cast<const unsigned*>(values + k), count,
                                                       1.0f / static_cast<float>(p), mean);
  }
}
// END(compressed_host)
