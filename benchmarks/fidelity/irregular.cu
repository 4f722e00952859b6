// Control flow that differs between lanes: which accesses form one request is the question here.
#include <numeric>

#include "harness.cuh"

// Lane i goes round trips[i] times.
__global__ void varying_trips(const int* trips, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < trips[i]; ++k) sum += in[k * 64 + i % 64];
  out[i] = sum;
}

// Loads above a limit are skipped with continue, a negative ends the loop.
__global__ void skip_and_stop(const float* in, const float* weight, float* out, int n, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < steps; ++k) {
    float x = in[k * n + i];
    if (x > 0.7f) continue;
    if (x < 0.05f) break;
    sum += x * weight[k * n + i];
  }
  out[i] = sum;
}

__global__ void early_return(const int* kind, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (kind[i] == 0) return;
  float x = in[i];
  if (kind[i] == 1) {
    out[i] = x;
    return;
  }
  for (int k = 1; k < 8; ++k) {
    x += in[i + k * n];
    if (kind[i] == k + 1) return;
  }
  out[i] = x;
}

__global__ void switch_cases(const int* kind, const float* in, const float* other, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = 0;
  switch (kind[i]) {
    case 0:
      x = in[i];
      break;
    case 1:
      x = in[2 * i];
      break;
    case 2:
      x = other[i] + 1.0f;
      break;
    case 3:
      x = other[3 * i];
      break;
    case 4:
      for (int k = 0; k < 3; ++k) x += in[i + 100 * k];
      break;
    default:
      x = -1.0f;
  }
  out[i] = x;
}

