#include "app/nvcc/shared_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge::nvcc {

namespace {

constexpr const char* kList = "ridge.libraries";  // a member of the archive

bool is_archive(const fs::path& file) {
  char head[8] = {};
  std::ifstream in(file, std::ios::binary);
  return in.read(head, sizeof head) && std::string_view(head, sizeof head) == "!<arch>\n";
}

bool is_shared(const fs::path& file) { return file.filename().string().find(".so") != std::string::npos; }

// The files behind -lNAME, and inputs, that are shared libraries of ours.
std::vector<fs::path> shared_among(const std::vector<fs::path>& files, const Command& c) {
  std::vector<fs::path> all;
  for (const fs::path& f : files)
    if (is_shared(f) && is_archive(f)) all.push_back(f);
  for (const std::string& l : c.link) {
    if (!l.starts_with("-l")) continue;
    for (const fs::path& dir : c.library_dirs)
      if (const fs::path f = dir / ("lib" + l.substr(2) + ".so"); fs::exists(f) && is_archive(f)) {
        all.push_back(fs::absolute(f));
        break;
      }
  }
  return all;
}

std::vector<std::string> list_of(const fs::path& archive) {
  std::vector<std::string> lines;
  const ProcessResult r = run_process({"ar", "p", archive.string(), kList}, {}, {});
  if (!r.started || r.exit_code != 0) return lines;
  std::istringstream in(r.output);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with('-') || line.starts_with('/')) lines.push_back(line);  // else ar's word that there is none
  return lines;
}

}  // namespace

void make_archive(const std::vector<fs::path>& objects, const fs::path& archive,
                  const std::vector<std::string>& libraries) {
  std::vector<std::string> argv = {"ar", "rcs", archive.string()};
  for (const auto& o : objects)
    if (o.extension() != ".a" && !is_shared(o)) argv.push_back(o.string());
  if (!libraries.empty()) {
    const fs::path list = archive.parent_path() / kList;
    std::ofstream(list) << fmt::format("{}\n", fmt::join(libraries, "\n"));
    argv.push_back(list.string());
  }
  const ProcessResult r = run_process(argv, {}, {});
  if (!r.started || r.exit_code != 0)
    throw Error(Exit::environment, "ridge cc: ar failed: " + r.output, "binutils must be installed");
}

std::vector<std::string> libraries_of(const Command& c) {
  std::vector<std::string> all;
  for (const fs::path& input : c.inputs)
    if (input.extension() == ".a" || is_shared(input)) all.push_back(fs::absolute(input).string());
  for (const std::string& l : c.link) {
    if (l.starts_with("-L")) all.push_back("-L" + fs::absolute(l.substr(2)).string());
    if (l.starts_with("-l") || l == "-fopenmp") all.push_back(l);
  }
  return all;
}

std::vector<std::string> behind(const std::vector<fs::path>& objects, const Command& c) {
  std::vector<std::string> all;
  std::set<fs::path> seen;
  std::vector<fs::path> open = shared_among(objects, c);
  while (!open.empty()) {
    const fs::path file = open.back();
    open.pop_back();
    if (!seen.insert(file).second) continue;
    Command inner;
    std::vector<fs::path> files;
    for (const std::string& line : list_of(file)) {
      all.push_back(line);
      if (line.starts_with("-L"))
        inner.library_dirs.emplace_back(line.substr(2));
      else if (line.starts_with("-l"))
        inner.link.push_back(line);
      else
        files.emplace_back(line);
    }
    for (const fs::path& f : shared_among(files, inner)) open.push_back(f);
  }
  return all;
}

}  // namespace ridge::nvcc
