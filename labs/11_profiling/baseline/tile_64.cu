// Configurations 16 to 31 of the product.
#include "gemm.hpp"

template bool gemm_of_tile<16>(int, const float*, const float*, float*, const Shape&, cudaStream_t);
