#pragma once
#include <cuda_runtime.h>
inline unsigned blocks_for(std::size_t n) { return static_cast<unsigned>((n + 255) / 256); }
