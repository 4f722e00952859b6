// The inline PTX that the emulator knows: reductions in memory, matrix instructions and what feeds them; the common
// rest is in inline_ptx_common.cpp.
#pragma once
#include <string>
#include <string_view>

namespace ridge::simt {

// Returns the expression to write instead of asm(operands); empty where the emulator has not all of its instructions.
// Functions are those of ridge_simt/atomics.h, ptx.h, ptx_common.h and hopper/.
//   "red.global.add.u64 [%0],%1;" :: "l"(p), "l"(v) : "memory"  ->  ::ridge_simt::red_add<unsigned long long>((p), (v))
std::string ptx_as_call(std::string_view operands);

// asm("" ::: "memory"): it holds the compiler back, and is nothing to run.
bool ptx_is_empty(std::string_view operands);

// Whether it names registers that this processor's compiler does not have.
bool ptx_names_registers(std::string_view operands);

}  // namespace ridge::simt
