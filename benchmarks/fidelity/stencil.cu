// Stencils in one, two and three dimensions, and prefix sums of blocks.
#include "harness.cuh"

constexpr int kRadius = 3, kBlock = 256;

__global__ void stencil1d(const float* in, float* out, int n) {
  __shared__ float s[kBlock + 2 * kRadius];
  int i = blockIdx.x * kBlock + threadIdx.x, at = threadIdx.x + kRadius;
  s[at] = i < n ? in[i] : 0.0f;
  if (threadIdx.x < kRadius) {
    s[at - kRadius] = i >= kRadius ? in[i - kRadius] : 0.0f;
    s[at + kBlock] = i + kBlock < n ? in[i + kBlock] : 0.0f;
  }
  __syncthreads();
  float sum = 0;
  for (int k = -kRadius; k <= kRadius; ++k) sum += s[at + k];
  if (i < n) out[i] = sum;
}

__global__ void stencil2d(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  int i = y * width + x;
  out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

__global__ void stencil2d_tiled(const float* in, float* out, int width, int height) {
  __shared__ float s[16 + 2][32 + 2];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int r = threadIdx.y; r < 18; r += 16)
    for (int c = threadIdx.x; c < 34; c += 32) {
      int gx = int(blockIdx.x) * 32 + c - 1, gy = int(blockIdx.y) * 16 + r - 1;
      s[r][c] = gx >= 0 && gy >= 0 && gx < width && gy < height ? in[gy * width + gx] : 0.0f;
    }
  __syncthreads();
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  int r = threadIdx.y + 1, c = threadIdx.x + 1;
  out[y * width + x] = 0.5f * s[r][c] + 0.125f * (s[r][c - 1] + s[r][c + 1] + s[r - 1][c] + s[r + 1][c]);
}

__global__ void stencil3d(const float* in, float* out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  int i = (z * ny + y) * nx + x;
  out[i] = in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny] - 6.0f * in[i];
}

// Prefix sums within each block (inclusive for Hillis and Steele and for warps, exclusive for Blelloch).
__global__ void scan_hillis(const float* in, float* out, int n) {
  __shared__ float s[2][kBlock];
  int t = threadIdx.x, i = blockIdx.x * kBlock + t, from = 0;
  s[0][t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int step = 1; step < kBlock; step *= 2) {
    s[1 - from][t] = t >= step ? s[from][t] + s[from][t - step] : s[from][t];
    from = 1 - from;
    __syncthreads();
  }
  if (i < n) out[i] = s[from][t];
}

__global__ void scan_blelloch(const float* in, float* out, int n) {
  __shared__ float s[2 * kBlock];
  int t = threadIdx.x, i = blockIdx.x * 2 * kBlock + t;
  s[t] = i < n ? in[i] : 0.0f;
  s[t + kBlock] = i + kBlock < n ? in[i + kBlock] : 0.0f;
  int step = 1;
  for (int pairs = kBlock; pairs > 0; pairs /= 2) {
    __syncthreads();
    if (t < pairs) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
    step *= 2;
  }
  if (t == 0) s[2 * kBlock - 1] = 0;
  for (int pairs = 1; pairs <= kBlock; pairs *= 2) {
    step /= 2;
    __syncthreads();
    if (t < pairs) {
      int left = step * (2 * t + 1) - 1, right = step * (2 * t + 2) - 1;
      float x = s[left];
      s[left] = s[right];
      s[right] += x;
    }
  }
  __syncthreads();
  if (i < n) out[i] = s[t];
  if (i + kBlock < n) out[i + kBlock] = s[t + kBlock];
}

__device__ int padded(int i) { return i + i / 32; }

