// Configurations 32 to 47 of the product.
#include "gemm.hpp"

template bool gemm_of_tile<32>(int, const float*, const float*, float*, const Shape&, cudaStream_t);
