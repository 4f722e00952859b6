// Names and bytes of files: as everybody sees them, and as they would be after a crash.
//
// A crash of a process leaves all that its calls have done. A crash of the node leaves what was synced and, of what was
// not, a part that is drawn from a seed: of writes any pages, so that they are torn, lost, or out of order; of changes
// of names (creations, renames, removals) those before some point in time, for file systems keep a journal of them.
// fsync of a file settles all bytes of that file, whoever wrote them, and no other file's. fsync of a folder settles
// the changes of names in it and the earlier changes of the same names elsewhere: a rename is never half durable. A
// name whose folder is gone after a crash is gone, too.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "random.hpp"
#include "storage.hpp"

namespace ridge::files {

using Bytes = std::vector<char>;

enum class Crash { process, node };

// A change of the disk, in a form that can be repeated.
struct Change {
  enum class Kind { create, truncate, write, sync_file, sync_folder, rename, unlink, make_folder };
  Kind kind{};
  int rank = 0;
  std::uint64_t file = 0;   // its number; of create: the new one
  std::string path, other;  // names that change; of a file's change the name at its opening
  std::uint64_t offset = 0;
  std::shared_ptr<const Bytes> data = {};
  Layout layout = {};  // create
};
const char* name_of(Change::Kind kind);

class Disk {
 public:
  struct File {
    Bytes now, durable;
    struct Write {
      std::uint64_t offset;
      std::shared_ptr<const Bytes> data;  // null: the file gets `offset` bytes
      int rank;
    };
    std::vector<Write> unsynced = {};
    Layout layout = {};
  };

  // Number of a file, or 0.
  std::uint64_t find(const std::string& path) const;
  bool is_folder(const std::string& path) const { return path.empty() || folders_.contains(path); }
  File& file(std::uint64_t number) { return files_.at(number); }
  const File& file(std::uint64_t number) const { return files_.at(number); }
  std::uint64_t next_number() const { return next_; }
  // Names in a folder, sorted; folders end with "/".
  std::vector<std::string> list(const std::string& folder) const;

  // The changes are possible: the caller has checked names. A crash inside a write leaves its first pages, or none;
  // inside a change of names all or nothing, unless `torn_rename`, where the target is gone and the source is still
  // there.
  void apply(const Change& change);
  void apply_partly(const Change& change, Random& random, bool torn_rename);
  // `rank`: whose unsynced changes are at stake; -1: everybody's.
  void crash(Crash kind, Random& random, int rank = -1);
  // As after a quiet while: all is durable.
  void settle();

 private:
  void sync_folder(const std::string& folder);
  void drop_orphans();
  void apply_name(const Change& change, std::map<std::string, std::uint64_t>& names, std::set<std::string>& folders);

  std::map<std::uint64_t, File> files_;  // also those without a name, which are open yet
  std::map<std::string, std::uint64_t> names_, durable_names_;
  std::set<std::string> folders_, durable_folders_;
  std::vector<Change> unsynced_names_;  // in their order
  std::uint64_t next_ = 1;
};

// The folder of a path: "" for the root.
std::string folder_of(const std::string& path);

}  // namespace ridge::files
