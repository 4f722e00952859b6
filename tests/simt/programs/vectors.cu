// Vector types: 16-byte copies, members, an aligned struct, and shared memory of vectors.
#include <vector>

#include "check.hpp"

struct alignas(8) Pair {
  float value;
  int index;
};

__global__ void scale(const float4* in, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = in[i];
  v.x *= 2;
  v.w = v.x + v.y + v.z + v.w;
  out[i] = v;
}

__global__ void reverse(float4* values, double2* doubles, Pair* pairs) {
  __shared__ float4 tile[64];
  int t = threadIdx.x;
  tile[t] = values[t];
  __syncthreads();
  values[t] = tile[63 - t];
  doubles[t] = make_double2(t, -t);
  pairs[t] = Pair{0.5f * t, t};
}

int main() {
  const int n = 64;
  std::vector<float> host(4 * n);
  for (int i = 0; i < 4 * n; ++i) host[i] = static_cast<float>(i);
  float4 *in, *out;
  double2 *doubles, host_doubles[n];
  Pair *pairs, host_pairs[n];
  cudaMalloc(&in, n * sizeof(float4));
  cudaMalloc(&out, n * sizeof(float4));
  cudaMalloc(&doubles, sizeof host_doubles);
  cudaMalloc(&pairs, sizeof host_pairs);
  cudaMemcpy(in, host.data(), n * sizeof(float4), cudaMemcpyHostToDevice);
  scale<<<2, 48>>>(in, out, n);
  reverse<<<1, n>>>(out, doubles, pairs);
  cudaMemcpy(host.data(), out, n * sizeof(float4), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_doubles, doubles, sizeof host_doubles, cudaMemcpyDeviceToHost);
  cudaMemcpy(host_pairs, pairs, sizeof host_pairs, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) {
    const float* v = &host[4 * (n - 1 - i)];
    float x = static_cast<float>(4 * i);
    expect(v[0] == 2 * x && v[1] == x + 1 && v[2] == x + 2, "float4: members");
    expect(v[3] == 2 * x + (x + 1) + (x + 2) + (x + 3), "float4: sum");
    expect(host_doubles[i].x == i && host_doubles[i].y == -i, "double2");
    expect(host_pairs[i].value == 0.5f * i && host_pairs[i].index == i, "an aligned struct");
  }
  cudaFree(in);
  cudaFree(out);
  cudaFree(doubles);
  cudaFree(pairs);
  std::puts("ok");
}
