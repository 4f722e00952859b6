#include "coalescing.hpp"
#include <cstdio>
#include "lab/call.hpp"
bool ridge_entry(const ridge_call& c) {
  std::puts("own entry @MARKER@");
  copy(static_cast<const float*>(c.in[0]), static_cast<float*>(c.out[0]), static_cast<std::size_t>(c.size[0]), nullptr, 0,
       c.stream);
  return true;
}
