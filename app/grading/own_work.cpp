#include "app/grading/own_work.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/compile/compile.hpp"
#include "grader/result/result.hpp"

namespace ridge {

namespace {

// Of several programs that begin a lab at one time (a terminal, tabs of `ridge serve`), one makes the copy. The lock is
// the work folder's own, so that no file is left.
class WorkLock {
 public:
  WorkLock() {
    std::error_code ec;
    fs::create_directories(work_dir(), ec);
    folder_ = open(work_dir().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ >= 0) flock(folder_, LOCK_EX);
  }
  ~WorkLock() {
    if (folder_ >= 0) close(folder_);
  }
  WorkLock(const WorkLock&) = delete;
  WorkLock& operator=(const WorkLock&) = delete;

 private:
  int folder_ = -1;
};

// The arguments for an editor's clangd: Clang's CUDA mode with the emulator's headers. clangd then reads <<< >>> and
// finds a kernel that calls a host function, without a CUDA Toolkit.
std::vector<std::string> editor_arguments(const std::string& file) {
  const fs::path runtime = root_dir() / "runtime";
  return {"clang++",
          "-x",
          "cuda",
          "--cuda-host-only",
          "-nocudainc",
          "-nocudalib",
          "-Xclang",
          "-fcuda-allow-variadic-functions",
          "-Wno-unknown-cuda-version",
          "-std=c++20",
          "-Xclang",  // with modules, clangd 14 and 16 crash at each `delete`
          "-fno-cxx-modules",
          "-I",
          runtime.string(),
          "-I",
          (runtime / "collectives/mpi/include").string(),
          "-isystem",
          (runtime / "simt/include").string(),
          "-include",
          "ridge_simt/editor.h",
          "-c",
          file};
}

// What clangd needs to know of each file.
void write_editor_setup(const Lab& lab, const fs::path& dir, const fs::path& shown_as) {
  nlohmann::json commands = nlohmann::json::array();
  for (const auto& file : lab.files)
    commands.push_back(
        {{"directory", fs::absolute(shown_as).string()}, {"file", file}, {"arguments", editor_arguments(file)}});
  write_durably(dir / "compile_commands.json", commands.dump(1) + "\n");
}

// The lab's files that a copy lacks, since it was made before the lab had them.
std::vector<std::string> missing_files(const Lab& lab, const fs::path& dir) {
  std::vector<std::string> missing;
  for (const auto& file : lab.files)
    if (!fs::exists(dir / file)) missing.push_back(file);
  return missing;
}

// Adds these stubs. Nothing that is there changes, but what the editor reads.
void add_stubs(const Lab& lab, const fs::path& dir, const std::vector<std::string>& missing) {
  std::error_code ec;
  for (const auto& file : missing)
    if (!ec) copy_to_write(lab.dir / file, dir / file, ec);
  if (ec)
    throw Error(Exit::environment, fmt::format("cannot add the lab's new files to {}: {}", shown(dir), ec.message()),
                "free some space, or make the folder writable");
  write_editor_setup(lab, dir, dir);
  fmt::print("Added to {}: {}. The lab has these files since your copy was made; nothing else was changed.\n",
             shown(dir), fmt::join(missing, ", "));
}

}  // namespace

int start_work(const std::string& key) {
  Lab lab = find_lab(key);
  fs::path dir = work_dir() / lab.name;
  const WorkLock lock;
  if (fs::exists(dir)) {
    const std::vector<std::string> missing = missing_files(lab, dir);
    if (missing.empty())
      fmt::print("{} is there already; nothing was changed.\n", shown(dir));
    else
      add_stubs(lab, dir, missing);
    return 0;
  }
  // The copy is made beside its place and renamed, so that an interrupted start leaves no half copy.
  fs::path temporary = dir.string() + ".new";
  std::error_code ec;
  fs::remove_all(temporary, ec);
  fs::create_directories(temporary, ec);
  for (const auto& file : lab.files)
    if (!ec) copy_to_write(lab.dir / file, temporary / file, ec);
  for (const auto& entry : fs::directory_iterator(lab.dir))
    if (!ec && entry.path().extension() == ".hpp") copy_to_write(entry.path(), temporary / entry.path().filename(), ec);
  if (!ec) {
    write_editor_setup(lab, temporary, dir);
    fs::rename(temporary, dir, ec);
  }
  if (ec) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw Error(Exit::environment, fmt::format("cannot make {}: {}", shown(dir), ec.message()),
                "free some space, or set RIDGE_WORK to a folder that can be written");
  }
  std::string number = lab.name.substr(0, lab.name.find('_'));
  print_as_typed("{}: {}\n  read   {}\n  edit   {}/{}\n  check  ./ridge check {}\n", lab.name, lab.title,
                 shown(lab.dir / "README.md"), shown(dir), fmt::join(lab.files, ", "), number);
  return 0;
}

fs::path own_folder(const Lab& lab) {
  fs::path dir = work_dir() / lab.name;
  if (!fs::exists(dir)) start_work(lab.name);
  return dir;
}

}  // namespace ridge
