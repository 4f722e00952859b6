#include "coalescing.hpp"
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t) { (void)in, (void)out, (void)n; }
