// The linked program's description of itself: its base address, the records that `ridge cc` left, its variables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device/block_record.hpp"
#include "device/fault.hpp"

namespace ridge::simt {

struct Segment {
  std::uintptr_t begin, end;
  bool writable;
};

struct Object {
  std::uintptr_t begin, end;
};

// What a block needs of an SM besides its threads.
struct KernelResources {
  std::size_t static_shared = 0;  // bytes of the __shared__ arrays that the kernel names
  unsigned registers = 0;         // of a thread: an estimate (block_record.hpp); 0 where unknown
};

// An image that was linked for this program and lies in its memory, within 4 GiB behind the program's base.
struct LoadedModule {
  std::uintptr_t base = 0;     // what addresses in the file are counted from
  std::size_t bytes = 0;       // of memory
  const char* file = nullptr;  // the image as a file, an ELF object: kept as long as the program runs
  std::string path;            // where other programs find it
};
const std::vector<LoadedModule>& loaded_modules();

struct Program {
  std::uintptr_t base = 0;
  bool graph = false;                                    // the program has block records
  std::vector<Segment> segments;                         // as loaded, by address
  std::vector<Object> objects;                           // variables in data segments, sorted by address
  std::vector<Object> variables;                         // sections of variables that `ridge cc` compiled
  Object constants{0, 0};                                // tables that the loader has filled and made read-only
  std::vector<std::uintptr_t> entries, pointer_entries;  // functions that a launch may call, sorted
  std::vector<std::uintptr_t> functions;                 // functions that `ridge cc` compiled, sorted
  std::vector<Object> shared;                            // __shared__ arrays: offsets in the thread-local segment
  KernelResources resources(std::uint64_t function) const;

  bool in_data(std::uintptr_t address) const {  // whether it lies in a variable of the program
    for (const Segment& s : segments)
      if (address >= s.begin && address < s.end) return s.writable;
    return false;
  }

  // Whether the address lies in a variable of code that `ridge cc` compiled, or of any code where that is not known.
  bool own(std::uintptr_t address) const {
    if (!graph) return in_data(address);
    for (const Object& v : variables)
      if (address >= v.begin && address < v.end) return true;
    return false;
  }
  // Whether the address lies in a function that `ridge cc` compiled.
  bool own_code(std::uintptr_t address) const;
  // The innermost of these addresses that lies in such a function, or 0.
  std::uint32_t own_caller(const Callers& callers) const;
  // Whether all of these bytes lie in one variable of code that `ridge cc` compiled.
  bool in_variable(std::uintptr_t address, std::size_t bytes) const;

  static const Program& instance();
  // Code that the program has loaded since: all of its kernels are known from here on. No kernel may run meanwhile.
  static void add(const LoadedModule& module);
  static bool counts();  // as `graph`, without reading the rest
};

// True for the functions that a launch enters: those that run a kernel with the arguments in a closure.
bool is_kernel_entry(std::uintptr_t function, const void* closure, std::size_t closure_bytes);

// Name of the variable at `address` (or of the thread-local one at that offset): "tile" or "kernel(float*)::tile", with
// its size. Reads the program's symbol table: for reports only.
struct Variable {
  std::string name;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
};
Variable variable_near(std::uintptr_t address, bool shared);
// The program's name of the kernel at this address ("scale<4>"), for kernels that came as an address alone.
std::string function_name(std::uintptr_t address);
// Where the program's function begins that holds this address; 0 where none does.
std::uintptr_t function_with(std::uintptr_t address);

}  // namespace ridge::simt