__global__ void scan_blelloch_padded(const float* in, float* out, int n) {
  __shared__ float s[2 * kBlock + 2 * kBlock / 32];
  int t = threadIdx.x, i = blockIdx.x * 2 * kBlock + t;
  s[padded(t)] = i < n ? in[i] : 0.0f;
  s[padded(t + kBlock)] = i + kBlock < n ? in[i + kBlock] : 0.0f;
  int step = 1;
  for (int pairs = kBlock; pairs > 0; pairs /= 2) {
    __syncthreads();
    if (t < pairs) s[padded(step * (2 * t + 2) - 1)] += s[padded(step * (2 * t + 1) - 1)];
    step *= 2;
  }
  if (t == 0) s[padded(2 * kBlock - 1)] = 0;
  for (int pairs = 1; pairs <= kBlock; pairs *= 2) {
    step /= 2;
    __syncthreads();
    if (t < pairs) {
      int left = padded(step * (2 * t + 1) - 1), right = padded(step * (2 * t + 2) - 1);
      float x = s[left];
      s[left] = s[right];
      s[right] += x;
    }
  }
  __syncthreads();
  if (i < n) out[i] = s[padded(t)];
  if (i + kBlock < n) out[i + kBlock] = s[padded(t + kBlock)];
}

__global__ void scan_warp(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  float x = i < n ? in[i] : 0.0f;
  for (int step = 1; step < 32; step *= 2) {
    float y = __shfl_up_sync(0xFFFFFFFFu, x, step);
    if (lane >= step) x += y;
  }
  if (i < n) out[i] = x;
}

int main(int argc, char** argv) {
  Program program(argc, argv, [](const float* in, float* out, int n) { init_flush<<<1056, 256>>>(in, out, n); });
  const int kLarge = 1 << 24, kOdd = 30011;
  std::vector<float> host = random_floats(kLarge, 12);
  float* in = to_device(host);
  float* out = device_array<float>(kLarge);
  auto sum = [&](int from, int to) {
    double s = 0;
    for (int i = from; i <= to; ++i) s += host[i];
    return s;
  };
  for (Kind kind : {Kind::count, Kind::time}) {
    int n = kind == Kind::count ? kOdd : kLarge / 4;
    program.launch("stencil1d", kind, [&] { stencil1d<<<blocks_for(n, kBlock), kBlock>>>(in, out, n); });
    expect(near(value_at(out, 5000), sum(4997, 5003)), "stencil1d");

    int width = kind == Kind::count ? 301 : 2048, height = kind == Kind::count ? 203 : 2048;
    auto five = [&](int i) {
      return 0.5f * host[i] + 0.125f * (host[i - 1] + host[i + 1] + host[i - width] + host[i + width]);
    };
    int inner = 100 * width + 64;
    program.launch("stencil2d", kind, [&] {
      stencil2d<<<dim3(blocks_for(width, 32), blocks_for(height, 8)), dim3(32, 8)>>>(in, out, width, height);
    });
    expect(near(value_at(out, inner), five(inner)), "stencil2d");
    program.launch("stencil2d_tiled", kind, [&] {
      stencil2d_tiled<<<dim3(blocks_for(width, 32), blocks_for(height, 16)), dim3(32, 16)>>>(in, out, width, height);
    });
    expect(near(value_at(out, inner), five(inner)), "stencil2d_tiled");
    int side = kind == Kind::count ? 45 : 160;
    program.launch("stencil3d", kind, [&] {
      stencil3d<<<dim3(blocks_for(side, 32), blocks_for(side, 4), blocks_for(side, 2)), dim3(32, 4, 2)>>>(in, out, side,
                                                                                                          side, side);
    });

    program.launch("scan_hillis", kind, [&] { scan_hillis<<<blocks_for(n, kBlock), kBlock>>>(in, out, n); });
    expect(near(value_at(out, 300), sum(256, 300)), "scan_hillis");
    program.launch("scan_blelloch", kind, [&] { scan_blelloch<<<blocks_for(n, 2 * kBlock), kBlock>>>(in, out, n); });
    expect(near(value_at(out, 900), sum(512, 899)), "scan_blelloch");
    program.launch("scan_blelloch_padded", kind,
                   [&] { scan_blelloch_padded<<<blocks_for(n, 2 * kBlock), kBlock>>>(in, out, n); });
    expect(near(value_at(out, 900), sum(512, 899)), "scan_blelloch_padded");
    program.launch("scan_warp", kind, [&] { scan_warp<<<blocks_for(n, kBlock), kBlock>>>(in, out, n); });
    expect(near(value_at(out, 300), sum(288, 300)), "scan_warp");
  }
}
