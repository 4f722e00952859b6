// k-means in three dimensions: nearest centre, sums in shared memory by float atomics, then new centres.
#include "sample.hpp"

constexpr int kClusters = 5;
__constant__ float3 centres[kClusters];

struct Sums {
  float x[kClusters], y[kClusters], z[kClusters];
  int count[kClusters];
};

__global__ void assign(const float3* points, int n, int* label, Sums* total) {
  __shared__ Sums mine;
  if (threadIdx.x < kClusters) {
    mine.x[threadIdx.x] = mine.y[threadIdx.x] = mine.z[threadIdx.x] = 0;
    mine.count[threadIdx.x] = 0;
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float3 p = points[i];
    float nearest = 3.4e38f;
    int best = 0;
    for (int c = 0; c < kClusters; ++c) {
      float dx = p.x - centres[c].x, dy = p.y - centres[c].y, dz = p.z - centres[c].z;
      float d = dx * dx + dy * dy + dz * dz;
      if (d >= nearest) continue;
      nearest = d;
      best = c;
    }
    label[i] = best;
    atomicAdd(&mine.x[best], p.x);
    atomicAdd(&mine.y[best], p.y);
    atomicAdd(&mine.z[best], p.z);
    atomicAdd(&mine.count[best], 1);
  }
  __syncthreads();
  if (threadIdx.x >= kClusters) return;
  const int c = threadIdx.x;
  atomicAdd(&total->x[c], mine.x[c]);
  atomicAdd(&total->y[c], mine.y[c]);
  atomicAdd(&total->z[c], mine.z[c]);
  atomicAdd(&total->count[c], mine.count[c]);
}

__global__ void average(const Sums* total, float3* out) {
  int c = threadIdx.x;
  if (c >= kClusters || total->count[c] == 0) return;
  float scale = 1.0f / total->count[c];
  out[c] = make_float3(total->x[c] * scale, total->y[c] * scale, total->z[c] * scale);
}

int main() {
  const int n = 2003;
  Random random(17);
  std::vector<float3> points(n), now(kClusters);
  const float3 true_centres[kClusters] = {{0, 0, 0}, {10, 0, 0}, {0, 10, 0}, {0, 0, 10}, {10, 10, 10}};
  std::vector<int> truth(n);
  for (int i = 0; i < n; ++i) {
    // Far apart and narrow: no rounding changes who is nearest.
    const float3 c = true_centres[truth[i] = i % kClusters];
    points[i] = make_float3(c.x + random.uniform(-1, 1), c.y + random.uniform(-1, 1), c.z + random.uniform(-1, 1));
  }
  for (int c = 0; c < kClusters; ++c) now[c] = points[c];

  float3 *d_points = to_device(points), *d_centres = to_device(now);
  int* d_label = device_array<int>(n);
  Sums* d_sums = device_array<Sums>(1);
  for (int round = 0; round < 4; ++round) {
    CUDA_CHECK(cudaMemcpyToSymbol(centres, d_centres, sizeof(float3) * kClusters, 0, cudaMemcpyDeviceToDevice));
    CUDA_CHECK(cudaMemset(d_sums, 0, sizeof(Sums)));
    assign<<<6, 96>>>(d_points, n, d_label, d_sums);
    average<<<1, 32>>>(d_sums, d_centres);
    CUDA_CHECK(cudaGetLastError());
  }
  expect_equal(to_host(d_label, n), truth, "labels");
  std::vector<double> wanted(3 * kClusters);
  std::vector<float> got(3 * kClusters);
  std::vector<int> count(kClusters);
  for (int i = 0; i < n; ++i) ++count[truth[i]];
  for (int i = 0; i < n; ++i) {
    double* w = &wanted[3 * truth[i]];
    w[0] += points[i].x / static_cast<double>(count[truth[i]]);
    w[1] += points[i].y / static_cast<double>(count[truth[i]]);
    w[2] += points[i].z / static_cast<double>(count[truth[i]]);
  }
  CUDA_CHECK(cudaMemcpy(got.data(), d_centres, sizeof(float3) * kClusters, cudaMemcpyDeviceToHost));
  expect_close(got, wanted, 1e-4, "centres");
  CUDA_CHECK(cudaFree(d_points));
  CUDA_CHECK(cudaFree(d_centres));
  CUDA_CHECK(cudaFree(d_label));
  CUDA_CHECK(cudaFree(d_sums));
  std::puts("ok");
}
