// cuRAND's host API. A generator is P subsequences, which take turns in the output; the numbers and their order are
// those of cuRAND 13 (checked against its generators for the host). A call waits for its stream and fills the memory at
// once.
#include "curand.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "curand_kernel.h"
#include "random/generator.hpp"
#include "sanitize/sanitizer.hpp"
#include "stream/device_log.hpp"

namespace {

constexpr double kMostLambda = 1e8;  // the tables of larger ones take too long

// The generation of a group of numbers, which stay together in the output, by one state.
struct Integers {
  template <class S>
  static void make(S& s, unsigned* out) {
    *out = curand(&s);
  }
  static void make(curandStatePhilox4_32_10_t& s, unsigned* out) {
    const uint4 v = curand4(&s);
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
  }
};
struct Uniform {
  template <class S>
  static void make(S& s, float* out) {
    *out = curand_uniform(&s);
  }
  static void make(curandStatePhilox4_32_10_t& s, float* out) {
    const float4 v = curand_uniform4(&s);
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
  }
  template <class S>
  static void make(S& s, double* out) {
    *out = curand_uniform_double(&s);
  }
  static void make(curandStatePhilox4_32_10_t& s, double* out) {
    for (int i = 0; i < 4; i += 2) {
      const double2 v = curand_uniform2_double(&s);
      out[i] = v.x, out[i + 1] = v.y;
    }
  }
};
struct Normal {
  template <class S>
  static void make(S& s, float* out) {
    const float2 v = curand_normal2(&s);
    out[0] = v.x, out[1] = v.y;
  }
  static void make(curandStatePhilox4_32_10_t& s, float* out) {
    const float4 v = curand_normal4(&s);
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
  }
  template <class S>
  static void make(S& s, double* out) {
    const double2 v = curand_normal2_double(&s);
    out[0] = v.x, out[1] = v.y;
  }
  static void make(curandStatePhilox4_32_10_t& s, double* out) {
    for (int i = 0; i < 4; i += 2) {
      const double2 v = curand_normal2_double(&s);
      out[i] = v.x, out[i + 1] = v.y;
    }
  }
};

template <class S>
void jump(S& s, unsigned long long draws) {
  skipahead(draws, &s);
}

// `kStates` states; kWide numbers of Philox come together.
template <class S, unsigned kStates, unsigned kWide>
class Generator : public curandGenerator_st {
 public:
  curandStatus_t integers(unsigned* out, std::size_t n) override { return fill<Integers, kWide, kWide>(out, n); }
  curandStatus_t uniform(float* out, std::size_t n) override { return fill<Uniform, kWide, kWide>(out, n); }
  curandStatus_t uniform(double* out, std::size_t n) override {
    return fill<Uniform, kWide, kWide*(kMrg ? 1 : 2)>(out, n);
  }
  curandStatus_t normal(float* out, std::size_t n) override {
    return fill<Normal, (kWide == 1 ? 2 : 4), (kWide == 1 ? 2 : 4)>(out, n);
  }
  curandStatus_t normal(double* out, std::size_t n) override {
    return fill<Normal, (kWide == 1 ? 2 : 4), (kWide == 1 ? 2 : 4) * (kMrg ? 1 : 2)>(out, n);
  }

  curandStatus_t order(curandOrdering_t order) const override {
    return order == CURAND_ORDERING_PSEUDO_BEST || order == CURAND_ORDERING_PSEUDO_DEFAULT ||
                   order == CURAND_ORDERING_PSEUDO_LEGACY
               ? CURAND_STATUS_SUCCESS
               : CURAND_STATUS_OUT_OF_RANGE;
  }
  bool whole(std::size_t n, bool normal) const override { return !normal || n % 2 == 0; }

 private:
  static constexpr bool kMrg = kStates == 81920;

  // Groups of kGroup numbers, for which a state draws kDraws.
  template <class Kind, unsigned kGroup, unsigned kDraws, class T>
  curandStatus_t fill(T* out, std::size_t n) {
    const unsigned long long end = position + n;
    const unsigned long long first = position / kGroup, last = (end + kGroup - 1) / kGroup;  // groups
    for (unsigned long long s = 0; s < kStates && first + s < last; ++s) {
      const unsigned long long begin = first + s, which = begin % kStates;
      S state;
      curand_init(seed, which, 0, &state);
      jump(state, begin / kStates * kDraws);
      for (unsigned long long g = begin; g < last; g += kStates) {
        T made[4];
        Kind::make(state, made);
        for (unsigned i = 0; i < kGroup; ++i) {
          const unsigned long long at = g * kGroup + i;
          if (at >= position && at < end) out[at - position] = made[i];
        }
      }
    }
    position = end;
    return CURAND_STATUS_SUCCESS;
  }
};

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type, bool host) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
      *generator = new Generator<curandStateXORWOW_t, 4096, 1>;
      break;
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      *generator = new Generator<curandStatePhilox4_32_10_t, 65536, 4>;
      break;
    case CURAND_RNG_PSEUDO_MRG32K3A:
      *generator = new Generator<curandStateMRG32k3a_t, 81920, 1>;
      break;
    case CURAND_RNG_PSEUDO_MT19937:
      *generator = ridge::simt::random::mersenne().release();
      break;
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      *generator = ridge::simt::random::sobol(
                       type == CURAND_RNG_QUASI_SOBOL64 || type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64,
                       type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 || type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64)
                       .release();
      if (*generator != nullptr) break;
      std::fputs("ridge: cuRAND: Sobol's sequences need Boost's headers (libboost-dev) where Ridge is built\n", stderr);
      return CURAND_STATUS_TYPE_ERROR;
    default:
      std::fprintf(stderr,
                   "ridge: cuRAND of the emulator has XORWOW, Philox, MRG32k3a, MT19937 and Sobol's sequences, not "
                   "generator %d\n",
                   static_cast<int>(type));
      return CURAND_STATUS_TYPE_ERROR;
  }
  (*generator)->host = host;
  return CURAND_STATUS_SUCCESS;
}

