#include "coalescing.hpp"
#include "@SECRET@"
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t) { }
