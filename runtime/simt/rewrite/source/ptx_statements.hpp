// An asm statement of several PTX instructions, with registers, predicates and labels of its own, as C++.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "ptx_instruction.hpp"

namespace ridge::simt {

// One expression, ({ ... }): registers are variables, labels are labels, `@p` is an if. `as_call` translates an
// instruction. Empty where anything in it is not understood.
std::string ptx_statements(std::string_view operands, const std::function<std::string(const PtxInstruction&)>& as_call);

}  // namespace ridge::simt
