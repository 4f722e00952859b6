// Kernels of loops.cu. Arrays are fp32 and row major; blocks have 256 threads.
#pragma once

constexpr int kThreads = 256, kTile = 16;

// y[n] += a * x[n]
__global__ void axpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

// z[n] = x[n] + a * y[n]
__global__ void triad(int n, float a, const float* x, const float* y, float* z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + a * y[i];
}

// y[n] = x[n] / (1 + |x[n]|), each thread takes every stride-th element
__global__ void softsign(int n, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = x[i] / (1 + fabsf(x[i]));
}

// out[h][w]: the mean of in[h][w] and its four neighbours, inside alone
__global__ void stencil(int h, int w, const float* in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const float* at = in + y * w + x;
  out[y * w + x] = 0.2f * (at[0] + at[-1] + at[1] + at[-w] + at[w]);
}

// c[n][n] = a[n][n] * b[n][n], n a multiple of 16
__global__ void gemm(int n, const float* a, const float* b, float* c) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
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

// out[w][h] = in[h][w] transposed, both multiples of 32; blocks of 32 x 8 threads
__global__ void transpose(int h, int w, const float* in, float* out) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
  const int tx = blockIdx.y * 32 + threadIdx.x, ty = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(ty + j) * h + tx] = tile[threadIdx.x][threadIdx.y + j];
}

// out[blocks]: sums of 2048 elements of in each, by a tree in shared memory
__global__ void block_sums(const float* in, float* out) {
  __shared__ float part[kThreads];
  const float* at = in + blockIdx.x * 8 * kThreads;
  float sum = 0;
  for (int j = 0; j < 8; ++j) sum += at[j * kThreads + threadIdx.x];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int d = kThreads / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// forces[n][3] on points[n][4] = (x, y, z, mass), n a multiple of 256: all pairs, a tile of 256 points at a time
__global__ void forces(int n, const float4* points, float* out) {
  __shared__ float4 tile[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const float4 own = points[i];
  float fx = 0, fy = 0, fz = 0;
  for (int first = 0; first < n; first += kThreads) {
    tile[threadIdx.x] = points[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < kThreads; ++j) {
      const float4 p = tile[j];
      const float dx = p.x - own.x, dy = p.y - own.y, dz = p.z - own.z;
      const float r = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), s = p.w * r * r * r;
      fx += s * dx, fy += s * dy, fz += s * dz;
    }
    __syncthreads();
  }
  out[3 * i] = fx, out[3 * i + 1] = fy, out[3 * i + 2] = fz;
}
