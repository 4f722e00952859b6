// Stencils with halos in shared memory: 1D of radius 3, 2D of five points, 3D marching along z with registers.
#include "sample.hpp"

constexpr int kRadius = 3, kWidth = 128;
__constant__ float weights[2 * kRadius + 1];

__global__ void stencil_1d(const float* in, float* out, int n) {
  __shared__ float tile[kWidth + 2 * kRadius];
  int g = blockIdx.x * kWidth + threadIdx.x, l = threadIdx.x + kRadius;
  tile[l] = g < n ? in[g] : 0.0f;
  if (threadIdx.x < kRadius) {
    tile[l - kRadius] = g >= kRadius && g - kRadius < n ? in[g - kRadius] : 0.0f;
    tile[l + kWidth] = g + kWidth < n ? in[g + kWidth] : 0.0f;
  }
  __syncthreads();
  if (g >= n) return;
  float sum = 0;
  for (int i = -kRadius; i <= kRadius; ++i) sum += weights[i + kRadius] * tile[l + i];
  out[g] = sum;
}

constexpr int kTx = 32, kTy = 8;

// Edges keep their values.
__global__ void stencil_2d(const float* in, float* out, int nx, int ny) {
  __shared__ float tile[kTy + 2][kTx + 2];
  const int x0 = blockIdx.x * kTx - 1, y0 = blockIdx.y * kTy - 1;
  for (int i = threadIdx.y * kTx + threadIdx.x; i < (kTx + 2) * (kTy + 2); i += kTx * kTy) {
    int lx = i % (kTx + 2), ly = i / (kTx + 2), gx = x0 + lx, gy = y0 + ly;
    tile[ly][lx] = gx >= 0 && gx < nx && gy >= 0 && gy < ny ? in[gy * nx + gx] : 0.0f;
  }
  __syncthreads();
  int x = blockIdx.x * kTx + threadIdx.x, y = blockIdx.y * kTy + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  float centre = tile[ly][lx];
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
    centre = 0.25f * (tile[ly][lx - 1] + tile[ly][lx + 1] + tile[ly - 1][lx] + tile[ly + 1][lx]);
  out[y * nx + x] = centre;
}

// Seven points; each thread walks along z and carries three planes of its column in registers.
__global__ void stencil_3d(const float* in, float* out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= nx - 1 || y >= ny - 1) return;
  const int plane = nx * ny;
  int at = y * nx + x;
  float below = in[at], here = in[at + plane];
  for (int z = 1; z < nz - 1; ++z) {
    at += plane;
    float above = in[at + plane];
    out[at] = below + above + in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] - 6.0f * here;
    below = here;
    here = above;
  }
}

int main() {
  Random random(2);
  {
    const int n = 5003;
    const float w[2 * kRadius + 1] = {0.05f, 0.1f, 0.2f, 0.3f, 0.2f, 0.1f, 0.05f};
    CUDA_CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
    std::vector<float> in = random.floats(n);
    std::vector<double> wanted(n);
    for (int i = 0; i < n; ++i)
      for (int d = -kRadius; d <= kRadius; ++d)
        if (i + d >= 0 && i + d < n) wanted[i] += static_cast<double>(w[d + kRadius]) * in[i + d];
    float *d_in = to_device(in), *d_out = device_array<float>(n);
    stencil_1d<<<blocks_for(n, kWidth), kWidth>>>(d_in, d_out, n);
    CUDA_CHECK(cudaGetLastError());
    expect_close(to_host(d_out, n), wanted, 1e-5, "1D stencil");
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
  }
  {
    const int nx = 77, ny = 45, steps = 4;
    std::vector<float> in = random.floats(nx * ny);
    std::vector<double> now(in.begin(), in.end()), next = now;
    float *d_a = to_device(in), *d_b = device_array<float>(nx * ny);
    for (int s = 0; s < steps; ++s) {
      for (int y = 1; y < ny - 1; ++y)
        for (int x = 1; x < nx - 1; ++x)
          next[y * nx + x] =
              0.25 * (now[y * nx + x - 1] + now[y * nx + x + 1] + now[(y - 1) * nx + x] + now[(y + 1) * nx + x]);
      now.swap(next);
      stencil_2d<<<dim3(blocks_for(nx, kTx), blocks_for(ny, kTy)), dim3(kTx, kTy)>>>(d_a, d_b, nx, ny);
      CUDA_CHECK(cudaGetLastError());
      std::swap(d_a, d_b);
    }
    expect_close(to_host(d_a, nx * ny), now, 1e-5, "2D stencil");
    CUDA_CHECK(cudaFree(d_a));
    CUDA_CHECK(cudaFree(d_b));
  }
  {
    const int nx = 37, ny = 21, nz = 13;
    std::vector<float> in = random.floats(nx * ny * nz);
    std::vector<double> wanted(in.size());
    auto at = [&](int x, int y, int z) { return static_cast<double>(in[(z * ny + y) * nx + x]); };
    for (int z = 1; z < nz - 1; ++z)
      for (int y = 1; y < ny - 1; ++y)
        for (int x = 1; x < nx - 1; ++x)
          wanted[(z * ny + y) * nx + x] = at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) + at(x, y + 1, z) +
                                          at(x, y, z - 1) + at(x, y, z + 1) - 6 * at(x, y, z);
    float *d_in = to_device(in), *d_out = device_array<float>(in.size());
    CUDA_CHECK(cudaMemset(d_out, 0, in.size() * sizeof(float)));
    stencil_3d<<<dim3(blocks_for(nx - 2, 16), blocks_for(ny - 2, 4)), dim3(16, 4)>>>(d_in, d_out, nx, ny, nz);
    CUDA_CHECK(cudaGetLastError());
    expect_close(to_host(d_out, in.size()), wanted, 1e-5, "3D stencil");
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
  }
  std::puts("ok");
}
