#include "grader/machine/cuda_includes.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "grader/base/error.hpp"
#include "simt/rewrite/rewrite.hpp"

namespace ridge {

namespace {

bool is_file(const fs::path& p) {
  std::error_code ec;
  return fs::is_regular_file(p, ec);
}

// A header's name as messages should have it: in the words of the file that includes it.
std::string beside(const std::string& shown_from, std::string_view file) {
  return (fs::path(shown_from).parent_path() / file).lexically_normal().string();
}

}  // namespace

std::string CudaIncludes::rewrite(const fs::path& source, const std::string& shown_name) {
  std::ifstream in(source, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return simt::rewrite_cuda(text.str(), shown_name, [&](std::string_view file, bool in_quotes) {
    return find(source, shown_name, file, in_quotes);
  });
}

bool CudaIncludes::may_read(const fs::path& header) const {
  std::error_code ec;
  const fs::path real = fs::canonical(header, ec);
  for (const auto& folder : only_) {
    const fs::path below = real.lexically_relative(fs::canonical(folder, ec));
    if (!ec && !below.empty() && *below.begin() != "..") return true;
  }
  return only_.empty();
}

std::optional<std::string> CudaIncludes::find(const fs::path& from, const std::string& shown_from,
                                              std::string_view file, bool in_quotes) {
  fs::path header;
  std::string name;
  if (in_quotes && is_file(from.parent_path() / file)) {
    header = from.parent_path() / file;
    name = beside(shown_from, file);
  }
  for (std::size_t i = 0; header.empty() && i < dirs_.size(); ++i)
    if (is_file(dirs_[i] / file)) {
      header = dirs_[i] / file;
      name = header.lexically_normal().string();
    }
  if (header.empty()) {
    // The emulator's own, or the system's.
    if (is_file(root_dir() / "runtime/simt/include" / file)) return std::string();
    return std::nullopt;
  }
  if (!may_read(header)) return std::nullopt;  // the compiler looks for it, in its sandbox
  std::error_code ec;
  const std::string key = fs::canonical(header, ec).string();
  auto [copy, added] = copies_.emplace(key, std::string());
  if (added) {
    copy->second = (folder_ / fmt::format("{}.{}", copies_.size(), header.filename().string())).string();
    const std::string path = copy->second;  // the map changes below
    std::string text = rewrite(header, name);
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out)
      throw Error(Exit::environment, "cannot write " + path + " (no space left?)",
                  "free some space there, or set TMPDIR to a folder with space");
    return path;
  }
  return copy->second;
}

}  // namespace ridge
