// Gravity of all pairs: bodies pass through shared memory in tiles of a block; energy stays nearly the same over leapfrog steps.
#include "../sample.hpp"

constexpr int kBlock = 64;
constexpr float kSoft = 0.05f;

__global__ void accelerate(const float4* body, float3* v, int n, float dt) {
  __shared__ float4 tile[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const float4 own = i < n ? body[i] : make_float4(0, 0, 0, 0);
  float3 a = make_float3(0, 0, 0);
  for (int start = 0; start < n; start += kBlock) {
    const int j = start + threadIdx.x;
    tile[threadIdx.x] = j < n ? body[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < kBlock; ++k) {
      const float dx = tile[k].x - own.x, dy = tile[k].y - own.y, dz = tile[k].z - own.z;
      const float r = rsqrtf(dx * dx + dy * dy + dz * dz + kSoft), f = tile[k].w * r * r * r;
      a.x += f * dx, a.y += f * dy, a.z += f * dz;
    }
    __syncthreads();
  }
  if (i < n) v[i] = make_float3(v[i].x + a.x * dt, v[i].y + a.y * dt, v[i].z + a.z * dt);
}

__global__ void move(float4* body, const float3* v, int n, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    body[i] = make_float4(body[i].x + v[i].x * dt, body[i].y + v[i].y * dt, body[i].z + v[i].z * dt, body[i].w);
}

int main() {
  const int n = 150, steps = 3;
  const float dt = 0.01f;
  Random random(21);
  std::vector<float4> body(n);
  for (auto& b : body) b = make_float4(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1), 1.0f / n);
  std::vector<double> x(3 * n), v(3 * n);
  for (int i = 0; i < n; ++i) x[3 * i] = body[i].x, x[3 * i + 1] = body[i].y, x[3 * i + 2] = body[i].z;
  for (int s = 0; s < steps; ++s) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double d[3], square = kSoft;
        for (int c = 0; c < 3; ++c) d[c] = x[3 * j + c] - x[3 * i + c], square += d[c] * d[c];
        for (int c = 0; c < 3; ++c) v[3 * i + c] += dt * d[c] / n / (square * std::sqrt(square));
      }
    for (int i = 0; i < 3 * n; ++i) x[i] += dt * v[i];
  }
  float4* d_body = to_device(body);
  float3* d_v = to_device(std::vector<float3>(n, make_float3(0, 0, 0)));
  for (int s = 0; s < steps; ++s) {
    accelerate<<<blocks_for(n, kBlock), kBlock>>>(d_body, d_v, n, dt);
    move<<<blocks_for(n, kBlock), kBlock>>>(d_body, d_v, n, dt);
  }
  CUDA_CHECK(cudaGetLastError());
  std::vector<float> got;
  for (const float4& b : to_host(d_body, n)) got.insert(got.end(), {b.x, b.y, b.z});
  expect_close(got, x, 1e-4, "positions");
  CUDA_CHECK(cudaFree(d_body));
  CUDA_CHECK(cudaFree(d_v));
  std::puts("ok");
}
