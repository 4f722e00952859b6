#include "grader/base/paths.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "grader/base/error.hpp"

namespace ridge {

namespace {

fs::path program_path() {
  std::error_code ec;
  return fs::read_symlink("/proc/self/exe", ec);
}

fs::path from_environment(const char* name, const fs::path& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != 0 ? fs::absolute(value) : otherwise;
}

std::mutex temporary_mutex;
std::set<fs::path> temporary_dirs;

}  // namespace

fs::path root_dir() {
  static const fs::path root = [] {
    if (const char* given = std::getenv("RIDGE_ROOT"); given != nullptr && *given != 0) return fs::absolute(given);
    for (fs::path p = program_path().parent_path(); !p.empty() && p != p.root_path(); p = p.parent_path())
      if (fs::is_directory(p / "labs") && fs::is_directory(p / "runtime")) return p;
    throw Error(Exit::environment,
                "cannot find Ridge's own folder (the one with labs/ and runtime/) above " + program_path().string(),
                "set RIDGE_ROOT to it");
  }();
  return root;
}

fs::path build_dir() { return program_path().parent_path().parent_path(); }
bool prebuilt() { return fs::exists(build_dir() / kPrebuiltMark); }
fs::path work_dir() { return from_environment("RIDGE_WORK", root_dir() / "work"); }
fs::path cache_dir() { return from_environment("RIDGE_CACHE", work_dir() / ".ridge" / "objects"); }
fs::path results_dir() { return from_environment("RIDGE_RESULTS", work_dir() / ".ridge" / "results"); }

TemporaryDir::TemporaryDir(const char* purpose, const char* base) {
  if (base == nullptr) base = std::getenv("TMPDIR");
  std::string text = std::string(base != nullptr && *base != 0 ? base : "/tmp") + "/ridge-" + purpose + "-XXXXXX";
  std::vector<char> name(text.begin(), text.end());
  name.push_back(0);
  if (mkdtemp(name.data()) == nullptr)
    throw Error(Exit::environment, "cannot make a temporary folder " + text + ": " + std::strerror(errno),
                "free some space there, or set TMPDIR to a folder with space");
  path_ = fs::absolute(name.data());
  std::lock_guard lock(temporary_mutex);
  temporary_dirs.insert(path_);
}

TemporaryDir::~TemporaryDir() {
  std::error_code ec;
  std::lock_guard lock(temporary_mutex);
  temporary_dirs.erase(path_);
  if (std::getenv("RIDGE_KEEP_TEMPORARY") == nullptr) fs::remove_all(path_, ec);
}

void remove_temporary_dirs() {
  std::error_code ec;
  temporary_mutex.lock();  // for good: the program ends here
  for (const auto& dir : temporary_dirs)
    for (int i = 0; i < 100 && fs::exists(dir, ec); ++i) {  // somebody may still be writing into it
      fs::remove_all(dir, ec);
      if (ec) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

bool disk_full(const fs::path& dir) {
  std::error_code ec;
  fs::space_info space = fs::space(dir, ec);
  return !ec && space.available < (1 << 20);
}

std::string file_text(const fs::path& p) {
  std::ifstream in(p, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void copy_to_write(const fs::path& from, const fs::path& to, std::error_code& ec) {
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, ec);
  if (!ec) fs::permissions(to, fs::perms::owner_write, fs::perm_options::add, ec);
}

std::string shown(const fs::path& p) {
  std::error_code ec;
  fs::path here = fs::current_path(ec);
  std::string text = ec ? "" : (here / p).lexically_relative(here).string();  // follows no links
  return !text.empty() && text.size() < p.string().size() ? text : p.string();
}

}  // namespace ridge
