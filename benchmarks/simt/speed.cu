// How fast the emulator is: nanoseconds per thread-barrier, per thread of an axpy, seconds for a tiled SGEMM of 512^3.
// Prints one line of JSON. Processor time (set RIDGE_WORKERS=1), best of three, since other processes only add.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    cudaError_t error = (call);                                                                  \
    if (error != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(error)), 1; \
  } while (0)

__global__ void barriers(int* out, int rounds) {
  int x = threadIdx.x;
  for (int i = 0; i < rounds; ++i) {
    __syncthreads();
    x += i;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// y[n] += a * x[n], one element a thread
__global__ void axpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// c[n][n] = a[n][n] * b[n][n], row major, n a multiple of 16
constexpr int kTile = 16;
__global__ void sgemm(int n, const float* a, const float* b, float* c) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

template <class F>
double best_seconds(F run) {
  double best = 1e30;
  for (int i = 0; i < 3; ++i) {
    std::clock_t start = std::clock();
    run();
    cudaDeviceSynchronize();
    double s = double(std::clock() - start) / CLOCKS_PER_SEC;
    if (s < best) best = s;
  }
  return best;
}

int main() {
  const int threads = 256, blocks = 16, rounds = 1000;
  const int n = 1 << 22, m = 512;
  int* out;
  float *x, *y, *a, *b, *c;
  CHECK(cudaMalloc(&out, blocks * threads * sizeof(int)));
  CHECK(cudaMalloc(&x, n * sizeof(float)));
  CHECK(cudaMalloc(&y, n * sizeof(float)));
  CHECK(cudaMalloc(&a, m * m * sizeof(float)));
  CHECK(cudaMalloc(&b, m * m * sizeof(float)));
  CHECK(cudaMalloc(&c, m * m * sizeof(float)));
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = float(std::rand()) / float(RAND_MAX);
  CHECK(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(y, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(a, host.data(), m * m * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, host.data() + m * m, m * m * sizeof(float), cudaMemcpyHostToDevice));

  double barrier = best_seconds([&] { barriers<<<blocks, threads>>>(out, rounds); });
  double element = best_seconds([&] { axpy<<<n / threads, threads>>>(n, 0.5f, x, y); });
  double gemm = best_seconds([&] { sgemm<<<dim3(m / kTile, m / kTile), dim3(kTile, kTile)>>>(m, a, b, c); });
  CHECK(cudaDeviceSynchronize());
  std::printf("{\"ns_per_thread_barrier\": %.2f, \"axpy_ns_per_thread\": %.2f, \"sgemm_512_seconds\": %.3f}\n",
              barrier * 1e9 / blocks / threads / rounds, element * 1e9 / n, gemm);
  for (void* p : {(void*)out, (void*)x, (void*)y, (void*)a, (void*)b, (void*)c}) CHECK(cudaFree(p));
  return 0;
}
