#include "grader/compile/prepared.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>
#include <vector>

#include "grader/base/defence.hpp"
#include "grader/base/sha256.hpp"
#include "grader/result/hashes.hpp"

namespace ridge {

namespace {

// Another process may make the same file at the same time: each under a name of its own first.
fs::path part_of(const fs::path& file) { return fmt::format("{}.{}", file.string(), getpid()); }

// Compilers of submissions may run as another user, and nothing in build/prepared is secret: all may read it, whatever
// the umask.
void put_in_place(const fs::path& part, const fs::path& file, std::error_code& ec) {
  using fs::perms;
  if (file.parent_path() == prepared_dir()) {
    const perms read = perms::group_read | perms::others_read, enter = perms::group_exec | perms::others_exec;
    fs::permissions(part, perms::owner_read | perms::owner_write | read, ec);
    fs::permissions(file.parent_path(), read | enter, fs::perm_options::add, ec);
  }
  fs::rename(part, file, ec);
}

}  // namespace

fs::path prepared_dir() { return build_dir() / "prepared"; }

fs::path prepared_for(const fs::path& folder, const std::string& rest, const std::string& stem,
                      const std::string& extension) {
  Hashes files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path().filename().string()] = sha256_of_file(entry.path());
  std::string made_of =
      fmt::format("{}\n{}\n{}\n{}\n", sha256_of_this_program(), combined(runtime_headers()), combined(files), rest);
  for (int d = 0; d < static_cast<int>(Defence::count_); ++d) made_of += on(static_cast<Defence>(d)) ? '1' : '0';
  return prepared_dir() / (stem + "." + sha256(made_of).substr(0, 24) + extension);
}

bool keep_text(const fs::path& file, const std::string& text) {
  std::error_code ec;
  fs::create_directories(file.parent_path(), ec);
  const fs::path part = part_of(file);
  std::ofstream out(part, std::ios::binary);
  out << text;
  out.close();
  if (out) put_in_place(part, file, ec);
  const bool kept = out.good() && !ec;
  fs::remove(part, ec);
  return kept;
}

bool keep_made(const fs::path& made, const fs::path& file) {
  std::error_code ec;
  fs::create_directories(file.parent_path(), ec);
  const fs::path part = part_of(file);
  bool kept = fs::copy_file(made, part, fs::copy_options::overwrite_existing, ec);
  if (kept) put_in_place(part, file, ec);
  kept = kept && !ec;
  fs::remove(part, ec);
  return kept;
}

void keep_newest(const fs::path& folder, const std::string& extension, std::size_t most) {
  std::error_code ec;
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  for (const auto& entry : fs::directory_iterator(folder, ec))
    if (entry.path().extension() == extension) all.emplace_back(entry.last_write_time(ec), entry.path());
  if (all.size() <= most) return;
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size() - most; ++i) fs::remove(all[i].second, ec);
}

}  // namespace ridge
