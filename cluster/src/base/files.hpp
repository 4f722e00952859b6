// Files shared by several machines: a file is complete once it has its name, and is never overwritten.
#pragma once
#include <optional>
#include <string>

#include "cluster/src/base/fd.hpp"
#include "grader/base/paths.hpp"

namespace ridge::cluster {

void make_folders(const fs::path& dir, unsigned mode = 0700);
// Does nothing where this account may write into the folder and not read it: the course's dropbox.
void sync_folder(const fs::path& dir);

// Writes a temporary file in the same folder, syncs it, names it by link(), which fails where the name is taken, and
// syncs the folder, unless this account may not read that. False: the file existed, and was kept. Throws
// Error(Exit::environment).
bool publish(const fs::path& file, const std::string& text, unsigned mode = 0600);

// Throws Error(Exit::environment) where nothing can be written there.
void require_room(const fs::path& dir);

// The bytes of a regular file of at most `max` bytes. Nothing for a link, another kind of file, or one that cannot be
// read.
std::optional<std::string> read_regular(const fs::path& file, std::size_t max);

}  // namespace ridge::cluster
