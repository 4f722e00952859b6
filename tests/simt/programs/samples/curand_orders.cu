// cuRAND's host generators MT19937 and Sobol, and Poisson's distribution: values that cuRAND 13's generators for the host gave,
// and moments for what has no such values.
// link: -lcurand
#include <curand.h>

#include "../sample.hpp"

#define CURAND_CHECK(call) expect((call) == CURAND_STATUS_SUCCESS, #call)

curandGenerator_t create(curandRngType_t type, unsigned long long seed_or_offset, unsigned dimensions = 0) {
  curandGenerator_t generator;
  CURAND_CHECK(curandCreateGenerator(&generator, type));
  if (dimensions == 0) {
    CURAND_CHECK(curandSetPseudoRandomGeneratorSeed(generator, seed_or_offset));
  } else {
    CURAND_CHECK(curandSetQuasiRandomGeneratorDimensions(generator, dimensions));
    CURAND_CHECK(curandSetGeneratorOffset(generator, seed_or_offset));
    CURAND_CHECK(curandSetGeneratorOrdering(generator, CURAND_ORDERING_QUASI_DEFAULT));
  }
  return generator;
}

std::vector<unsigned> integers(curandGenerator_t generator, std::size_t n) {
  unsigned* d = device_array<unsigned>(n);
  CURAND_CHECK(curandGenerate(generator, d, n));
  std::vector<unsigned> got = to_host(d, n);
  CUDA_CHECK(cudaFree(d));
  return got;
}

std::vector<unsigned> poisson(curandGenerator_t generator, std::size_t n, double lambda) {
  unsigned* d = device_array<unsigned>(n);
  CURAND_CHECK(curandGeneratePoisson(generator, d, n, lambda));
  std::vector<unsigned> got = to_host(d, n);
  CUDA_CHECK(cudaFree(d));
  return got;
}

void mersenne() {
  curandGenerator_t generator = create(CURAND_RNG_PSEUDO_MT19937, 1234);
  // Numbers 0 to 7 are the first state's; number 8 comes from the second state.
  const std::vector<unsigned> first = {822569775u,  292421642u,  643530888u, 2825097111u, 2548682254u,
                                       3260559120u, 2829840067u, 468897343u, 1864832060u};
  expect_equal(integers(generator, first.size()), first, "MT19937");
  expect_equal(integers(generator, 2), std::vector<unsigned>{582314992u, 2830178464u}, "the next two");
  expect(curandSetGeneratorOffset(generator, 5) == CURAND_STATUS_TYPE_ERROR, "no offset");
  CURAND_CHECK(curandSetPseudoRandomGeneratorSeed(generator, 77));
  expect_equal(integers(generator, 2), std::vector<unsigned>{3947543255u, 3402266982u}, "another seed begins anew");
  CURAND_CHECK(curandSetPseudoRandomGeneratorSeed(generator, 77));
  expect_equal(integers(generator, 2), std::vector<unsigned>{256498786u, 2408249674u}, "the same seed goes on");
  CURAND_CHECK(curandDestroyGenerator(generator));
  expect_equal(poisson(create(CURAND_RNG_PSEUDO_MT19937, 1234), 8, 10.0),
               std::vector<unsigned>{13, 17, 14, 9, 9, 8, 9, 15}, "Poisson of MT19937");
}

void sobol() {
  curandGenerator_t generator = create(CURAND_RNG_QUASI_SOBOL32, 1000, 3);
  expect_equal(integers(generator, 12),
               std::vector<unsigned>{943718400u, 3091202048u, 4164943872u, 2017460224u, 415236096u, 2562719744u,
                                     1488977920u, 3636461568u, 2227175424u, 79691776u, 3300917248u, 1153433600u},
               "Sobol in three dimensions");
  unsigned* d = device_array<unsigned>(7);
  expect(curandGenerate(generator, d, 7) == CURAND_STATUS_LENGTH_NOT_MULTIPLE, "7 numbers of three dimensions");
  expect(curandSetQuasiRandomGeneratorDimensions(generator, 0) == CURAND_STATUS_OUT_OF_RANGE, "no dimension");
  CUDA_CHECK(cudaFree(d));

  generator = create(CURAND_RNG_QUASI_SOBOL64, 1000, 2);
  auto* wide = device_array<unsigned long long>(6);
  CURAND_CHECK(curandGenerateLongLong(generator, wide, 6));
  expect_equal(to_host(wide, 6),
               std::vector<unsigned long long>{4053239664633446400u, 13276611701488222208u, 17888297719915610112u,
                                               1783425452438716416u, 11006797489293492224u, 6395111470866104320u},
               "Sobol of 64 bits");
  CUDA_CHECK(cudaFree(wide));
  expect_equal(poisson(create(CURAND_RNG_QUASI_SOBOL32, 1000, 1), 8, 10.0),
               std::vector<unsigned>{7, 12, 16, 10, 9, 13, 11, 6}, "Poisson of Sobol");
}

// 1024 points of a scrambled sequence: one in each of 1024 equal parts of a coordinate.
void scrambled() {
  for (const unsigned x : integers(create(CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, 0, 1), 3)) expect(x != 0, "a shift");
  const std::vector<unsigned> got = integers(create(CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, 0, 2), 2048);
  for (int dimension = 0; dimension < 2; ++dimension) {
    std::vector<int> hits(1024);
    for (int i = 0; i < 1024; ++i) ++hits[got[dimension * 1024 + i] >> 22];
    expect_equal(hits, std::vector<int>(1024, 1), "scrambled points");
  }
}

// The mean and the variance of Poisson's distribution are both lambda; cuRAND makes it with tables below 2000.
void moments(curandRngType_t type, double lambda) {
  constexpr int kCount = 20001;
  double sum = 0, squares = 0;
  for (const unsigned k : poisson(create(type, 77), kCount, lambda)) sum += k, squares += (k - lambda) * (k - lambda);
  const double deviation = std::sqrt(lambda / kCount);
  expect(std::fabs(sum / kCount - lambda) < 5 * deviation, "Poisson's mean");
  expect(std::fabs(squares / kCount / lambda - 1) < 5 * std::sqrt((2 + 1 / lambda) / kCount), "Poisson's variance");
}

int main() {
  mersenne();
  sobol();
  scrambled();
  moments(CURAND_RNG_PSEUDO_XORWOW, 0.3);
  moments(CURAND_RNG_PSEUDO_PHILOX4_32_10, 47.5);
  moments(CURAND_RNG_PSEUDO_MRG32K3A, 2345.6);
  std::puts("ok");
}
