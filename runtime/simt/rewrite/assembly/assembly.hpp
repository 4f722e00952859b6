// The counting build's additions to a program, between the compiler and the assembler. The compiler calls
// __sanitizer_cov_trace_pc in every basic block; the assembly text shows the flow graph around these calls as it will
// run, which no later stage knows any more. The text gains
//
//   - a call of __ridge_block with a record for every such call, the record holding the block's place in the loops of
//     its function and its mix of instructions (src/device/block_record.hpp has the records' layout),
//   - the sizes of the __shared__ arrays that a function names,
//   - how many registers a thread would take on a GPU, and how many accesses to a large frame would be of local memory,
//   - unused bytes behind every variable, so that an index past its end does not hit the next one,
//   - calls of __tsan_memcpy and its kin where the compiler left copies as calls,
//   - in a judged worker, static initialisers in a section ridge_init instead of .init_array, so that the worker's main
//     decides whether they run (runtime/worker/initialisers.hpp),
//   - which loads and stores are of members of a vector type (vector_members.hpp) or of the source's own aligned types
//     (aligned_types.hpp),
//   - checks of the memory accesses that no hook announces (accesses.hpp).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aligned_types.hpp"
#include "simt/rewrite/policy/policy.hpp"
#include "vector_members.hpp"

namespace ridge::simt {

// A function with more static shared memory than a GPU gives to a block.
struct SharedExcess {
  std::string function;  // mangled
  std::string file;      // the debug information's name; empty where there is none
  int line = 0;
  std::uint64_t bytes = 0;
};

struct AnnotatedAssembly {
  std::string text;
  std::vector<SharedExcess> excesses;
  std::vector<Violation> unchecked;  // instructions whose accesses cannot be checked
  std::uint64_t constant_bytes = 0;  // of __constant__ variables
};

constexpr std::uint64_t kStaticSharedMax = 48 << 10;
constexpr std::uint64_t kConstantMax = 64 << 10;  // of a source file's __constant__ variables, as with nvcc
// Registers that nvcc would give a thread: kFixedRegisters + live bytes of the frame / kBytesOfRegister, fitted to the
// kernels of the reference solutions with nvcc 13.0 (benchmarks/simt/registers.md). Where more than kRegisterBytes are
// live, a thread has too few.
constexpr std::int64_t kFixedRegisters = 12, kBytesOfRegister = 5, kMostRegisters = 255;
constexpr std::int64_t kRegisterBytes = (kMostRegisters - kFixedRegisters) * kBytesOfRegister;
constexpr int kRedZone = 256;  // bytes behind a variable; keeps the next one in its bank of shared memory

struct AnnotateOptions {
  bool worker = false;   // the program's main is the worker's, which runs the initialisers
  bool checked = false;  // accesses that no hook announces are checked
  bool closed = true;    // kernels may not call functions of other objects that were compiled without hooks
  // Members of vector types in the file `source`: their hooks are told which, so that a warp's loads of several become
  // one request.
  const VectorMembers* members = nullptr;
  const AlignedLines* aligned = nullptr;  // of that file, too
  std::string_view source = {};
};

// x86-64 text of GCC and Clang. Text for other processors comes back as it is.
AnnotatedAssembly annotate_assembly(std::string_view text, AnnotateOptions options = {});

}  // namespace ridge::simt
