// One instruction of PTX in an asm statement, taken apart.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::simt {

// One operand of an instruction: a register, several in braces, an address in brackets, a number, a special register;
// a tensor's map and coordinates ("[%0, {%1, %2}]"), a pair ("%0|p"), a result that nobody asks for ("_").
struct PtxOperand {
  char kind = 'r';                       // r, {, [, n, s, t, |, _
  std::vector<std::string> expressions;  // the operands' expressions
};

// Registers that an asm statement declares, by name, and what they are called in C++.
using PtxNames = std::map<std::string, std::string, std::less<>>;

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

// The contents of the string literals that a template is made of, joined, with \n as a line's end and \t as a blank.
// None where there is anything else: a macro may be more text.
std::optional<std::string> ptx_template(std::string_view literals);
std::optional<PtxText> ptx_text(std::string_view operands);
std::optional<PtxInstruction> ptx_instruction(std::string code, const std::vector<std::string>& given,
                                              const PtxNames& names = {});
// Of a text without white space; none where it is nothing of these.
std::optional<PtxOperand> ptx_operand(std::string text, const std::vector<std::string>& given, const PtxNames& names);
// Between these characters, where they are outside of literals, parentheses and braces.
std::vector<std::string> ptx_split(std::string_view s, char at);
// The expressions of the operands of an asm statement, from its first colon on; none where one cannot be read.
std::optional<std::vector<std::string>> ptx_given(const std::vector<std::string>& sections);
std::optional<GuardedInstruction> guarded_instruction(const PtxText& text);

// The C++ type of a register of this PTX type; empty for others.
std::string ptx_type(std::string_view name);
std::string kinds(const PtxInstruction& i);  // of the operands: "r[n"
std::string joined(const std::vector<std::string>& words, std::size_t from, std::size_t to);
// The call of a function of ridge_simt with the operands' expressions.
std::string call(const std::string& function, const PtxInstruction& i);

// Arithmetic, moves, loads and stores, atomics, shuffles and barriers: ridge_simt/ptx_common.h. Empty for others.
std::string ptx_common(const PtxInstruction& i);
// Hopper's: barriers in shared memory, bulk copies, wgmma, clusters: ridge_simt/hopper/. Empty for others.
std::string ptx_hopper(const PtxInstruction& i);

}  // namespace ridge::simt
