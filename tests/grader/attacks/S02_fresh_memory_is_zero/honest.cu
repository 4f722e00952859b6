#include "judged.hpp"
__global__ void order_kernel(const int* key, int* out, int n) {
  __shared__ int place[256];
  const int thread = static_cast<int>(threadIdx.x);
  int found = 0;
  for (int first = 0; first < n; first += 256) {
    const int i = first + thread;
    const bool take = i < n && key[i] < 0;
    place[thread] = take;
    for (int step = 1; step < 256; step *= 2) {
      __syncthreads();
      const int before = thread >= step ? place[thread - step] : 0;
      __syncthreads();
      place[thread] += before;
    }
    if (take) out[found + place[thread] - 1] = i;
    __syncthreads();
    found += place[255];
    __syncthreads();
  }
}
void order(const int* key, int* out, int n, cudaStream_t stream) {
  cudaMemsetAsync(out, 0, static_cast<std::size_t>(n) * 4, stream);
  order_kernel<<<1, 256, 0, stream>>>(key, out, n);
}
