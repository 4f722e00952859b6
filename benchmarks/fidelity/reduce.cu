// Sums in many styles, dot products and histograms.
#include "harness.cuh"

constexpr int kThreads = 256;

// Each block leaves its sum in out[blockIdx.x].
__global__ void reduce_divergent(const float* in, float* out, int n) {
  __shared__ float s[kThreads];
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int step = 1; step < kThreads; step *= 2) {
    if (t % (2 * step) == 0) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_conflicts(const float* in, float* out, int n) {
  __shared__ float s[kThreads];
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int step = 1; step < kThreads; step *= 2) {
    int at = 2 * step * t;
    if (at < kThreads) s[at] += s[at + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_sequential(const float* in, float* out, int n) {
  __shared__ float s[kThreads];
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_first_add(const float* in, float* out, int n) {
  __shared__ float s[kThreads];
  int t = threadIdx.x, i = blockIdx.x * kThreads * 2 + t;
  s[t] = (i < n ? in[i] : 0.0f) + (i + kThreads < n ? in[i + kThreads] : 0.0f);
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_grid_stride(const float* in, float* out, int n) {
  __shared__ float s[kThreads];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * kThreads + t; i < n; i += gridDim.x * kThreads) sum += in[i];
  s[t] = sum;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__device__ float warp_sum(float x) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_down_sync(0xFFFFFFFFu, x, offset);
  return x;
}

__global__ void reduce_shuffle(const float* in, float* out, int n) {
  __shared__ float s[kThreads / 32];
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  float sum = warp_sum(i < n ? in[i] : 0.0f);
  if (t % 32 == 0) s[t / 32] = sum;
  __syncthreads();
  if (t < 32) {
    sum = warp_sum(t < kThreads / 32 ? s[t] : 0.0f);
    if (t == 0) out[blockIdx.x] = sum;
  }
}

// One sum in *out, by atomics.
__global__ void reduce_atomic_thread(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, in[i]);
}

__global__ void reduce_atomic_warp(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = warp_sum(i < n ? in[i] : 0.0f);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

__global__ void reduce_atomic_block(const float* in, float* out, int n) {
  __shared__ float total;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  float sum = warp_sum(i < n ? in[i] : 0.0f);
  if (threadIdx.x % 32 == 0) atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, total);
}

__global__ void count_positive(const float* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0.5f) atomicAdd(out, 1);
}

__global__ void dot(const float* x, const float* y, float* out, int n) {
  __shared__ float s[kThreads / 32];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * kThreads + t; i < n; i += gridDim.x * kThreads) sum += x[i] * y[i];
  sum = warp_sum(sum);
  if (t % 32 == 0) s[t / 32] = sum;
  __syncthreads();
  if (t < 32) {
    sum = warp_sum(t < kThreads / 32 ? s[t] : 0.0f);
    if (t == 0) out[blockIdx.x] = sum;
  }
}

__global__ void histogram_global(const int* in, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i]], 1);
}

