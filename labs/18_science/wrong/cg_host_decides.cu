// replaces: cg.cu; fails: cg/device; backend: cpu
// The host reads both dot products, computes alpha and beta, and decides when to stop: it waits twice an iteration.
#include "science.hpp"

namespace {

constexpr int kThreads = 256;

__global__ void product_kernel(Csr a, const float* p, float* q) {
  const int row = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (row >= a.rows) return;
  float sum = 0;
  for (int k = a.starts[row]; k < a.starts[row + 1]; ++k) sum += a.values[k] * p[a.columns[k]];
  q[row] = sum;
}

// One block.
__global__ void dot_kernel(const float* a, const float* b, double* result, int n) {
  __shared__ double sums[kThreads];
  double sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kThreads) sum += double{a[i]} * b[i];
  sums[threadIdx.x] = sum;
  for (int step = kThreads / 2; step > 0; step /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < step) sums[threadIdx.x] += sums[threadIdx.x + step];
  }
  if (threadIdx.x == 0) *result = sums[0];
}

__global__ void begin_kernel(const float* b, float* x, float* r, float* p, int n) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (i < n) x[i] = 0, r[i] = b[i], p[i] = b[i];
}
__global__ void step_kernel(float alpha, float* x, float* r, const float* p, const float* q, int n) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (i < n) x[i] += alpha * p[i], r[i] -= alpha * q[i];
}
__global__ void direction_kernel(float beta, const float* r, float* p, int n) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (i < n) p[i] = r[i] + beta * p[i];
}

double read(const double* from, cudaStream_t stream) {
  double v = 0;
  cudaMemcpyAsync(&v, from, sizeof v, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  return v;
}

}  // namespace

void cg(const Csr& a, const float* b, float* x, int* iterations, double* rhos, float tolerance, int most,
        void* workspace, std::size_t, cudaStream_t stream) {
  auto* sum = static_cast<double*>(workspace);
  auto* r = reinterpret_cast<float*>(static_cast<char*>(workspace) + 4096);
  float *p = r + a.rows, *q = p + a.rows;
  const int blocks = (a.rows + kThreads - 1) / kThreads, n = a.rows;
  begin_kernel<<<blocks, kThreads, 0, stream>>>(b, x, r, p, n);
  dot_kernel<<<1, kThreads, 0, stream>>>(r, r, sum, n);
  double rho = read(sum, stream);
  cudaMemcpyAsync(rhos, &rho, sizeof rho, cudaMemcpyHostToDevice, stream);
  const double goal = double{tolerance} * tolerance * rho;
  int k = 0;
  for (; rho > goal && k < most; ++k) {
    product_kernel<<<blocks, kThreads, 0, stream>>>(a, p, q);
    dot_kernel<<<1, kThreads, 0, stream>>>(p, q, sum, n);
    step_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<float>(rho / read(sum, stream)), x, r, p, q, n);
    dot_kernel<<<1, kThreads, 0, stream>>>(r, r, sum, n);
    const double next = read(sum, stream);
    direction_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<float>(next / rho), r, p, n);
    rho = next;
    cudaMemcpyAsync(rhos + k + 1, &rho, sizeof rho, cudaMemcpyHostToDevice, stream);
  }
  cudaMemcpyAsync(iterations, &k, sizeof k, cudaMemcpyHostToDevice, stream);
  cudaStreamSynchronize(stream);
}
