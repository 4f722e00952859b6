// What cuRAND's calls ask of a generator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "curand.h"

struct curandGenerator_st {
  virtual ~curandGenerator_st() = default;
  // Each fills out[0 .. n) and moves on. A generator whose numbers have another width says CURAND_STATUS_TYPE_ERROR.
  virtual curandStatus_t integers(unsigned* out, std::size_t n) = 0;
  virtual curandStatus_t integers(unsigned long long*, std::size_t) { return CURAND_STATUS_TYPE_ERROR; }
  virtual curandStatus_t uniform(float* out, std::size_t n) = 0;   // in (0, 1]
  virtual curandStatus_t uniform(double* out, std::size_t n) = 0;  // in (0, 1]
  virtual curandStatus_t normal(float* out, std::size_t n) = 0;    // mean 0, deviation 1
  virtual curandStatus_t normal(double* out, std::size_t n) = 0;
  virtual curandStatus_t reseed(unsigned long long to) {
    seed = to;
    return CURAND_STATUS_SUCCESS;
  }
  virtual curandStatus_t move_to(unsigned long long number) {
    position = number;
    return CURAND_STATUS_SUCCESS;
  }
  virtual curandStatus_t order(curandOrdering_t) const = 0;
  virtual curandStatus_t dimensions(unsigned) { return CURAND_STATUS_TYPE_ERROR; }
  // Whether n numbers can be asked for: n a multiple of the dimensions, or even where normal numbers come in pairs.
  virtual bool whole(std::size_t n, bool normal) const = 0;
  virtual bool quasi() const { return false; }

  bool host = false;
  cudaStream_t stream = nullptr;
  unsigned long long seed = 0, position = 0;  // in numbers
};

namespace ridge::simt::random {

// MT19937, with a state for each eight of 65536 numbers that lie side by side.
std::unique_ptr<curandGenerator_st> mersenne();

// Sobol's sequences of 32 or 64 bits, plain or scrambled. Returns null in a build without Boost's direction numbers.
std::unique_ptr<curandGenerator_st> sobol(bool wide, bool scrambled);

// Turns uniform numbers into numbers of Poisson's distribution: by an alias table for pseudo-random ones, and by the
// inverse of the distribution, which keeps the order, for quasi-random ones. Below a lambda of 2000 the results equal
// cuRAND's.
curandStatus_t poisson(curandGenerator_st& from, unsigned* out, std::size_t n, double lambda);

}  // namespace ridge::simt::random
