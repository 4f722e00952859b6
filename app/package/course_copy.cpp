#include "app/package/course_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "grader/base/error.hpp"
#include "grader/base/lab.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge {

namespace {

// Students get no answers, no wrong solutions, no tests (they hold both), no records of the answers, and no history.
bool withheld(const std::string& path) {
  for (const char* folder : {"solutions/", "tests/", "benchmarks/", "work/", "build/", ".git/", ".ci/", "slides/",
                             "figures/", "visualizer/stories/"})
    if (path.rfind(folder, 0) == 0) return true;
  // A lesson's figures go with it; what draws them, and the records of solutions behind them, do not.
  if (path.rfind("labs/", 0) == 0 && path.find("/figures/") != std::string::npos)
    return fs::path(path).extension() != ".svg";
  return path.find("/wrong/") != std::string::npos || path.find("/wrong.toml") != std::string::npos ||
         path.rfind("build", 0) == 0;
}

// Files that only a build reads.
bool for_building(const std::string& path) {
  for (const char* folder :
       {"app/", "learn/", "grader/", "checks/", "formats/", "visualizer/", "cmake/", "cluster/src/", "cluster/unpack/",
        "cluster/virtual/", "cluster/install/", "cluster/gradescope/"})
    if (path.rfind(folder, 0) == 0) return true;
  const std::string name = fs::path(path).filename().string();
  return name == "CMakeLists.txt" || name == "CMakePresets.json" || path == "CONTRIBUTING.md" || name[0] == '.';
}

// The files of the course: those that git knows; without git, all files.
std::vector<std::string> course_files() {
  std::vector<std::string> all;
  if (fs::exists(root_dir() / ".git")) {
    ProcessLimits limits;
    limits.output_bytes = 16 << 20;
    const ProcessResult r = run_process({"git", "-C", root_dir().string(), "ls-files"}, {}, limits);
    std::istringstream lines(r.output);
    for (std::string line; r.exit_code == 0 && std::getline(lines, line);) all.push_back(line);
  }
  if (all.empty())
    for (auto at = fs::recursive_directory_iterator(root_dir()); at != fs::recursive_directory_iterator(); ++at) {
      const std::string path = at->path().lexically_relative(root_dir()).generic_string();
      if (at->is_directory() && (withheld(path + "/") || path[0] == '.')) at.disable_recursion_pending();
      if (at->is_regular_file()) all.push_back(path);
    }
  return all;
}

// The copy's README is the student's guide, with its links changed to start at the copy's top.
std::string readme_of_copy() {
  const std::string guide = file_text(root_dir() / "docs/student.md");
  std::string text;
  std::size_t at = 0;
  for (std::size_t link; (link = guide.find("](", at)) != std::string::npos; at = link + 2) {
    text += guide.substr(at, link + 2 - at);
    const std::string target = guide.substr(link + 2, guide.find(')', link) - link - 2);
    if (target.rfind("../", 0) == 0)
      link += 3;
    else if (target.rfind('#', 0) != 0 && target.find("://") == std::string::npos)
      text += "docs/";
  }
  return text + guide.substr(at);
}

}  // namespace

std::size_t copy_course(const fs::path& to, const CourseCopy& what, std::error_code& ec) {
  std::set<std::string> all;
  for (const Lab& lab : load_labs()) all.insert(lab.name);
  std::size_t count = 0;
  for (const std::string& path : course_files()) {
    if (withheld(path) || path == "README.md" || (what.prebuilt && for_building(path))) continue;
    if (path.rfind("labs/", 0) == 0) {
      const std::string lab = path.substr(5, path.find('/', 5) - 5);
      if (!what.labs.empty() && all.count(lab) != 0 && what.labs.count(lab) == 0) continue;
    }
    const fs::path from = root_dir() / path;
    if (!fs::is_regular_file(from, ec)) continue;
    fs::create_directories((to / path).parent_path(), ec);
    if (!ec) fs::copy_file(from, to / path, fs::copy_options::overwrite_existing, ec);
    if (ec) break;
    ++count;
  }
  if (ec) return count;
  std::ofstream readme(to / "README.md");
  readme << readme_of_copy();
  if (!readme.flush()) ec = std::make_error_code(std::errc::io_error);
  return count + 1;
}

void needs_sources(const char* command) {
  if (prebuilt())
    throw Error(Exit::usage, fmt::format("{} needs the sources of Ridge, which a prebuilt one has not", command),
                "run it in a clone of the course");
}

}  // namespace ridge
