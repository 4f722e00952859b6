// Prices of options by the formula, and of one of them by simulated paths with Philox: the two agree.
#include <curand_kernel.h>

#include "../sample.hpp"

struct Option {
  float spot, strike, years;
};
constexpr float kRate = 0.03f, kVolatility = 0.25f;

__host__ __device__ inline float price(const Option& o) {
  const float s = kVolatility * sqrtf(o.years);
  const float d1 = (logf(o.spot / o.strike) + (kRate + 0.5f * kVolatility * kVolatility) * o.years) / s, d2 = d1 - s;
  auto below = [](float d) { return 0.5f * erfcf(-d * 0.70710678f); };
  return o.spot * below(d1) - o.strike * expf(-kRate * o.years) * below(d2);
}

__global__ void prices(const Option* options, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = price(options[i]);
}

__global__ void simulate(Option o, int paths, double* sum, double* squares) {
  curandStatePhilox4_32_10_t state;
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(99ull, id, 0, &state);
  const float drift = (kRate - 0.5f * kVolatility * kVolatility) * o.years, s = kVolatility * sqrtf(o.years);
  double own = 0, square = 0;
  for (int i = 0; i < paths; i += 4) {
    const float4 z = curand_normal4(&state);
    for (float w : {z.x, z.y, z.z, z.w}) {
      const float gain = fmaxf(o.spot * expf(drift + s * w) - o.strike, 0.0f) * expf(-kRate * o.years);
      own += gain, square += double(gain) * gain;
    }
  }
  atomicAdd(sum, own);
  atomicAdd(squares, square);
}

int main() {
  const int n = 1000;
  Random random(77);
  std::vector<Option> options(n);
  std::vector<float> want;
  for (Option& o : options) {
    o = {random.uniform(10, 100), random.uniform(10, 100), random.uniform(0.2f, 4)};
    want.push_back(price(o));
  }
  Option* d_options = to_device(options);
  float* d_out = device_array<float>(n);
  prices<<<blocks_for(n, 128), 128>>>(d_options, d_out, n);
  CUDA_CHECK(cudaGetLastError());
  expect_close(to_host(d_out, n), want, 1e-3, "prices");

  const Option at_the_money = {50, 50, 1};
  const int blocks = 4, threads = 64, paths = 64;
  double* sums = to_device(std::vector<double>{0, 0});
  simulate<<<blocks, threads>>>(at_the_money, paths, sums, sums + 1);
  const std::vector<double> got = to_host(sums, 2);
  const double count = double(blocks) * threads * paths, mean = got[0] / count;
  const double error = std::sqrt((got[1] / count - mean * mean) / count);
  expect(std::fabs(mean - price(at_the_money)) < 4 * error, "simulated price");
  for (void* p : {(void*)d_options, (void*)d_out, (void*)sums}) CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
