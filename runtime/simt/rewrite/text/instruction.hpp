// One line of x86-64 assembly text (AT&T syntax, from GCC or Clang), and an instruction's effect on control flow.
#pragma once
#include <string>
#include <string_view>

#include "lexer.hpp"

namespace ridge::simt {

struct AssemblyLine {
  enum class Kind : char { empty, label, directive, instruction };
  Kind kind = Kind::empty;
  std::string_view name;      // label without its colon, directive with its dot, mnemonic
  std::string_view operands;  // no trailing comment
  bool repeated = false;      // behind the prefix rep
};

AssemblyLine parse_line(std::string_view line);

// The next of several operands or directive arguments: commas inside parentheses and quotes do not separate.
std::string_view next_argument(std::string_view& rest);

enum class Flow : char {
  next,         // goes on to the following instruction
  jump,         // goes on at `target`
  conditional,  // goes on at `target` or at the following instruction
  indirect,     // goes on at an address in a register or in memory
  call,         // calls `target`, which is empty where it is not known
  end           // returns, or never comes back
};

struct Instruction {
  Flow flow = Flow::next;
  std::string_view target;  // @PLT is left out
  int fp32 = 0, fp64 = 0, special = 0;
  bool bookkeeping = false;  // moves to and from the stack, the frame, returns: nothing that a GPU would issue
  bool sets_first_argument = false;
};

Instruction parse_instruction(const AssemblyLine& line);

}  // namespace ridge::simt
