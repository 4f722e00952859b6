// __device__ and __constant__ variables whose address the program asked for: such pointers count as device memory.
#pragma once
#include <cstddef>

namespace ridge::simt {

void know_symbol(const void* symbol, std::size_t bytes);
bool is_symbol(const void* p);  // whether it points into one of them

}  // namespace ridge::simt
