// Reductions: an unrolled template over the operation, dot product, maximum with its index, and the last block finishing
// the sum of all (__threadfence and a ticket).
#include "sample.hpp"

struct Sum {
  static constexpr float identity = 0.0f;
  __host__ __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  static constexpr float identity = -3.4e38f;
  __host__ __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

template <class Op>
__device__ float warp_reduce(float v, Op op) {
  for (int d = 16; d > 0; d /= 2) v = op(v, __shfl_down_sync(0xFFFFFFFFu, v, d));
  return v;
}

// The result is thread 0's.
template <int Threads, class Op>
__device__ float block_reduce(float v, Op op) {
  static_assert(Threads % 32 == 0 && Threads <= 1024, "whole warps");
  __shared__ float partial[Threads / 32];
  v = warp_reduce(v, op);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < Threads / 32 ? partial[threadIdx.x] : Op::identity;
    v = warp_reduce(v, op);
  }
  __syncthreads();  // partial may be used again
  return v;
}

template <int Threads, class Op>
__global__ void reduce(const float* in, int n, float* out) {
  Op op;
  float v = Op::identity;
  for (int i = blockIdx.x * Threads + threadIdx.x; i < n; i += gridDim.x * Threads) v = op(v, in[i]);
  v = block_reduce<Threads>(v, op);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}

__device__ unsigned tickets = 0;

template <int Threads>
__global__ void dot(const float* a, const float* b, int n, volatile float* partial, float* out) {
  __shared__ bool last;
  float v = 0;
  for (int i = blockIdx.x * Threads + threadIdx.x; i < n; i += gridDim.x * Threads) v += a[i] * b[i];
  v = block_reduce<Threads>(v, Sum());
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = v;
    __threadfence();  // the partial sum is seen before the ticket
    last = atomicAdd(&tickets, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  v = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += Threads) v += partial[i];
  v = block_reduce<Threads>(v, Sum());
  if (threadIdx.x == 0) {
    *out = v;
    tickets = 0;  // for the next launch
  }
}

struct Best {
  float value;
  int index;
};

__device__ Best better(Best a, Best b) {
  // Of equal values the first counts, so that the result does not depend on the order.
  return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}

__global__ void arg_max(const float* in, int n, Best* out) {
  extern __shared__ Best best[];
  Best mine{-3.4e38f, n};
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine = better(mine, Best{in[i], i});
  best[threadIdx.x] = mine;
  __syncthreads();
  // For any number of threads, not only for powers of two.
  for (unsigned count = blockDim.x; count > 1; count = (count + 1) / 2) {
    unsigned half = (count + 1) / 2;
    if (threadIdx.x < count / 2) best[threadIdx.x] = better(best[threadIdx.x], best[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = best[0];
}

int main() {
  const int n = 30011, blocks = 7;
  Random random(8);
  std::vector<float> a = random.floats(n), b = random.floats(n);
  double sum = 0, product = 0;
  int best = 0;
  a[20000] = a[123] = 2.0f;
  for (int i = 0; i < n; ++i) {
    sum += a[i];
    product += static_cast<double>(a[i]) * b[i];
    if (a[i] > a[best]) best = i;
  }
  float *d_a = to_device(a), *d_b = to_device(b), *d_partial = device_array<float>(blocks),
        *d_out = device_array<float>(1);
  auto one = [&] {
    CUDA_CHECK(cudaGetLastError());
    return to_host(d_out, 1);
  };
  reduce<256, Sum><<<blocks, 256>>>(d_a, n, d_partial);
  reduce<32, Sum><<<1, 32>>>(d_partial, blocks, d_out);
  expect_close(one(), std::vector<double>{sum}, 2e-3, "sum");
  reduce<128, Max><<<blocks, 128>>>(d_a, n, d_partial);
  reduce<64, Max><<<1, 64>>>(d_partial, blocks, d_out);
  expect_close(one(), std::vector<double>{2.0}, 0, "maximum");
  for (int repeat = 0; repeat < 2; ++repeat) {
    dot<96><<<blocks, 96>>>(d_a, d_b, n, d_partial, d_out);
    expect_close(one(), std::vector<double>{product}, 2e-3, "dot product");
  }
  Best* d_best = device_array<Best>(1);
  arg_max<<<1, 200, 200 * sizeof(Best)>>>(d_a, n, d_best);
  CUDA_CHECK(cudaGetLastError());
  Best got = to_host(d_best, 1)[0];
  expect(got.index == best && got.value == 2.0f, "index of the first maximum");
  CUDA_CHECK(cudaFree(d_a));
  CUDA_CHECK(cudaFree(d_b));
  CUDA_CHECK(cudaFree(d_partial));
  CUDA_CHECK(cudaFree(d_out));
  CUDA_CHECK(cudaFree(d_best));
  std::puts("ok");
}
