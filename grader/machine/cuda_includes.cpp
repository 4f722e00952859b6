#include "grader/machine/cuda_includes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"
#include "simt/rewrite/source/late_ptx.hpp"

namespace ridge {

namespace {

bool is_file(const fs::path& p) {
  std::error_code ec;
  return fs::is_regular_file(p, ec);
}

void write_copy(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    throw Error(Exit::environment, "cannot write " + path + " (no space left?)",
                "free some space there, or set TMPDIR to a folder with space");
}

std::vector<std::pair<std::size_t, std::string>> errors_of(const simt::FileSides& file, const simt::Sides& sides,
                                                           CallRules rules) {
  std::vector<std::pair<std::size_t, std::string>> errors;
  if (!rules.child_launches)
    for (const std::size_t at : file.child_launches)
      errors.emplace_back(at, "a kernel launch from a __device__ or __global__ function needs -rdc=true");
  if (!rules.device_by_default)
    for (const simt::SideUse& use : file.uses)
      if (std::string message = sides.message(use, file.functions.all[use.caller]); !message.empty())
        errors.emplace_back(use.at, std::move(message));
  std::sort(errors.begin(), errors.end());
  return errors;
}

// A header's name as messages should have it: in the words of the file that includes it.
std::string beside(const std::string& shown_from, std::string_view file) {
  return (fs::path(shown_from).parent_path() / file).lexically_normal().string();
}

}  // namespace

std::string CudaIncludes::rewrite(const fs::path& source, const std::string& shown_name, CallRules rules) {
  simt::FileSides own;
  std::string text = rewrite_one(source, shown_name, own);
  simt::Sides sides;
  sides.add(own.functions);
  for (const auto& [copy, header] : header_sides_) sides.add(header.functions);
  for (const auto& [copy, header] : header_sides_)
    if (const auto errors = errors_of(header, sides, rules); !errors.empty())
      write_copy(copy, simt::with_errors(file_text(copy), errors));
  return simt::with_errors(std::move(text), errors_of(own, sides, rules));
}

std::string CudaIncludes::rewrite_one(const fs::path& source, const std::string& shown_name, simt::FileSides& sides) {
  std::string text = simt::rewrite_cuda(
      file_text(source), shown_name,
      [&](std::string_view file, bool in_quotes) { return find(source, shown_name, file, in_quotes); }, &sides);
  for (const simt::SourceNote& n : sides.notes)
    notes_ += fmt::format("{}:{}:{}: warning: {}\n", shown_name, n.line, n.column, n.text);
  return of_library(source) ? simt::with_missing_ptx(std::move(text)) : text;
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

bool CudaIncludes::in_libraries(std::string_view file) const {
  constexpr std::array<std::string_view, 3> kTheirs = {"thrust/", "cuda/std/", "nv/"};
  return std::any_of(kTheirs.begin(), kTheirs.end(), [&](std::string_view head) { return file.starts_with(head); }) &&
         std::any_of(libraries_.begin(), libraries_.end(), [&](const fs::path& dir) { return is_file(dir / file); });
}

std::optional<std::string> CudaIncludes::find(const fs::path& from, const std::string& shown_from,
                                              std::string_view file, bool in_quotes) {
  fs::path header;
  std::string name;
  if (in_quotes && is_file(from.parent_path() / file)) {
    header = from.parent_path() / file;
    name = beside(shown_from, file);
  }
  bool library = !header.empty() && of_library(from);
  for (std::size_t i = 0; header.empty() && i < dirs_.size(); ++i)
    if (is_file(dirs_[i] / file)) {
      header = dirs_[i] / file;
      name = header.lexically_normal().string();
      library = only_.empty();
    }
  if (header.empty()) {
    // The emulator's own, or the system's.
    if (in_libraries(file)) return std::string();
    if (is_file(root_dir() / "runtime/simt/include" / file) && file.substr(0, 7) != "thrust/") return std::string();
    return std::nullopt;
  }
  if (library) library_files_.insert(header.lexically_normal().string());
  if (!may_read(header)) return std::nullopt;  // the compiler looks for it, in its sandbox
  std::error_code ec;
  const std::string key = fs::canonical(header, ec).string();
  auto [copy, added] = copies_.emplace(key, std::string());
  if (added) {
    copy->second = (folder_ / fmt::format("{}.{}", copies_.size(), header.filename().string())).string();
    const std::string path = copy->second;  // the map changes below
    simt::FileSides sides;
    write_copy(path, rewrite_one(header, name, sides));
    header_sides_.emplace(path, std::move(sides));
    made_.push_back({name, header, path});
    return path;
  }
  return copy->second;
}

}  // namespace ridge
