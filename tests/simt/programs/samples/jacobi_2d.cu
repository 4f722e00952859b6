// Heat in a plate: Jacobi steps with a tile and halo in shared memory until the change is small; the maximum change by
// atomicMax on the bits of a float.
#include <cstring>

#include "../sample.hpp"

constexpr int kTile = 16;

__global__ void step(const float* in, float* out, int nx, int ny, int* change) {
  __shared__ float tile[kTile + 2][kTile + 2];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  auto at = [&](int i, int j) { return in[min(max(j, 0), ny - 1) * nx + min(max(i, 0), nx - 1)]; };
  tile[threadIdx.y + 1][threadIdx.x + 1] = at(x, y);
  if (threadIdx.y == 0) tile[0][threadIdx.x + 1] = at(x, y - 1);
  if (threadIdx.y == kTile - 1) tile[kTile + 1][threadIdx.x + 1] = at(x, y + 1);
  if (threadIdx.x == 0) tile[threadIdx.y + 1][0] = at(x - 1, y);
  if (threadIdx.x == kTile - 1) tile[threadIdx.y + 1][kTile + 1] = at(x + 1, y);
  __syncthreads();
  if (x >= nx || y >= ny) return;
  const float old = tile[threadIdx.y + 1][threadIdx.x + 1];
  float now = old;
  if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1)
    now = 0.25f * (tile[threadIdx.y][threadIdx.x + 1] + tile[threadIdx.y + 2][threadIdx.x + 1] +
                   tile[threadIdx.y + 1][threadIdx.x] + tile[threadIdx.y + 1][threadIdx.x + 2]);
  out[y * nx + x] = now;
  atomicMax(change, __float_as_int(fabsf(now - old)));  // bits of positive floats are in order
}

int main() {
  const int nx = 50, ny = 37, most = 60;
  std::vector<float> plate(nx * ny, 0.0f);
  for (int x = 0; x < nx; ++x) plate[x] = 100.0f;
  std::vector<float> want = plate, next = plate;
  float *a = to_device(plate), *b = to_device(plate);
  int* change = device_array<int>(1);
  int steps = 0;
  for (float delta = 1e9f; delta > 0.5f && steps < most; ++steps) {
    CUDA_CHECK(cudaMemset(change, 0, sizeof(int)));
    step<<<dim3((nx + kTile - 1) / kTile, (ny + kTile - 1) / kTile), dim3(kTile, kTile)>>>(a, b, nx, ny, change);
    CUDA_CHECK(cudaGetLastError());
    std::swap(a, b);
    const int bits = to_host(change, 1)[0];
    std::memcpy(&delta, &bits, sizeof delta);
  }
  expect(steps > 5 && steps < most, "it converges");
  for (int s = 0; s < steps; ++s) {
    for (int y = 1; y < ny - 1; ++y)
      for (int x = 1; x < nx - 1; ++x)
        next[y * nx + x] =
            0.25f * (want[(y - 1) * nx + x] + want[(y + 1) * nx + x] + want[y * nx + x - 1] + want[y * nx + x + 1]);
    std::swap(want, next);
  }
  expect_close(to_host(a, nx * ny), want, 1e-5, "temperatures");
  for (void* p : {(void*)a, (void*)b, (void*)change}) CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
