// The emulator's CUDA headers, which every file reads: parsed once for each set of flags, not once a file.
#pragma once
#include <string>
#include <vector>

#include "grader/base/paths.hpp"
#include "grader/compile/compiler.hpp"

namespace ridge {

struct PrecompiledHeaders {
  std::vector<fs::path> headers;   // in the order in which a file would include them
  std::vector<std::string> flags;  // of the compilation, without the file, its folder and its output
  bool once = false;               // flags of one caller's own: worth it only when they come a second time
  bool cached = false;             // may come from the cache, which is the student's
};

// A header for -include in the place of `headers`. The compiled form lies beside it (prepared.hpp, or where nobody may
// write there, the cache), made here where there is none; a compiler that cannot use that form reads the text. Empty
// where nothing can be written or the flags do not allow it.
fs::path precompiled(const Compiler& compiler, const PrecompiledHeaders& wanted);

// The files that a compiler in a sandbox needs for it, which are shown to whatever else reads the source too.
std::vector<fs::path> files_of_precompiled(const fs::path& header);

// Whether a compiler's messages are about the compiled form of `header` rather than about the source.
bool refuses_precompiled(const std::string& messages, const fs::path& header);

}  // namespace ridge
