// The course's own sources that every submission is linked with: a lab's entry.cu, and the kernels behind cuBLAS.
#pragma once
#include "grader/compile/compile.hpp"

namespace ridge {

// Compiles `source`, in whose folder none but the course's files lie, or copies what an earlier run compiled from the
// same files (prepared.hpp).
CompileFailure course_object(const fs::path& source, const fs::path& object, const CompileOptions& options);

}  // namespace ridge