// The first place in the sorted list whose value is not below the key.
__global__ void lower_bound(const float* list, int length, const float* key, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float wanted = key[i];
  int low = 0, high = length;
  while (low < high) {
    int middle = (low + high) / 2;
    if (list[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  out[i] = low;
}

__device__ float polyline(const float* knots, int count, float x) {
  float y = 0;
  for (int k = 0; k < count; ++k) {
    float at = knots[k];
    if (x < at) break;
    y += x - at;
  }
  return y;
}

// One function from two places, under a condition.
__global__ void two_calls(const float* knots, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  if (i % 3 == 0)
    out[i] = polyline(knots, 8, x);
  else
    out[i] = polyline(knots + 8, 12, x) + 1.0f;
}

// Row r of a lower triangle, with all its columns.
__global__ void triangle(const float* in, float* out, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  float sum = 0;
  for (int c = 0; c <= r; ++c) sum += in[r * (r + 1) / 2 + c];
  out[r] = sum;
}

__global__ void nested(const int* outer, const int* inner, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int a = 0; a < outer[i]; ++a) {
    if ((i + a) % 5 == 0) continue;
    int trips = inner[(i + a) % n];
    for (int b = 0; b < trips; ++b) {
      float x = in[(a * 8 + b) * 32 + i % 32];
      if (x > 0.9f) break;
      sum += x;
    }
  }
  out[i] = sum;
}

__global__ void collatz(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = in[i] + 1, steps = 0;
  while (x != 1 && steps < 1000) {
    x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    ++steps;
  }
  out[i] = steps;
}

__global__ void mandelbrot(int* out, int width, int height, int limit) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  float cx = 3.0f * px / width - 2.0f, cy = 2.0f * py / height - 1.0f, x = 0, y = 0;
  int k = 0;
  while (k < limit && x * x + y * y < 4.0f) {
    float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    ++k;
  }
  out[py * width + px] = k;
}

// A block of 256 threads sorts 512 keys.
__global__ void bitonic(const int* in, int* out) {
  __shared__ int s[512];
  int t = threadIdx.x, first = blockIdx.x * 512;
  s[t] = in[first + t];
  s[t + 256] = in[first + t + 256];
  for (int size = 2; size <= 512; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      int at = 2 * t - (t & (step - 1));
      bool up = (at & size) == 0;
      int a = s[at], b = s[at + step];
      if ((a > b) == up) {
        s[at] = b;
        s[at + step] = a;
      }
    }
  __syncthreads();
  out[first + t] = s[t];
  out[first + t + 256] = s[t + 256];
}

// The halves of each warp go different ways: 16 lanes at a time.
__global__ void halves(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = 0;
  if (threadIdx.x % 32 < 16) {
    for (int k = 0; k < 4; ++k) x += in[i + k * 32];
  } else {
    for (int k = 0; k < 4; ++k) x += in[n + 2 * i + k];
  }
  out[i] = x;
}

int main(int argc, char** argv) {
  Program program(argc, argv, [](const float* in, float* out, int n) { init_flush<<<1056, 256>>>(in, out, n); });
  const int kOdd = 20011, kMany = 1 << 20;
  const dim3 block(128);
  std::vector<float> host = random_floats(1 << 24, 15);
  float *in = to_device(host), *out = device_array<float>(1 << 24);
  int* ints = reinterpret_cast<int*>(out);
  auto clear = [&] { must(cudaMemset(out, 0, sizeof(float) * kMany), "cudaMemset"); };

  for (Kind kind : {Kind::count, Kind::time}) {
    const int n = kind == Kind::count ? kOdd : kMany;
    const dim3 grid(blocks_for(n, 128));
    std::vector<int> few = random_ints(n, 24, 16), eight = random_ints(n, 9, 17);
    int *trips = to_device(few), *kinds = to_device(eight);
    program.launch("varying_trips", kind, [&] { varying_trips<<<grid, block>>>(trips, in, out, n); });
    double sum = 0;
    for (int k = 0; k < few[300]; ++k) sum += host[k * 64 + 300 % 64];
    expect(near(value_at(out, 300), sum), "varying_trips");
    int steps = kind == Kind::count ? 20 : 8;
    program.launch("skip_and_stop", kind, [&] { skip_and_stop<<<grid, block>>>(in, in + 7, out, n, steps); });
    sum = 0;
    for (int k = 0; k < steps; ++k) {
      float x = host[std::size_t(k) * n + 300];
      if (x > 0.7f) continue;
      if (x < 0.05f) break;
      sum += double(x) * host[std::size_t(k) * n + 307];
    }
    expect(near(value_at(out, 300), sum), "skip_and_stop");
    program.launch(
        "early_return", kind, [&] { early_return<<<grid, block>>>(kinds, in, out, n); }, clear);
    program.launch("switch_cases", kind, [&] { switch_cases<<<grid, block>>>(kinds, in, in + 64, out, n); });
    int j = 0;
    while (eight[j] != 3) ++j;
    expect(value_at(out, j) == host[64 + 3 * j], "switch_cases");

    std::vector<float> list(host.begin(), host.begin() + (kind == Kind::count ? 5003 : kMany));
    std::sort(list.begin(), list.end());
    float* sorted = to_device(list);
    int length = static_cast<int>(list.size());
    program.launch("lower_bound", kind, [&] { lower_bound<<<grid, block>>>(sorted, length, in + 99, ints, n); });
    expect(value_at(ints, 300) == std::lower_bound(list.begin(), list.end(), host[399]) - list.begin(), "lower_bound");
    must(cudaFree(sorted), "cudaFree");

    std::vector<float> knots(20);
    for (int k = 0; k < 20; ++k) knots[k] = k < 8 ? k / 8.0f : (k - 8) / 12.0f;
    float* line = to_device(knots);
    program.launch("two_calls", kind, [&] { two_calls<<<grid, block>>>(line, in, out, n); });
    sum = 0;
    for (int k = 0; k < 8 && host[300] >= knots[k]; ++k) sum += host[300] - knots[k];
    expect(near(value_at(out, 300), sum), "two_calls");
    program.launch("nested", kind, [&] { nested<<<grid, block>>>(kinds, kinds + 3, in, out, n - 3); });
    std::vector<int> seeds = random_ints(n, 10000, 18);
    int* starts = to_device(seeds);
    program.launch("collatz", kind, [&] { collatz<<<grid, block>>>(starts, ints, n); });
    int x = seeds[300] + 1, count = 0;
    for (; x != 1; ++count) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    expect(value_at(ints, 300) == count, "collatz");
    program.launch("halves", kind, [&] { halves<<<grid, block>>>(in, out, n); });
    sum = 0;
    for (int k = 0; k < 4; ++k) sum += host[3 + k * 32];
    expect(near(value_at(out, 3), sum), "halves");
    int rows = kind == Kind::count ? 700 : 5000;
    program.launch("triangle", kind, [&] { triangle<<<blocks_for(rows, 128), 128>>>(in, out, rows); });
    expect(near(value_at(out, 1), double(host[1]) + host[2]), "triangle");
    int side = kind == Kind::count ? 130 : 1024;
    program.launch("mandelbrot", kind, [&] {
      mandelbrot<<<dim3(blocks_for(side, 16), blocks_for(side, 8)), dim3(16, 8)>>>(ints, side, side, 128);
    });
    expect(value_at(ints, 0) == 1, "mandelbrot");
    int blocks = kind == Kind::count ? 20 : 2048;
    std::vector<int> keys = random_ints(std::size_t(blocks) * 512, 1 << 30, 19);
    int* unsorted = to_device(keys);
    program.launch("bitonic", kind, [&] { bitonic<<<blocks, 256>>>(unsorted, ints); });
    std::vector<int> got = to_host(ints, 512);
    std::sort(keys.begin(), keys.begin() + 512);
    expect(std::equal(got.begin(), got.end(), keys.begin()), "bitonic");
    for (void* p : {(void*)trips, (void*)kinds, (void*)line, (void*)starts, (void*)unsorted})
      must(cudaFree(p), "cudaFree");
  }
}
