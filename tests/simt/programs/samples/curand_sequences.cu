// The first numbers of cuRAND's sequences, in kernels and from the host's generators: known values, and one against the other.
// link: -lcurand
#include <curand.h>
#include <curand_kernel.h>

#include "../sample.hpp"

template <class State>
__global__ void draw(unsigned* out, unsigned long long sequence, unsigned long long offset) {
  State state;
  curand_init(1234ull, sequence, offset, &state);
  for (int i = 0; i < 4; ++i) out[i] = curand(&state);
}

template <class State>
__global__ void normals(float* out) {
  State state;
  curand_init(1234ull, threadIdx.x, 0, &state);
  const float2 pair = curand_normal2(&state);
  out[2 * threadIdx.x] = pair.x, out[2 * threadIdx.x + 1] = pair.y;
}

#define CURAND_CHECK(call) expect((call) == CURAND_STATUS_SUCCESS, #call)

template <class State>
void compare(curandRngType_t type, const std::vector<unsigned>& first, bool grouped) {
  unsigned* d = device_array<unsigned>(4);
  draw<State><<<1, 1>>>(d, 0, 0);
  expect_equal(to_host(d, 4), first, "numbers of sequence 0");

  curandGenerator_t generator;
  CURAND_CHECK(curandCreateGenerator(&generator, type));
  CURAND_CHECK(curandSetPseudoRandomGeneratorSeed(generator, 1234ull));
  unsigned* many = device_array<unsigned>(1024);
  CURAND_CHECK(curandGenerate(generator, many, 1024));
  const std::vector<unsigned> got = to_host(many, 1024);
  // Sequence 5 begins at its own place: numbers of Philox come in fours, others one by one.
  draw<State><<<1, 1>>>(d, 5, 0);
  expect(to_host(d, 1)[0] == got[grouped ? 20 : 5], "sequence 5");
  CURAND_CHECK(curandDestroyGenerator(generator));

  CURAND_CHECK(curandCreateGenerator(&generator, type));
  CURAND_CHECK(curandSetPseudoRandomGeneratorSeed(generator, 1234ull));
  float* numbers = device_array<float>(256);
  CURAND_CHECK(curandGenerateNormal(generator, numbers, 256, 0.0f, 1.0f));
  const std::vector<float> from_host = to_host(numbers, 256);
  normals<State><<<1, 32>>>(numbers);
  const std::vector<float> from_kernel = to_host(numbers, 64);
  for (int t = 0; t < 32; ++t)
    expect(std::fabs(from_kernel[2 * t] - from_host[grouped ? 4 * t : 2 * t]) < 1e-4f, "normal numbers");
  CURAND_CHECK(curandDestroyGenerator(generator));
  CUDA_CHECK(cudaFree(d));
  CUDA_CHECK(cudaFree(many));
  CUDA_CHECK(cudaFree(numbers));
}

int main() {
  compare<curandStateXORWOW_t>(CURAND_RNG_PSEUDO_XORWOW, {624778773u, 1867875844u, 3739671282u, 1954919316u}, false);
  compare<curandStatePhilox4_32_10_t>(CURAND_RNG_PSEUDO_PHILOX4_32_10,
                                      {546353992u, 3665621163u, 1140953199u, 3419031310u}, true);
  std::puts("ok");
}
