// saxpy in pieces over streams with pinned memory, events between streams, and kernels that depend on each other.
#include "sample.hpp"

__global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

__global__ void fill(int* p, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = value + i;
}

__global__ void combine(const int* a, const int* b, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3 * a[i] - b[n - 1 - i];
}

void pipeline(Random& random) {
  constexpr int kStreams = 3;
  const int n = 10007, piece = 1500;
  float *x, *y, *d_x, *d_y;
  CUDA_CHECK(cudaMallocHost(&x, n * sizeof(float)));
  CUDA_CHECK(cudaMallocHost(&y, n * sizeof(float)));
  std::vector<double> wanted(n);
  for (int i = 0; i < n; ++i) {
    x[i] = random.uniform(-1, 1);
    y[i] = random.uniform(-1, 1);
    wanted[i] = 1.5 * x[i] + y[i];
  }
  CUDA_CHECK(cudaMalloc(&d_x, n * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_y, n * sizeof(float)));
  cudaStream_t streams[kStreams];
  for (auto& s : streams) CUDA_CHECK(cudaStreamCreate(&s));
  cudaEvent_t start, stop;
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreate(&stop));
  CUDA_CHECK(cudaEventRecord(start));
  for (int at = 0, turn = 0; at < n; at += piece, ++turn) {
    cudaStream_t s = streams[turn % kStreams];
    const int count = n - at < piece ? n - at : piece;
    const size_t bytes = count * sizeof(float);
    CUDA_CHECK(cudaMemcpyAsync(d_x + at, x + at, bytes, cudaMemcpyHostToDevice, s));
    CUDA_CHECK(cudaMemcpyAsync(d_y + at, y + at, bytes, cudaMemcpyHostToDevice, s));
    saxpy<<<4, 128, 0, s>>>(count, 1.5f, d_x + at, d_y + at);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpyAsync(y + at, d_y + at, bytes, cudaMemcpyDeviceToHost, s));
  }
  for (auto& s : streams) CUDA_CHECK(cudaStreamSynchronize(s));
  CUDA_CHECK(cudaEventRecord(stop));
  CUDA_CHECK(cudaEventSynchronize(stop));
  float milliseconds = -1;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  expect(milliseconds >= 0, "elapsed time");
  expect_close(std::vector<float>(y, y + n), wanted, 1e-6, "saxpy in streams");
  CUDA_CHECK(cudaEventDestroy(start));
  CUDA_CHECK(cudaEventDestroy(stop));
  for (auto& s : streams) CUDA_CHECK(cudaStreamDestroy(s));
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_y));
  CUDA_CHECK(cudaFreeHost(x));
  CUDA_CHECK(cudaFreeHost(y));
}

// first -> left, right -> combined: a diamond. Streams that do not wait for the default stream.
void diamond() {
  const int n = 3001, threads = 96, blocks = blocks_for(n, threads);
  cudaStream_t left, right;
  CUDA_CHECK(cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking));
  CUDA_CHECK(cudaStreamCreateWithFlags(&right, cudaStreamNonBlocking));
  cudaEvent_t allocated, right_done;
  CUDA_CHECK(cudaEventCreateWithFlags(&allocated, cudaEventDisableTiming));
  CUDA_CHECK(cudaEventCreateWithFlags(&right_done, cudaEventDisableTiming));
  int *a, *b, *out;
  CUDA_CHECK(cudaMallocAsync(&a, n * sizeof(int), left));
  CUDA_CHECK(cudaMallocAsync(&b, n * sizeof(int), left));
  CUDA_CHECK(cudaMallocAsync(&out, n * sizeof(int), left));
  CUDA_CHECK(cudaEventRecord(allocated, left));
  CUDA_CHECK(cudaStreamWaitEvent(right, allocated, 0));
  fill<<<blocks, threads, 0, left>>>(a, n, 10);
  fill<<<blocks, threads, 0, right>>>(b, n, 500);
  CUDA_CHECK(cudaEventRecord(right_done, right));
  CUDA_CHECK(cudaStreamWaitEvent(left, right_done, 0));
  combine<<<blocks, threads, 0, left>>>(a, b, out, n);
  CUDA_CHECK(cudaGetLastError());
  std::vector<int> got(n), wanted(n);
  CUDA_CHECK(cudaMemcpyAsync(got.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost, left));
  CUDA_CHECK(cudaFreeAsync(a, left));
  CUDA_CHECK(cudaFreeAsync(b, left));
  CUDA_CHECK(cudaFreeAsync(out, left));
  CUDA_CHECK(cudaStreamSynchronize(left));
  CUDA_CHECK(cudaStreamSynchronize(right));
  expect(cudaEventQuery(right_done) == cudaSuccess && cudaStreamQuery(left) == cudaSuccess, "all is done");
  for (int i = 0; i < n; ++i) wanted[i] = 3 * (10 + i) - (500 + n - 1 - i);
  expect_equal(got, wanted, "two streams joined by an event");
  CUDA_CHECK(cudaEventDestroy(allocated));
  CUDA_CHECK(cudaEventDestroy(right_done));
  CUDA_CHECK(cudaStreamDestroy(left));
  CUDA_CHECK(cudaStreamDestroy(right));
}

int main() {
  Random random(12);
  pipeline(random);
  diamond();
  std::puts("ok");
}
