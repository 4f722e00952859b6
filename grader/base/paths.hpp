// Finds Ridge's own files and a student's files.
#pragma once
#include <filesystem>

namespace ridge {

namespace fs = std::filesystem;

// In the build folder of a prebuilt Ridge: its version.
constexpr const char* kPrebuiltMark = ".ridge-prebuilt";

// The repository (or an exported course): RIDGE_ROOT, or the first folder above the program that has labs/.
fs::path root_dir();
fs::path build_dir();    // where this program was built: libraries of the emulator lie beside it
bool prebuilt();         // an unpacked archive or package: nothing can be built here
fs::path work_dir();     // a student's copies: root/work, or RIDGE_WORK
fs::path cache_dir();    // work/.ridge/objects, or RIDGE_CACHE
fs::path results_dir();  // work/.ridge/results, or RIDGE_RESULTS

// A private temporary folder, removed at the end of its scope. `base`: where it is made; null: in TMPDIR.
class TemporaryDir {
 public:
  explicit TemporaryDir(const char* purpose, const char* base = nullptr);
  ~TemporaryDir();
  TemporaryDir(const TemporaryDir&) = delete;
  TemporaryDir& operator=(const TemporaryDir&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Removes the folders of all live TemporaryDir, and lets no new one be made: for a program that ends by a signal.
void remove_temporary_dirs();

// True where the file system of `dir` has no room left for a build: the machine's fault, not the code's.
bool disk_full(const fs::path& dir);

// A whole file; empty where it can't be read.
std::string file_text(const fs::path& p);

// Copies a file, over another one too. The copy can be written, wherever it comes from.
void copy_to_write(const fs::path& from, const fs::path& to, std::error_code& ec);

// `p` as people should see it: relative to the current folder where that is shorter.
std::string shown(const fs::path& p);

}  // namespace ridge
