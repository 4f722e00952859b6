// The inline PTX that has a CUDA function of the same effect.
#pragma once
#include <string>
#include <string_view>

namespace ridge::simt {

// `operands` is what asm(...) has in its parentheses. The expression to write instead; empty: the emulator has none.
//   "red.global.add.u64 [%0],%1;" :: "l"(p), "l"(v) : "memory"  ->  ::ridge_simt::red_add<unsigned long long>((p), (v))
std::string ptx_as_call(std::string_view operands);

}  // namespace ridge::simt
