// Compiled without floating-point registers: most accesses that no hook announced are settled here, before any of these
// registers need saving (access_check.cpp).
#include <cstdint>

#include "block/block.hpp"

namespace ridge::simt {

extern __thread BlockRunner* tls_runner;

}  // namespace ridge::simt

#pragma GCC diagnostic ignored "-Wmissing-declarations"
// `code`: the bytes, and 256 for a store. True outside of kernels, too.
extern "C" bool ridge_access_is_settled(std::uintptr_t address, std::uint64_t code) {
  const ridge::simt::BlockRunner* r = ridge::simt::tls_runner;
  return r == nullptr || !r->in_kernel() || r->settled(address, code & 255, (code & 256) != 0);
}
