// What an instruction means for loads in flight: which values it reads and writes, and whether it loads from memory or
// makes a thread wait for what was loaded.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "accesses.hpp"
#include "frame_pressure.hpp"
#include "simt/rewrite/text/instruction.hpp"

namespace ridge::simt {

// A set of places that hold values, a bit each: 16 general registers by number, 16 vector registers, and these.
using Places = std::uint64_t;
constexpr int kVectorPlace = 16, kFlagsPlace = 32, kArrayPlace = 33, kOperandPlace = 34, kCopyPlace = 35,
              kRegisterPlaces = 36;
// kArrayPlace: the frame's bytes that instructions reach through an index. kOperandPlace: what an instruction read from
// memory before it computed. kCopyPlace: bytes that are copied to shared memory without a register.

struct LoadStep {
  enum class Kind : char {
    move,    // hands a value on: nothing waits
    use,     // needs its operands: waits until they are there
    load,    // from memory, through `address`
    store,   // to memory, through `address`
    branch,  // goes on where its operands say
    fence    // a barrier, or a function that may hold one: no load moves across
  };
  Kind kind = Kind::move;
  Places reads = 0, writes = 0, address = 0;
  FrameUse frame;        // bytes of the frame that it reads (load) or writes (store)
  bool pointer = false;  // writes an address of shared memory or of the frame
  bool perhaps = false;  // runs on some ways through the block only: what it writes to may keep its value
};

// Follows the lines of a function in their order.
class LoadSteps {
 public:
  // The steps of one instruction, whose accesses to fixed bytes of the frame are `frame`.
  std::vector<LoadStep> of(const AssemblyLine& line, const Instruction& i, const std::vector<FrameUse>& frame,
                           bool own_function);

 private:
  LoadStep call(std::string_view target, bool own_function);

  Places arguments_ = 0;  // registers for arguments that were written since the last call
};

}  // namespace ridge::simt
