// Bandwidths: device memory (copy, read, write), L2, shared memory.
#include <algorithm>

#include "measure.cuh"

namespace {

constexpr int kThreads = 256;

// in, out: n float4. One vector a thread: the block scheduler balances better than a loop.
__global__ void copy_kernel(const float4* in, float4* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void write_kernel(float4* out, std::size_t n, float value) {
  const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) out[i] = make_float4(value, value + 1, value + 2, value + 3);
}

// Every block sums kPart vectors. `out` is written only where the sum is one that does not occur.
constexpr int kPart = 8;
__global__ void read_kernel(const float4* in, float* out, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * kThreads * kPart + threadIdx.x;
  float4 v[kPart];
#pragma unroll
  for (int k = 0; k < kPart; ++k) {
    const std::size_t i = first + std::size_t{static_cast<unsigned>(k)} * kThreads;
    v[k] = i < n ? __ldcs(in + i) : make_float4(0, 0, 0, 0);
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kPart; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  if (sum == 1.2345e30f) *out = sum;
}

// The whole grid reads n vectors `rounds` times past the L1; the data fit into the L2.
__global__ void l2_kernel(const float4* in, float* out, std::size_t n, int rounds) {
  float sum = 0;
  for (int r = 0; r < rounds; ++r)
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
         i += std::size_t{gridDim.x} * blockDim.x * 4) {
      float4 v[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::size_t at = i + std::size_t{static_cast<unsigned>(k)} * gridDim.x * blockDim.x;
        v[k] = at < n ? __ldcg(in + at) : make_float4(0, 0, 0, 0);
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
    }
  if (sum == 1.2345e30f) *out = sum;
}

// Every thread reads 16 bytes a step, a warp 512 neighbouring ones: no conflicts.
constexpr int kSharedVectors = 2048;  // 32 KiB
__global__ void shared_kernel(float* out, int rounds) {
  __shared__ float4 data[kSharedVectors];
  for (int i = threadIdx.x; i < kSharedVectors; i += blockDim.x) data[i] = make_float4(i, 1, 2, 3);
  __syncthreads();
  float4 sum = make_float4(0, 0, 0, 0);
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      // volatile keeps the load in the loop
      float4 v;
      const unsigned at =
          static_cast<unsigned>(__cvta_generic_to_shared(data + (threadIdx.x + k * 256u + r * 32u) % kSharedVectors));
      asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(at));
      sum.x += v.x;
      sum.y += v.y;
      sum.z += v.z;
      sum.w += v.w;
    }
  }
  if (sum.x + sum.y + sum.z + sum.w == 1.2345e30f) *out = sum.x;
}

unsigned grid_for(std::size_t n, int per_block) {
  return static_cast<unsigned>((n + static_cast<std::size_t>(per_block) - 1) / static_cast<std::size_t>(per_block));
}

}  // namespace

void measure_memory(const Gpu& gpu) {
  std::size_t bytes = std::min<std::size_t>(std::size_t{4} << 30, gpu.memory / 4) / 4096 * 4096;
  const std::size_t n = bytes / sizeof(float4);
  const auto size = static_cast<double>(bytes);
  Memory a(bytes), b(bytes);
  write_kernel<<<grid_for(n, kThreads), kThreads>>>(a.as<float4>(), n, 1.5f);

  // The better of the runtime's copy and a kernel's: a roof is what the best program reaches.
  std::vector<double> engine =
      seconds_of([&] { MUST(cudaMemcpyAsync(b.as<void>(), a.as<void>(), bytes, cudaMemcpyDeviceToDevice)); });
  std::vector<double> kernel =
      seconds_of([&] { copy_kernel<<<grid_for(n, kThreads), kThreads>>>(a.as<float4>(), b.as<float4>(), n); });
  std::vector<double> sorted_engine = engine, sorted_kernel = kernel;
  std::sort(sorted_engine.begin(), sorted_engine.end());
  std::sort(sorted_kernel.begin(), sorted_kernel.end());
  print_rate({"memcpy", "bandwidth", "cudaMemcpy, device to device", "B/s",
              "bytes read and written, 4 GiB or a quarter of the memory"},
             2 * size, engine);
  const bool best_engine = sorted_engine[kRepetitions / 2] < sorted_kernel[kRepetitions / 2];
  print_rate(
      {"copy", "bandwidth", "device copy", "B/s",
       best_engine ? "cudaMemcpy, bytes read and written" : "kernel with 16 bytes a thread, bytes read and written"},
      2 * size, best_engine ? engine : kernel);
  print_rate(
      {"read", "bandwidth", "device read", "B/s", "kernel, 8 x 16 bytes in flight a thread"}, size,
      seconds_of([&] { read_kernel<<<grid_for(n, kThreads * kPart), kThreads>>>(a.as<float4>(), b.as<float>(), n); }));
  print_rate({"write", "bandwidth", "device write", "B/s", "kernel with 16 bytes a thread"}, size,
             seconds_of([&] { write_kernel<<<grid_for(n, kThreads), kThreads>>>(b.as<float4>(), n, 2.5f); }));

  const std::size_t l2_bytes = gpu.l2 / 4 / 4096 * 4096;
  if (l2_bytes > 0) {
    const int rounds = 200;
    print_rate({"l2", "bandwidth", "L2 read", "B/s", "a quarter of the L2, read 200 times past the L1"},
               static_cast<double>(l2_bytes) * rounds, seconds_of([&] {
                 l2_kernel<<<static_cast<unsigned>(gpu.sms * 4), 512>>>(a.as<float4>(), b.as<float>(),
                                                                        l2_bytes / sizeof(float4), rounds);
               }));
  }
  const int rounds = 2000, blocks = gpu.sms * 4;
  print_rate({"shared", "bandwidth", "shared memory read", "B/s", "16 bytes a lane without conflicts, all SMs"},
             static_cast<double>(blocks) * 512 * 8 * 16 * rounds,
             seconds_of([&] { shared_kernel<<<static_cast<unsigned>(blocks), 512>>>(b.as<float>(), rounds); }));
}
