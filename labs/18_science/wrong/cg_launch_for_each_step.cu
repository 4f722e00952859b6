// replaces: cg.cu; fails: cg/launches; backend: cpu
// Six kernels an iteration, as the formulas have them, and each is launched by the host: the device waits for launches.
#include "science.hpp"

namespace {

constexpr int kThreads = 256;

// s: rho, p.q, the new rho, the goal, iterations so far.
struct State {
  double rho, pq, next, goal;
  int k, most, *iterations;
  double* rhos;
};

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
__global__ void first_kernel(State* s, float tolerance, int most, int* iterations, double* rho) {
  s->goal = double{tolerance} * tolerance * s->rho;
  s->k = 0, s->most = most, s->iterations = iterations, *iterations = 0;
  s->rhos = rho, rho[0] = s->rho;
}
__device__ bool ended(const State* s) { return s->rho <= s->goal || s->k >= s->most; }
__global__ void step_kernel(const State* s, float* x, float* r, const float* p, const float* q, int n) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (i >= n || ended(s)) return;
  const auto alpha = static_cast<float>(s->rho / s->pq);
  x[i] += alpha * p[i], r[i] -= alpha * q[i];
}
__global__ void direction_kernel(const State* s, const float* r, float* p, int n) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (i < n && !ended(s)) p[i] = r[i] + static_cast<float>(s->next / s->rho) * p[i];
}
__global__ void count_kernel(State* s) {
  if (ended(s)) return;
  s->rho = s->next, *s->iterations = ++s->k;
  s->rhos[s->k] = s->rho;
}

}  // namespace

void cg(const Csr& a, const float* b, float* x, int* iterations, double* rho, float tolerance, int most,
        void* workspace, std::size_t, cudaStream_t stream) {
  auto* s = static_cast<State*>(workspace);
  auto* r = reinterpret_cast<float*>(static_cast<char*>(workspace) + 4096);
  float *p = r + a.rows, *q = p + a.rows;
  const int blocks = (a.rows + kThreads - 1) / kThreads, n = a.rows;
  begin_kernel<<<blocks, kThreads, 0, stream>>>(b, x, r, p, n);
  dot_kernel<<<1, kThreads, 0, stream>>>(r, r, &s->rho, n);
  first_kernel<<<1, 1, 0, stream>>>(s, tolerance, most, iterations, rho);
  for (int k = 0; k < most; ++k) {
    product_kernel<<<blocks, kThreads, 0, stream>>>(a, p, q);
    dot_kernel<<<1, kThreads, 0, stream>>>(p, q, &s->pq, n);
    step_kernel<<<blocks, kThreads, 0, stream>>>(s, x, r, p, q, n);
    dot_kernel<<<1, kThreads, 0, stream>>>(r, r, &s->next, n);
    direction_kernel<<<blocks, kThreads, 0, stream>>>(s, r, p, n);
    count_kernel<<<1, 1, 0, stream>>>(s);
  }
}
