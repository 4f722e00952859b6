// n-body with tiles of float4, and the same particles as structure of arrays; double3 sums of their momentum.
#include "sample.hpp"

constexpr int kTile = 64;
constexpr float kSoft = 0.05f;

__device__ float3 pull(float4 me, float4 other, float3 sum) {
  float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  float r = rsqrtf(dx * dx + dy * dy + dz * dz + kSoft);
  float s = other.w * r * r * r;
  return make_float3(sum.x + s * dx, sum.y + s * dy, sum.z + s * dz);
}

// Position and mass in one float4.
__global__ void forces(const float4* bodies, float3* acceleration, int n) {
  __shared__ float4 tile[kTile];
  int i = blockIdx.x * kTile + threadIdx.x;
  float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float3 sum = make_float3(0, 0, 0);
  for (int base = 0; base < n; base += kTile) {
    int j = base + threadIdx.x;
    tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);  // no mass: no pull
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < kTile; ++k) sum = pull(me, tile[k], sum);
    __syncthreads();
  }
  if (i < n) acceleration[i] = sum;
}

struct Particles {  // structure of arrays; passed by value
  float *x, *y, *z, *vx, *vy, *vz;
  const float* mass;
  int count;
};

__global__ void drift(Particles p, const float3* acceleration, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p.count) return;
  float3 a = acceleration[i];
  p.x[i] += dt * (p.vx[i] += dt * a.x);
  p.y[i] += dt * (p.vy[i] += dt * a.y);
  p.z[i] += dt * (p.vz[i] += dt * a.z);
}

// One block: the sum of mass * velocity.
__global__ void momentum(Particles p, double3* out) {
  __shared__ double3 s[kTile];
  double3 sum = make_double3(0, 0, 0);
  for (int i = threadIdx.x; i < p.count; i += kTile) {
    double m = p.mass[i];
    sum.x += m * p.vx[i];
    sum.y += m * p.vy[i];
    sum.z += m * p.vz[i];
  }
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kTile / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) {
      double3 other = s[threadIdx.x + half], mine = s[threadIdx.x];
      s[threadIdx.x] = make_double3(mine.x + other.x, mine.y + other.y, mine.z + other.z);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = s[0];
}

int main() {
  const int n = 203;
  const float dt = 0.01f;
  Random random(13);
  std::vector<float4> bodies(n);
  for (float4& b : bodies)
    b = make_float4(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(0.1f, 1));
  std::vector<double> wanted(3 * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double d[3] = {double(bodies[j].x) - bodies[i].x, double(bodies[j].y) - bodies[i].y,
                     double(bodies[j].z) - bodies[i].z};
      double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + kSoft, s = bodies[j].w / (r2 * std::sqrt(r2));
      for (int c = 0; c < 3; ++c) wanted[3 * i + c] += s * d[c];
    }
  float4* d_bodies = to_device(bodies);
  float3* d_acceleration = device_array<float3>(n);
  forces<<<blocks_for(n, kTile), kTile>>>(d_bodies, d_acceleration, n);
  CUDA_CHECK(cudaGetLastError());
  std::vector<float> got(3 * n);
  CUDA_CHECK(cudaMemcpy(got.data(), d_acceleration, n * sizeof(float3), cudaMemcpyDeviceToHost));
  expect_close(got, wanted, 1e-3, "accelerations");

  // One allocation carved into seven arrays.
  std::vector<float> all(7 * n);
  for (int i = 0; i < n; ++i) {
    all[i] = bodies[i].x;
    all[n + i] = bodies[i].y;
    all[2 * n + i] = bodies[i].z;
    all[6 * n + i] = bodies[i].w;
  }
  float* d_all = to_device(all);
  Particles p{d_all, d_all + n, d_all + 2 * n, d_all + 3 * n, d_all + 4 * n, d_all + 5 * n, d_all + 6 * n, n};
  double3 *d_momentum = device_array<double3>(1), sum;
  for (int step = 0; step < 2; ++step) drift<<<blocks_for(n, 96), 96>>>(p, d_acceleration, dt);
  momentum<<<1, kTile>>>(p, d_momentum);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(&sum, d_momentum, sizeof sum, cudaMemcpyDeviceToHost));
  std::vector<float> x = to_host(p.x, n);
  std::vector<double> wanted_x(n);
  for (int i = 0; i < n; ++i) wanted_x[i] = bodies[i].x + 3.0 * dt * dt * wanted[3 * i];
  expect_close(x, wanted_x, 1e-4, "positions after two steps");
  // Forces come in opposite pairs.
  expect(std::fabs(sum.x) < 1e-2 && std::fabs(sum.y) < 1e-2 && std::fabs(sum.z) < 1e-2, "momentum is kept");
  CUDA_CHECK(cudaFree(d_bodies));
  CUDA_CHECK(cudaFree(d_acceleration));
  CUDA_CHECK(cudaFree(d_all));
  CUDA_CHECK(cudaFree(d_momentum));
  std::puts("ok");
}
