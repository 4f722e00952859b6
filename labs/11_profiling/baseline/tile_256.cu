// Configurations 48 to 63 of the product.
#include "gemm.hpp"

template bool gemm_of_tile<48>(int, const float*, const float*, float*, const Shape&, cudaStream_t);
