#include "app/package/course_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "grader/base/error.hpp"
#include "grader/lab/lab.hpp"
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
       {"app/", "learn/", "serve/", "grader/", "checks/", "formats/", "visualizer/", "cmake/", "cluster/src/",
        "cluster/unpack/", "cluster/virtual/", "cluster/install/", "cluster/gradescope/"})
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

// Whether the place is code, in a line or in a block: `[&](int i)` is no link.
bool in_code(const std::string& text, std::size_t place) {
  const std::size_t line = place == 0 ? 0 : text.rfind('\n', place - 1) + 1;  // npos + 1 is 0
  bool code = std::count(text.begin() + static_cast<std::ptrdiff_t>(line),
                         text.begin() + static_cast<std::ptrdiff_t>(place), '`') %
                  2 !=
              0;
  for (std::size_t at = 0; at < line; at = text.find('\n', at) + 1)
    if (const std::size_t word = text.find_first_not_of(' ', at); text.compare(word, 3, "```") == 0) code = !code;
  return code;
}

// The Markdown text of a file in `folder`, in which a link to what the copy has not becomes its words.
std::string with_living_links(const std::string& text, const fs::path& folder, const std::set<std::string>& copied) {
  auto lives = [&](const std::string& target) {
    if (target.empty() || target[0] == '#' || target.find_first_of(": ") != std::string::npos) return true;
    std::string path = (folder / target.substr(0, target.find('#'))).lexically_normal().generic_string();
    if (path.ends_with("/")) path.pop_back();
    const auto at = copied.lower_bound(path);  // a file, or a folder with one
    return path == "." || (at != copied.end() && *at == path) ||
           copied.lower_bound(path + "/") != copied.lower_bound(path + "0");  // '0' comes after '/'
  };
  std::string out;
  std::size_t at = 0;
  for (std::size_t link; (link = text.find("](", at)) != std::string::npos;) {
    const std::size_t end = text.find(')', link);
    if (end == std::string::npos) break;
    out.append(text, at, link - at);
    at = end + 1;
    std::size_t open = std::string::npos;
    int depth = 0;
    for (std::size_t i = out.size(); i-- > 0 && open == std::string::npos;) {
      if (out[i] == ']') ++depth;
      if (out[i] == '[' && depth-- == 0) open = i;
    }
    if (open == std::string::npos || in_code(text, link) || lives(text.substr(link + 2, end - link - 2)))
      out.append(text, link, at - link);
    else
      out.erase(open, 1);
  }
  return out.append(text, at, std::string::npos);
}

}  // namespace

std::size_t copy_course(const fs::path& to, const CourseCopy& what, std::error_code& ec) {
  std::set<std::string> all;
  for (const Lab& lab : load_labs()) all.insert(lab.name);
  std::set<std::string> paths = {"README.md"};
  for (const std::string& path : course_files()) {
    if (withheld(path) || path == "README.md" || (what.prebuilt && for_building(path))) continue;
    if (path.rfind("labs/", 0) == 0) {
      const std::string lab = path.substr(5, path.find('/', 5) - 5);
      if (!what.labs.empty() && all.count(lab) != 0 && what.labs.count(lab) == 0) continue;
    }
    if (fs::is_regular_file(root_dir() / path, ec)) paths.insert(path);
  }
  ec.clear();
  for (const std::string& path : paths) {
    fs::create_directories((to / path).parent_path(), ec);
    if (ec) return 0;
    if (!path.ends_with(".md")) {
      fs::copy_file(root_dir() / path, to / path, fs::copy_options::overwrite_existing, ec);
      if (ec) return 0;
      continue;
    }
    const std::string text = path == "README.md" ? readme_of_copy() : file_text(root_dir() / path);
    std::ofstream page(to / path);
    page << with_living_links(text, fs::path(path).parent_path(), paths);
    if (!page.flush()) return ec = std::make_error_code(std::errc::io_error), 0;
  }
  return paths.size();
}

void needs_sources(const char* command) {
  if (prebuilt())
    throw Error(Exit::usage, fmt::format("{} needs the sources of Ridge, which a prebuilt one has not", command),
                "run it in a clone of the course");
}

}  // namespace ridge
