// build/prepared: what is the same for all submissions and costs time, made once and kept. Only this program writes
// there. No sandbox shows the folder: a source that saw a file appear could say one thing to the policy and another to
// the compiler.
#pragma once
#include <string>

#include "grader/base/paths.hpp"

namespace ridge {

fs::path prepared_dir();

// Where something made of the files in `folder` and of `rest` is kept: `stem`, a hash and `extension`. The hash tells
// this program, the headers of runtime/ and the defences apart, too.
fs::path prepared_for(const fs::path& folder, const std::string& rest, const std::string& stem,
                      const std::string& extension);

// Writes `text` whole or not at all; false where there is no room or no right to write.
bool keep_text(const fs::path& file, const std::string& text);

// Moves or copies what was made at `made` to `file`, whole or not at all.
bool keep_made(const fs::path& made, const fs::path& file);

// Keeps the `most` newest files in `folder` that end in `extension`, and removes the others of that kind.
void keep_newest(const fs::path& folder, const std::string& extension, std::size_t most);

}  // namespace ridge
