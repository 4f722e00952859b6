// One basic block of instrumented code, as `ridge cc` describes it in the program's section `ridge_blocks` (written by
// rewrite/assembly/assembly.cpp; both must agree). A call of __ridge_block with the block's record runs at its start.
#pragma once
#include <cstdint>

namespace ridge::simt {

// Loops are the components of the weak topological order of a function's flow graph (F. Bourdoncle, "Efficient chaotic
// iteration strategies with widenings", 1993): a component is entered through its head in reducible code.
struct BlockRecord {
  std::uint64_t function;    // address of the function's first instruction
  const BlockRecord* loop;   // head of the innermost loop around the block (a head's own); null where there is none
  const BlockRecord* outer;  // a head's: head of the next loop outside; null where there is none
  std::uint32_t position;    // place in the weak topological order of its function, from 0
  std::uint16_t depth;       // number of loops around it, a head's own included
  std::uint16_t entry;       // 1: the function's first block
  // Static instruction mix of the block, without the instrumentation.
  std::uint16_t instructions;
  std::uint16_t fp32;  // additions, multiplications, ... in single precision; a fused multiply-add is two
  std::uint16_t fp64;
  std::uint16_t special;  // divisions, square roots
  std::uint64_t address;  // the block's first instruction
  // The part of the function's frame that would be local memory on a GPU, in 1/256: where n bytes of it are live at
  // once, all but kRegisterBytes (rewrite/assembly/assembly.hpp) in n. Then that part of its accesses of 4 bytes
  // to fixed places of the frame.
  std::uint32_t local_share;
  std::uint16_t registers;  // of a thread that enters the function: an estimate
  std::uint16_t
      load_waits;  // how often a run of the block waits for loads from memory (rewrite/assembly/load_waits.hpp)
  std::uint32_t local_loads, local_stores;
};
static_assert(sizeof(BlockRecord) == 64);

// One __shared__ array that a function names, in the section `ridge_shared`.
struct SharedRecord {
  std::uint64_t function;  // address of the function's first instruction
  std::uint64_t bytes;
};

}  // namespace ridge::simt
