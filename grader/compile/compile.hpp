// Compiling CUDA C++ for the emulator: what `ridge cc` and the builder share.
#pragma once
#include <string>
#include <vector>

#include "grader/base/paths.hpp"
#include "grader/compile/compiler.hpp"
#include "grader/compile/symbol_tables.hpp"

namespace ridge {

enum class Language { by_name, cuda, cpp, c };

// The files that a compilation read, for make: -MD and its like.
struct Dependencies {
  bool wanted = false;
  bool system = false;  // those of the system too
  bool phony = false;   // an empty rule for each, so that a header may go
  std::string file, target;
};

struct CompileOptions {
  std::vector<std::string> include_dirs;
  std::vector<std::string> extra;  // -D, -std, ... as given
  bool instrumented = true;        // false: no counters and no checks, faster
  bool sandboxed = false;          // somebody else's sources
  Language language = Language::by_name;
  std::vector<std::string> forbidden_headers = {};  // "cub/": what they begin with
  bool reuse = false;                               // what lies in the student's cache may be used
  Dependencies dependencies = {};
  bool preprocess = false;         // the "object" is the text after preprocessing
  bool linked_by_others = false;   // perhaps: dynamic shared arrays have one name in the object (dynamic_shared.hpp)
  bool device_by_default = false;  // functions that say nothing of a side are for kernels
  bool child_launches = true;      // kernels may launch kernels; nvcc wants -rdc=true for that
  bool worker = false;             // for a judged worker: its main runs the static initialisers, and the policy holds
};

// The headers that the compiler says it read (-MD, in `list`) and the lab forbids, as a message; else empty.
std::string forbidden_header(const fs::path& list, const std::string& shown_name,
                             const std::vector<std::string>& forbidden);

// The emulator's matrix products as kernels: compiled with programs that use cuBLAS.
fs::path cublas_kernels();

// Why a compilation failed: empty output means success.
struct CompileFailure {
  bool environment = false;   // the machine failed (full disk, time limit), not the code
  std::string output;         // compiler messages, capped
  std::string warnings = {};  // our own, also where it succeeded: lines
};

// Rewrites and compiles one CUDA or C++ file into `object`. `shown_name` is what messages call it.
CompileFailure compile_file(const fs::path& source, const std::string& shown_name, const fs::path& object,
                            const CompileOptions& options);
// Links objects with the emulator (and with the worker's main where `worker`, in a sandbox). Adds the dynamic shared
// memory that `extern __shared__` arrays are aliases of. `known`: the objects' symbols, where they were read before.
CompileFailure link_program(const std::vector<fs::path>& objects, const fs::path& program, bool worker,
                            const std::vector<std::string>& extra, const SymbolTables* known = nullptr);

}  // namespace ridge
