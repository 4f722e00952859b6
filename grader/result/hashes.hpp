// The SHA-256 of every file that was judged and of every file that judged it.
#pragma once
#include <map>
#include <string>

#include "checks/check.hpp"
#include "grader/lab/lab.hpp"

namespace ridge {

using Hashes = std::map<std::string, std::string>;  // file name -> 64 digits

// The submission's own among the sources in `dir` (staged, or as handed in): the lab's contract and entry are not. The
// hash is of the text as compilers read it (source_text.hpp).
Hashes submission_hashes(const fs::path& dir, const Lab& lab);

// This program, the lab's files, and what is linked to a submission.
Hashes harness_hashes(const Lab& lab, lab::Backend backend);

// Hashes the files of a lab's own folder that judge it: manifest, checks, entry, baseline, headers.
Hashes lab_hashes(const Lab& lab);

// The headers of runtime/ that a lab's sources may include: one hash for each folder.
const Hashes& runtime_headers();

// One hash for all: of the lines "<hash>  <name>\n" in order of names, which is what sha256sum prints for them.
std::string combined(const Hashes& hashes);

}  // namespace ridge
