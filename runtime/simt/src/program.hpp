// What the linked program says of itself: its base address, the records that `ridge cc` left, its variables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "block_record.hpp"

namespace ridge::simt {

struct Segment {
  std::uintptr_t begin, end;
  bool writable;
};

struct Object {
  std::uintptr_t begin, end;
};

struct Program {
  std::uintptr_t base = 0;
  bool graph = false;                                       // the program has block records
  std::vector<Segment> segments;                            // loaded, by address
  std::vector<Object> objects;                              // variables in data segments, sorted by address
  std::vector<Object> shared;                               // __shared__ arrays: offsets in the thread-local segment
  std::size_t static_shared(std::uint64_t function) const;  // bytes that a function's __shared__ arrays take

  bool in_data(std::uintptr_t address) const {  // a variable of the program
    for (const Segment& s : segments)
      if (address >= s.begin && address < s.end) return s.writable;
    return false;
  }

  static const Program& instance();
};

// Name of the variable at `address` (or of the thread-local one at that offset): "tile" or "kernel(float*)::tile", with
// its size. Reads the program's symbol table: for reports only.
struct Variable {
  std::string name;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
};
Variable variable_near(std::uintptr_t address, bool shared);

}  // namespace ridge::simt
