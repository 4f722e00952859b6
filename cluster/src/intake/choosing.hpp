// Which files of a hand-in are meant: names and folders differ from what was asked for.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/src/intake/staging.hpp"

namespace ridge::cluster {

struct Found {
  // The folder with most files of the lab that differ from the stubs, then with most of them. Empty: none has any.
  fs::path sources;
  // Each file of the lab in all folders; without the stubs where another folder has a text of its own.
  std::map<std::string, std::vector<fs::path>> places;
  std::string twins;               // two folders with different texts, either of which may be meant
  std::vector<fs::path> others;    // files that are none of the lab's
  std::set<std::string> links;     // files of the lab that are links or devices
  std::string closed;              // why a folder can't be listed
  std::vector<fs::path> archives;  // that were met on the way
  std::string unread;              // the name of an archive of a kind that is not read
};

Found look_through(const fs::path& top, const Lab& lab);

// The files that are sources, under the names that the lab gives them. `copies`: of "copy.cu", "copy-1.cu" and
// "copy-2.cu" the last one counts, as Canvas numbers what is handed in again; else two of one name are a problem.
std::map<std::string, fs::path> chosen_files(const Found& found, const Lab& lab, bool copies, Staged& s);

// Of a hand-in in several parts, as a file and an archive: a problem where another part has another text of a chosen
// file.
std::string other_text(const Found& found, const std::map<std::string, fs::path>& files);

}  // namespace ridge::cluster
