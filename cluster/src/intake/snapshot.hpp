// A private copy of a hand-in that its student can still change: in the dropbox, a path may lead elsewhere a moment
// after it was looked at.
#pragma once
#include <sys/types.h>

#include <string>

#include "grader/base/paths.hpp"

namespace ridge::cluster {

struct Snapshot {
  std::string problem;    // why there is no whole copy
  bool set_back = false;  // a file's own date is much earlier than its last change
};

// Copies the file or folder `from` to `to`. All of it must be the account's. No link is followed: each stands in the
// copy as one that leads nowhere. A copy has the later of two dates, that of the content (mtime) and that of the file's
// last change (ctime), since its owner can set the first one with `touch`, and nobody can set the second one.
Snapshot snapshot(const fs::path& from, uid_t account, const fs::path& to);

}  // namespace ridge::cluster
