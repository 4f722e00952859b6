// Shared-memory bank patterns. Each launch has one pattern: an index for every lane, the same in all warps, so that the
// counters of one access can be read off. Widths are 1, 2, 4, 8 and 16 bytes.
#include <functional>

#include "harness.cuh"

constexpr int kThreads = 64, kBlocks = 4;
constexpr int kElements4 = 4096, kElements8 = 2048, kElements16 = 1024;  // 16 KiB each

__global__ void shared_load1(const unsigned char* in, const int* index, unsigned char* out) {
  __shared__ unsigned char s[kElements4];
  for (int i = threadIdx.x; i < kElements4; i += kThreads) s[i] = in[i];
  __syncthreads();
  int t = blockIdx.x * kThreads + threadIdx.x;
  out[t] = s[index[t]];
}

__global__ void shared_load2(const short* in, const int* index, short* out) {
  __shared__ short s[kElements4];
  for (int i = threadIdx.x; i < kElements4; i += kThreads) s[i] = in[i];
  __syncthreads();
  int t = blockIdx.x * kThreads + threadIdx.x;
  out[t] = s[index[t]];
}

__global__ void shared_load4(const float* in, const int* index, float* out) {
  __shared__ float s[kElements4];
  for (int i = threadIdx.x; i < kElements4; i += kThreads) s[i] = in[i];
  __syncthreads();
  int t = blockIdx.x * kThreads + threadIdx.x;
  out[t] = s[index[t]];
}

__global__ void shared_load8(const double* in, const int* index, double* out) {
  __shared__ double s[kElements8];
  for (int i = threadIdx.x; i < kElements8; i += kThreads) s[i] = in[i];
  __syncthreads();
  int t = blockIdx.x * kThreads + threadIdx.x;
  out[t] = s[index[t]];
}

__global__ void shared_load16(const float4* in, const int* index, float4* out) {
  __shared__ float4 s[kElements16];
  for (int i = threadIdx.x; i < kElements16; i += kThreads) s[i] = in[i];
  __syncthreads();
  int t = blockIdx.x * kThreads + threadIdx.x;
  out[t] = s[index[t]];
}

// Stores: the pattern is written, then all of it is read in order.
__global__ void shared_store2(const short* in, const int* index, short* out) {
  __shared__ short s[kElements4];
  int t = blockIdx.x * kThreads + threadIdx.x;
  s[index[t]] = in[t];
  __syncthreads();
  for (int i = threadIdx.x; i < kElements4; i += kThreads) out[blockIdx.x * kElements4 + i] = s[i];
}

__global__ void shared_store4(const float* in, const int* index, float* out) {
  __shared__ float s[kElements4];
  int t = blockIdx.x * kThreads + threadIdx.x;
  s[index[t]] = in[t];
  __syncthreads();
  for (int i = threadIdx.x; i < kElements4; i += kThreads) out[blockIdx.x * kElements4 + i] = s[i];
}

__global__ void shared_store8(const double* in, const int* index, double* out) {
  __shared__ double s[kElements8];
  int t = blockIdx.x * kThreads + threadIdx.x;
  s[index[t]] = in[t];
  __syncthreads();
  for (int i = threadIdx.x; i < kElements8; i += kThreads) out[blockIdx.x * kElements8 + i] = s[i];
}

__global__ void shared_store16(const float4* in, const int* index, float4* out) {
  __shared__ float4 s[kElements16];
  int t = blockIdx.x * kThreads + threadIdx.x;
  s[index[t]] = in[t];
  __syncthreads();
  for (int i = threadIdx.x; i < kElements16; i += kThreads) out[blockIdx.x * kElements16 + i] = s[i];
}

