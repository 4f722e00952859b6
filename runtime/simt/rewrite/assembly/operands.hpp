// Operands of x86-64 instructions in AT&T syntax: registers, memory, and the bytes of it that an instruction touches.
#pragma once
#include <string_view>
#include <vector>

#include "accesses.hpp"
#include "simt/rewrite/text/lexer.hpp"

namespace ridge::simt {

constexpr int kRax = 0, kRcx = 1, kRdx = 2, kRbx = 3, kRsp = 4, kRbp = 5, kRsi = 6, kRdi = 7;

struct Register {
  int number = -1;  // a general register's number; -1: another register or none
  unsigned bytes = 0;
};
Register general_register(std::string_view operand);

std::vector<std::string_view> operands_of(std::string_view text);

// False where the operand is no memory.
bool parse_memory(std::string_view operand, MemoryOperand& out);

// Bytes at a memory operand: at least as many as the instruction touches.
unsigned access_bytes(std::string_view name, const std::vector<std::string_view>& operands);
// Whether the instruction writes to its operand in memory, which is the operand `at`.
bool writes_memory(std::string_view name, std::size_t at, std::size_t operands);

}  // namespace ridge::simt