template <class T, class Fill>
curandStatus_t generate(curandGenerator_t g, T* out, std::size_t n, bool normal, Fill fill) {
  if (g == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (!g->whole(n, normal)) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  if (n == 0) return CURAND_STATUS_SUCCESS;
  if (g->host) return fill(out);
  cudaPointerAttributes where{};
  if (cudaPointerGetAttributes(&where, out) != cudaSuccess) return CURAND_STATUS_PREEXISTING_FAILURE;
  if (where.type == cudaMemoryTypeUnregistered) {
    std::fputs("ridge: cuRAND: the output is not device memory; curandCreateGeneratorHost fills that of the host\n",
               stderr);
    return CURAND_STATUS_LAUNCH_FAILURE;
  }
  if (cudaStreamSynchronize(g->stream) != cudaSuccess) return CURAND_STATUS_LAUNCH_FAILURE;
  ridge::simt::Trace::unsupported("a call of cuRAND");
  const curandStatus_t status = fill(out);
  if (status != CURAND_STATUS_SUCCESS) return status;
  ridge::simt::Sanitizer::written(reinterpret_cast<std::uintptr_t>(out), n * sizeof(T));
  return CURAND_STATUS_SUCCESS;
}

template <class T>
curandStatus_t normals(curandGenerator_t g, T* out, std::size_t n, T mean, T deviation, bool logarithmic) {
  return generate(g, out, n, true, [&](T* to) {
    if (const curandStatus_t status = g->normal(to, n); status != CURAND_STATUS_SUCCESS) return status;
    for (std::size_t i = 0; i < n; ++i) {
      to[i] = mean + deviation * to[i];
      if (logarithmic) to[i] = std::exp(to[i]);
    }
    return CURAND_STATUS_SUCCESS;
  });
}

}  // namespace

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return create(generator, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return create(generator, type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetVersion(int* version) {
  if (version == nullptr) return CURAND_STATUS_OUT_OF_RANGE;
  *version = 10400;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr) return CURAND_STATUS_OUT_OF_RANGE;
  *value = type == MAJOR_VERSION ? 10 : type == MINOR_VERSION ? 4 : 0;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
// A new seed does not move the position.
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  return generator->reseed(seed);
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  return generator->move_to(offset);
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  return generator->order(order);
}
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned dimensions) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  return generator->dimensions(dimensions);
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return generator == nullptr ? CURAND_STATUS_NOT_INITIALIZED : CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGenerate(curandGenerator_t g, unsigned* output, size_t n) {
  return generate(g, output, n, false, [&](unsigned* out) { return g->integers(out, n); });
}
curandStatus_t curandGenerateLongLong(curandGenerator_t g, unsigned long long* output, size_t n) {
  return generate(g, output, n, false, [&](unsigned long long* out) { return g->integers(out, n); });
}
curandStatus_t curandGeneratePoisson(curandGenerator_t g, unsigned* output, size_t n, double lambda) {
  if (!(lambda > 0 && lambda <= kMostLambda)) return CURAND_STATUS_OUT_OF_RANGE;
  return generate(g, output, n, false, [&](unsigned* out) { return ridge::simt::random::poisson(*g, out, n, lambda); });
}
curandStatus_t curandGenerateUniform(curandGenerator_t g, float* output, size_t n) {
  return generate(g, output, n, false, [&](float* out) { return g->uniform(out, n); });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double* output, size_t n) {
  return generate(g, output, n, false, [&](double* out) { return g->uniform(out, n); });
}
curandStatus_t curandGenerateNormal(curandGenerator_t g, float* output, size_t n, float mean, float stddev) {
  return normals(g, output, n, mean, stddev, false);
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double* output, size_t n, double mean, double stddev) {
  return normals(g, output, n, mean, stddev, false);
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t g, float* output, size_t n, float mean, float stddev) {
  return normals(g, output, n, mean, stddev, true);
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t g, double* output, size_t n, double mean,
                                             double stddev) {
  return normals(g, output, n, mean, stddev, true);
}
}
