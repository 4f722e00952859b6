// A submission that is built on one machine and judged on another: the program in a folder of the account that judges,
// with a manifest of what it was made of. The judge takes it only where everything fits: the owner and the rights, the
// program's hash, the submission's files, this very harness, and (of official gradings) the course's signature.
#pragma once
#include "grader/build/build.hpp"

namespace ridge {

// Writes `place` (worker, build.json), which must not be there, whole or not at all. `src`: the folder it was built
// from. Signed where a signing key is configured.
void keep_prebuilt(const fs::path& place, const BuiltWorker& built, const Lab& lab, lab::Backend backend,
                   const fs::path& src);

// A private copy in `dir`, whose sources are staged in `src`. Throws Error(Exit::environment) where something does not
// fit: the submission is not to blame.
BuiltWorker take_prebuilt(const fs::path& place, const Lab& lab, lab::Backend backend, const fs::path& src,
                          const fs::path& dir, bool must_be_signed);

}  // namespace ridge
