// The baseline's program is the course's own, the same for all submissions, and its libraries take longer to compile
// than most of them: it is built once, and kept in build/prepared.
#pragma once
#include "grader/build/nvcc.hpp"
#include "grader/lab/lab.hpp"

namespace ridge {

// Where it is kept. The name tells all that it comes from: the files staged in `src`, the worker, the headers of
// runtime/, the compiler with its flags, and this program. Empty where it can't be kept.
fs::path kept_baseline(const Lab& lab, const fs::path& src, const Nvcc& compiler);

// Copies what is kept to `program`. False where nothing is.
bool take_baseline(const fs::path& kept, const fs::path& program);
// Failing to is no error: it is built again.
void keep_baseline(const fs::path& program, const fs::path& kept);

}  // namespace ridge
