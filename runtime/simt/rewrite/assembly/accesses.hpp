// Memory accesses that no hook announces. Compilers call a hook before most accesses; not before those of some types
// (wide vectors), of some instructions, of arguments passed by value, of local arrays. A kernel could do its work with
// these, uncounted. So each access must be one of
//
//   - announced: a hook was called, on the only way here, with the same address and at least as many bytes,
//   - of the function's own frame, at a fixed place,
//   - announced by us: __ridge_check_access (src/hooks/access_check.cpp) counts and checks what is not of the thread's stack.
//
// Addresses are followed as sums of unknowns: a * x + b * y + ... + constant.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frame_pressure.hpp"
#include "simt/rewrite/text/instruction.hpp"

namespace ridge::simt {

// A sum modulo 2^64.
struct Sum {
  std::map<int, std::uint64_t> terms;  // unknown -> factor
  std::uint64_t constant = 0;
};

// An operand in memory: segment:displacement(base, index, scale).
struct MemoryOperand {
  std::string_view text;
  bool thread_local_segment = false;
  std::string_view displacement;  // a number, a symbol, symbol+number
  int base = -1, index = -1;      // registers by number; kRip for the program counter
  unsigned scale = 1;
};

constexpr int kRip = 16, kNoAddress = -2;

class Accesses {
 public:
  void begin_function();
  // Forgets all that is known, since control may come from elsewhere.
  void forget();
  // The lines to write before the instruction; then notes the instruction's effects. `refused` is set where an
  // instruction cannot be checked.
  std::string before(const AssemblyLine& line, const Instruction& i, std::string& refused);
  // The last instruction's accesses to fixed places of the frame, and the frame's bytes so far.
  const std::vector<FrameUse>& frame_uses() const { return frame_uses_; }
  std::int64_t frame_bytes() const { return frame_bytes_; }

 private:
  struct Announced {
    Sum address;
    std::uint64_t bytes;
    bool store;
  };
  struct Use {
    MemoryOperand operand;
    unsigned bytes;
    bool store;
  };

  int fresh() { return unknowns_++; }
  int symbol(std::string_view name);
  static Sum of(int unknown);
  Sum address_of(const MemoryOperand& m);
  bool frame(const Sum& address, unsigned bytes, bool store) const;
  bool announced(const Sum& address, unsigned bytes, bool store) const;
  bool harmless(const Use& use) const;
  std::string check(const MemoryOperand& m, unsigned bytes, bool store, std::string& refused) const;
  std::string strings(std::string_view name, bool repeated) const;
  std::string stack_pointer(const AssemblyLine& line, const std::vector<std::string_view>& operands,
                            std::string& refused);
  void effects(const AssemblyLine& line, const Instruction& i, const std::vector<std::string_view>& operands);
  void call(std::string_view target);
  void stored(const Sum* address, std::uint64_t bytes);
  void kill(int reg) {  // -1: no general register
    if (reg >= 0) registers_[reg] = of(fresh());
  }

  Sum registers_[16];
  std::map<std::int64_t, Sum> slots_;  // quadwords at offsets from stack_
  std::vector<Announced> announced_;
  std::map<std::string, int, std::less<>> symbols_;
  int unknowns_ = 0;
  int stack_ = 0;  // the unknown to which %rsp is relative
  std::int64_t frame_bytes_ = 0;
  std::vector<FrameUse> frame_uses_;
  bool prologue_ = true;
};

}  // namespace ridge::simt
