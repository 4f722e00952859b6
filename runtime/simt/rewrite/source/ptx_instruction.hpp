// One instruction of PTX in an asm statement, taken apart.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::simt {

// One operand of an instruction: a register, several in braces, an address in brackets, a number, a special register.
struct PtxOperand {
  char kind = 'r';                       // r, {, [, n, s
  std::vector<std::string> expressions;  // the operands' expressions
};

struct PtxInstruction {
  std::vector<std::string> words;  // "red.global.add.u64" in four
  std::vector<PtxOperand> operands;
};

// The text of an asm statement without white space, and the expressions of its operands.
struct PtxText {
  std::string code;
  std::vector<std::string> given;
};

// {.reg .pred p; setp.ne.b32 p, condition, 0; @p instruction;}
struct GuardedInstruction {
  std::string condition;
  PtxInstruction instruction;
};

std::optional<PtxText> ptx_text(std::string_view operands);
std::optional<PtxInstruction> ptx_instruction(std::string code, const std::vector<std::string>& given);
std::optional<GuardedInstruction> guarded_instruction(const PtxText& text);

std::string kinds(const PtxInstruction& i);  // of the operands: "r[n"
std::string joined(const std::vector<std::string>& words, std::size_t from, std::size_t to);
// The call of a function of ridge_simt with the operands' expressions.
std::string call(const std::string& function, const PtxInstruction& i);

// Arithmetic, moves, loads and stores, atomics, shuffles and barriers: ridge_simt/ptx_common.h. Empty for others.
std::string ptx_common(const PtxInstruction& i);

}  // namespace ridge::simt