// 32 conflicts-free or 32-way reads each, for time. step 1: neighbours; step 32: one bank.
__global__ void shared_stress(const float* in, float* out, int step) {
  __shared__ float s[kElements4];
  for (int i = threadIdx.x; i < kElements4; i += blockDim.x) s[i] = in[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += s[(threadIdx.x * step + k * 37) % kElements4];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

using Pattern = std::function<int(int lane)>;

int main(int argc, char** argv) {
  Program program(argc, argv, [](const float* in, float* out, int n) { init_flush<<<1056, 256>>>(in, out, n); });
  std::vector<float> host = random_floats(65536, 3);
  float* in = to_device(host);
  float* out = device_array<float>(1 << 21);
  int* index = device_array<int>(kThreads * kBlocks);

  // Makes the index of all threads: warps take the same pattern.
  auto set = [&](const Pattern& pattern, int elements) {
    std::vector<int> v(kThreads * kBlocks);
    for (int t = 0; t < kThreads * kBlocks; ++t) v[t] = pattern(t % 32) % elements;
    must(cudaMemcpy(index, v.data(), v.size() * sizeof(int), cudaMemcpyHostToDevice), "cudaMemcpy");
    return v;
  };
  auto stride = [](int by) { return Pattern([by](int lane) { return lane * by; }); };
  auto group = [](int lanes) { return Pattern([lanes](int lane) { return lane / lanes; }); };
  auto random = [](int seed, int among) {
    std::vector<int> v = random_ints(32, among, seed);
    return Pattern([v](int lane) { return v[lane]; });
  };
  // Lanes 0-15 by one rule, 16-31 by another.
  auto halves = [](Pattern low, Pattern high) {
    return Pattern([low, high](int lane) { return lane < 16 ? low(lane) : high(lane); });
  };
  auto one = [](int at) { return Pattern([at](int) { return at; }); };

  for (int s : {1, 2, 4, 32, 128}) {
    auto v = set(stride(s), kElements4);
    auto *bytes = reinterpret_cast<unsigned char*>(in), *result = reinterpret_cast<unsigned char*>(out);
    program.launch("shared_load1", Kind::count, [&] { shared_load1<<<kBlocks, kThreads>>>(bytes, index, result); });
    expect(value_at(result, 5) == value_at(bytes, v[5]), "shared_load1");
  }
  for (int s : {1, 2, 3, 64}) {
    auto v = set(stride(s), kElements4);
    auto *shorts = reinterpret_cast<short*>(in), *result = reinterpret_cast<short*>(out);
    program.launch("shared_load2", Kind::count, [&] { shared_load2<<<kBlocks, kThreads>>>(shorts, index, result); });
    expect(value_at(result, 5) == value_at(shorts, v[5]), "shared_load2");
    if (s > 3) continue;
    program.launch("shared_store2", Kind::count, [&] { shared_store2<<<kBlocks, kThreads>>>(shorts, index, result); });
    expect(value_at(result, v[5]) == value_at(shorts, 5) || value_at(result, v[5]) == value_at(shorts, 37),
           "shared_store2");
  }

  std::vector<Pattern> words = {stride(1),       stride(2),     stride(3),      stride(4), stride(8),
                                stride(16),      stride(32),    one(7),         group(2),  halves(stride(32), one(5)),
                                random(1, 4096), random(2, 64), random(3, 4096)};
  for (const Pattern& p : words) {
    auto v = set(p, kElements4);
    program.launch("shared_load4", Kind::count, [&] { shared_load4<<<kBlocks, kThreads>>>(in, index, out); });
    expect(value_at(out, 5) == host[v[5]], "shared_load4");
  }
  for (int k : {0, 1, 2, 6, 7, 8, 10, 11})
    set(words[k], kElements4),
        program.launch("shared_store4", Kind::count, [&] { shared_store4<<<kBlocks, kThreads>>>(in, index, out); });

  // 8 bytes. The tenth to fourteenth are doubtful: the halves do not look alike.
  std::vector<Pattern> pairs = {stride(1),
                                stride(2),
                                stride(3),
                                stride(4),
                                stride(8),
                                stride(16),
                                stride(32),
                                one(7),
                                group(16),
                                halves(stride(16), one(4)),
                                halves(one(4), stride(16)),
                                halves(stride(1), one(4)),
                                halves(stride(1), one(20)),
                                halves(stride(1), [](int lane) { return lane - 16; }),
                                [](int lane) { return lane / 16 * 16; },
                                group(2),
                                group(4),
                                random(1, 2048),
                                random(2, 2048),
                                random(3, 32),
                                random(4, 16),
                                random(5, 8),
                                random(6, 64)};
  auto *in8 = reinterpret_cast<double*>(in), *out8 = reinterpret_cast<double*>(out);
  for (const Pattern& p : pairs) {
    auto v = set(p, kElements8);
    program.launch("shared_load8", Kind::count, [&] { shared_load8<<<kBlocks, kThreads>>>(in8, index, out8); });
    expect(value_at(out8, 5) == value_at(in8, v[5]), "shared_load8");
  }
  for (int k : {0, 1, 2, 7, 8, 9, 13, 17, 20})
    set(pairs[k], kElements8),
        program.launch("shared_store8", Kind::count, [&] { shared_store8<<<kBlocks, kThreads>>>(in8, index, out8); });

  // 16 bytes.
  std::vector<Pattern> quads = {stride(1),
                                stride(2),
                                stride(3),
                                stride(4),
                                stride(8),
                                stride(16),
                                stride(32),
                                one(7),
                                group(16),
                                halves(stride(1), one(3)),
                                halves(one(3), stride(1)),
                                halves(stride(1), one(40)),
                                halves(stride(8), one(3)),
                                halves(stride(1), [](int lane) { return lane - 16; }),
                                [](int lane) { return lane % 8; },
                                [](int lane) { return lane % 8 * 8; },
                                group(2),
                                group(4),
                                group(8),
                                random(1, 1024),
                                random(2, 1024),
                                random(3, 32),
                                random(4, 16),
                                random(5, 8),
                                random(6, 4)};
  auto *in16 = reinterpret_cast<float4*>(in), *out16 = reinterpret_cast<float4*>(out);
  for (const Pattern& p : quads) {
    auto v = set(p, kElements16);
    program.launch("shared_load16", Kind::count, [&] { shared_load16<<<kBlocks, kThreads>>>(in16, index, out16); });
    expect(value_at(out, 4 * 5) == host[4 * v[5]], "shared_load16");
  }
  for (int k : {0, 1, 2, 7, 8, 9, 13, 19, 22})
    set(quads[k], kElements16), program.launch("shared_store16", Kind::count,
                                               [&] { shared_store16<<<kBlocks, kThreads>>>(in16, index, out16); });

  for (int step : {1, 2, 8, 32})
    program.launch("shared_stress", Kind::time, [&] { shared_stress<<<8192, 256>>>(in, out, step); });
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += host[(3 * 32 + k * 37) % kElements4];
  expect(near(value_at(out, 3), sum), "shared_stress");
}
