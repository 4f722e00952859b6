// Whose a hand-in is by the account that owns its file. In a folder that others may write to, a name proves nothing.
#pragma once
#include <string>

#include "cluster/src/base/course.hpp"
#include "cluster/src/intake/entries.hpp"

namespace ridge::cluster {

// Whether others than the folder's owner may put files there, as in the dropbox.
bool open_to_others(const fs::path& dir, const Course& course);

struct FileOwner {
  std::string refused;    // why the entry is not its student's; empty where it may be
  bool unproven = false;  // the roster tells no account of the student's, so the name alone says whose it is
};

// `open`: the folder is open_to_others(). There a file belongs to its student's account, or to one that could put it
// there in any case: the account that collects, the folder's owner, root. What another account owns is marked as such,
// and what its name tells of the date does not count.
FileOwner file_owner(Entry& entry, const fs::path& dir, bool open, const std::vector<Student>& roster);

}  // namespace ridge::cluster
