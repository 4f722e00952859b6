#include "grader/build/kept_baseline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "grader/compile/prepared.hpp"
#include "grader/result/hashes.hpp"

namespace ridge {

namespace {

constexpr std::size_t kMostPrograms = 40;
constexpr const char* kExtension = ".baseline";

}  // namespace

fs::path kept_baseline(const Lab& lab, const fs::path& src, const Nvcc& compiler) {
  if (!compiler.names_architecture) return {};
  const std::string rest =
      fmt::format("{}\n{} {}\n{}\n{}\n", combined(harness_hashes(lab, lab::Backend::cuda)), compiler.path.string(),
                  compiler.name, fmt::join(compiler.flags, " "), fmt::join(lab.baseline_libraries, " "));
  return prepared_for(src, rest, lab.name, kExtension);
}

bool take_baseline(const fs::path& kept, const fs::path& program) {
  std::error_code ec;
  if (kept.empty() || !fs::copy_file(kept, program, fs::copy_options::overwrite_existing, ec)) return false;
  fs::permissions(program, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add, ec);
  if (ec) return false;
  fs::last_write_time(kept, fs::file_time_type::clock::now(), ec);
  return true;
}

void keep_baseline(const fs::path& program, const fs::path& kept) {
  if (!kept.empty() && keep_made(program, kept)) keep_newest(prepared_dir(), kExtension, kMostPrograms);
}

}  // namespace ridge
