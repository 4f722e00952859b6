// The inline PTX that the emulator knows: reductions in memory, matrix instructions and what feeds them.
#pragma once
#include <string>
#include <string_view>

namespace ridge::simt {

// Returns the expression to write instead of asm(operands), which is one instruction; empty where the emulator has
// none. Functions are those of ridge_simt/atomics.h and ridge_simt/ptx.h.
//   "red.global.add.u64 [%0],%1;" :: "l"(p), "l"(v) : "memory"  ->  ::ridge_simt::red_add<unsigned long long>((p), (v))
std::string ptx_as_call(std::string_view operands);

}  // namespace ridge::simt
