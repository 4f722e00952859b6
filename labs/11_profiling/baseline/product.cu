// Task `autotune`: the product that the judge times.
#include "gemm.hpp"
#include "lab/call.hpp"

// In the files of the tiles.
extern template bool gemm_of_tile<0>(int, const float*, const float*, float*, const Shape&, cudaStream_t);
extern template bool gemm_of_tile<16>(int, const float*, const float*, float*, const Shape&, cudaStream_t);
extern template bool gemm_of_tile<32>(int, const float*, const float*, float*, const Shape&, cudaStream_t);
extern template bool gemm_of_tile<48>(int, const float*, const float*, float*, const Shape&, cudaStream_t);

namespace {

// in: a (m, k), b (k, n); out: c (m, n). Sizes: m, n, k, configuration.
bool timed_product(const ridge_call& c) {
  const Shape s{static_cast<int>(c.size[0]), static_cast<int>(c.size[1]), static_cast<int>(c.size[2])};
  const int config = static_cast<int>(c.size[3]);
  const auto *a = static_cast<const float*>(c.in[0]), *b = static_cast<const float*>(c.in[1]);
  auto* const out = static_cast<float*>(c.out[0]);
  switch (config / 16) {
    case 0:
      return gemm_of_tile<0>(config, a, b, out, s, c.stream);
    case 1:
      return gemm_of_tile<16>(config, a, b, out, s, c.stream);
    case 2:
      return gemm_of_tile<32>(config, a, b, out, s, c.stream);
    default:
      return gemm_of_tile<48>(config, a, b, out, s, c.stream);
  }
}

}  // namespace

extern bool (*product)(const ridge_call& call);  // in entry.cu
[[maybe_unused]] static const bool set = (product = timed_product, true);