__global__ void histogram_shared(const int* in, int* bins, int n) {
  __shared__ int s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[in[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

// The old value is used: a place in a list for each element that passes.
__global__ void append(const float* in, float* list, int* length, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0.75f) list[atomicAdd(length, 1)] = in[i];
}

__global__ void ranks_of_bins(const int* in, int* next, int* rank, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) rank[i] = atomicAdd(&next[in[i]], 1);
}

__global__ void maximum_bins(const int* in, const int* value, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(&bins[in[i]], value[i]);
}

int main(int argc, char** argv) {
  Program program(argc, argv, [](const float* in, float* out, int n) { init_flush<<<1056, 256>>>(in, out, n); });
  const int kOdd = 50001, kLarge = 1 << 24;
  std::vector<float> host = random_floats(kLarge, 4);
  float* in = to_device(host);
  float* out = device_array<float>(1 << 17);
  auto clear = [&] { must(cudaMemset(out, 0, sizeof(float) * (1 << 17)), "cudaMemset"); };
  double small_sum = 0, large_sum = 0;
  for (int i = 0; i < kLarge; ++i) {
    if (i < kOdd) small_sum += host[i];
    large_sum += host[i];
  }
  auto check = [&](const char* what, double wanted, int parts) {
    double sum = 0;
    for (float x : to_host(out, parts)) sum += x;
    expect(near(sum, wanted, 1e-3), what);
  };
  int blocks = blocks_for(kOdd, kThreads), many = blocks_for(kLarge / 4, kThreads);
  auto both = [&](const char* name, auto kernel_launch) {
    program.launch(
        name, Kind::count, [&] { kernel_launch(blocks, kOdd); }, clear);
    check(name, small_sum, blocks);
    program.launch(
        name, Kind::time, [&] { kernel_launch(many, kLarge / 4); }, clear);
  };
  both("reduce_divergent", [&](int b, int n) { reduce_divergent<<<b, kThreads>>>(in, out, n); });
  both("reduce_conflicts", [&](int b, int n) { reduce_conflicts<<<b, kThreads>>>(in, out, n); });
  both("reduce_sequential", [&](int b, int n) { reduce_sequential<<<b, kThreads>>>(in, out, n); });
  both("reduce_shuffle", [&](int b, int n) { reduce_shuffle<<<b, kThreads>>>(in, out, n); });
  program.launch(
      "reduce_first_add", Kind::count,
      [&] { reduce_first_add<<<blocks_for(kOdd, 2 * kThreads), kThreads>>>(in, out, kOdd); }, clear);
  check("reduce_first_add", small_sum, blocks);
  program.launch(
      "reduce_first_add", Kind::time,
      [&] { reduce_first_add<<<kLarge / 2 / 2 / kThreads, kThreads>>>(in, out, kLarge / 2); }, clear);
  program.launch(
      "reduce_grid_stride", Kind::count, [&] { reduce_grid_stride<<<40, kThreads>>>(in, out, kOdd); }, clear);
  check("reduce_grid_stride", small_sum, 40);
  program.launch(
      "reduce_grid_stride", Kind::time, [&] { reduce_grid_stride<<<1056, kThreads>>>(in, out, kLarge); }, clear);
  check("reduce_grid_stride, large", large_sum, 1056);

  program.launch(
      "reduce_atomic_thread", Kind::count, [&] { reduce_atomic_thread<<<blocks, kThreads>>>(in, out, kOdd); }, clear);
  check("reduce_atomic_thread", small_sum, 1);
  program.launch(
      "reduce_atomic_thread", Kind::time,
      [&] { reduce_atomic_thread<<<kLarge / 16 / kThreads, kThreads>>>(in, out, kLarge / 16); }, clear);
  program.launch(
      "reduce_atomic_warp", Kind::count, [&] { reduce_atomic_warp<<<blocks, kThreads>>>(in, out, kOdd); }, clear);
  check("reduce_atomic_warp", small_sum, 1);
  program.launch(
      "reduce_atomic_warp", Kind::time,
      [&] { reduce_atomic_warp<<<kLarge / 4 / kThreads, kThreads>>>(in, out, kLarge / 4); }, clear);
  program.launch(
      "reduce_atomic_block", Kind::count, [&] { reduce_atomic_block<<<blocks, kThreads>>>(in, out, kOdd); }, clear);
  check("reduce_atomic_block", small_sum, 1);
  int* counts = reinterpret_cast<int*>(out);
  program.launch(
      "count_positive", Kind::count, [&] { count_positive<<<blocks, kThreads>>>(in, counts, kOdd); }, clear);
  int positive = 0;
  for (int i = 0; i < kOdd; ++i) positive += host[i] > 0.5f;
  expect(value_at(counts, 0) == positive, "count_positive");

  program.launch(
      "dot", Kind::count, [&] { dot<<<40, kThreads>>>(in, in + 128, out, kOdd); }, clear);
  double wanted = 0;
  for (int i = 0; i < kOdd; ++i) wanted += double(host[i]) * host[i + 128];
  check("dot", wanted, 40);
  program.launch(
      "dot", Kind::time, [&] { dot<<<1056, kThreads>>>(in, in + kLarge / 2, out, kLarge / 2); }, clear);

  // 256 bins: even, and with half of all elements in bin 7.
  const int kKeys = 1 << 22;
  std::vector<int> even = random_ints(kKeys, 256, 5), skewed = even;
  for (int i = 0; i < kKeys; ++i)
    if (even[(i + 1) % kKeys] % 2 == 0) skewed[i] = 7;
  for (const std::vector<int>& keys : {even, skewed}) {
    int* in_keys = to_device(keys);
    std::vector<int> bins(256);
    for (int i = 0; i < kOdd; ++i) ++bins[keys[i]];
    program.launch(
        "histogram_global", Kind::count, [&] { histogram_global<<<blocks, kThreads>>>(in_keys, counts, kOdd); }, clear);
    expect(to_host(counts, 256) == bins, "histogram_global");
    program.launch(
        "histogram_shared", Kind::count, [&] { histogram_shared<<<64, 256>>>(in_keys, counts, kOdd); }, clear);
    expect(to_host(counts, 256) == bins, "histogram_shared");
    program.launch(
        "histogram_global", Kind::time,
        [&] { histogram_global<<<kKeys / kThreads, kThreads>>>(in_keys, counts, kKeys); }, clear);
    program.launch(
        "histogram_shared", Kind::time, [&] { histogram_shared<<<528, 256>>>(in_keys, counts, kKeys); }, clear);
    program.launch(
        "ranks_of_bins", Kind::count, [&] { ranks_of_bins<<<blocks, kThreads>>>(in_keys, counts, counts + 256, kOdd); },
        clear);
    expect(to_host(counts, 256) == bins, "ranks_of_bins");
    program.launch(
        "maximum_bins", Kind::count, [&] { maximum_bins<<<blocks, kThreads>>>(in_keys, in_keys + 1000, counts, kOdd); },
        clear);
    must(cudaFree(in_keys), "cudaFree");
  }
  program.launch(
      "append", Kind::count, [&] { append<<<blocks, kThreads>>>(in, out + 1, counts, kOdd); }, clear);
  int passed = 0;
  for (int i = 0; i < kOdd; ++i) passed += host[i] > 0.75f;
  expect(value_at(counts, 0) == passed, "append");
}
