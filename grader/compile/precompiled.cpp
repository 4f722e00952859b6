#include "grader/compile/precompiled.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "grader/base/sha256.hpp"
#include "grader/compile/prepared.hpp"
#include "grader/result/hashes.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge {

namespace {

constexpr std::size_t kMostForms = 24;  // 5 MB each of Clang, 30 MB of GCC

// Flags in one word that mean the same in both compilations.
bool same_in_both(const std::string& flag) {
  if (flag.rfind("-include", 0) == 0 || flag.rfind("-M", 0) == 0) return false;
  static const std::vector<std::string> known = {"-D", "-U", "-I", "-std=",    "-O",      "-f",
                                                 "-m", "-W", "-g", "--param=", "-pthread"};
  return std::any_of(known.begin(), known.end(), [&](const auto& k) { return flag.rfind(k, 0) == 0; });
}

// Folders whose path follows as a word of its own.
bool names_folder(const std::string& flag) { return flag == "-I" || flag == "-isystem"; }

bool usable(const std::vector<std::string>& flags) {
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (names_folder(flags[i]) || flags[i] == "-mllvm" || flags[i] == "-Xclang") {  // see unset_argument_flags()
      ++i;
    } else if (!same_in_both(flags[i])) {
      return false;
    }
  }
  return true;
}

std::string key_of(const Compiler& compiler, const PrecompiledHeaders& wanted) {
  const char* path = std::getenv("CPATH");
  std::error_code ec;
  // The C library's headers: their package may change alone.
  const auto libc = fs::last_write_time("/usr/include/features.h", ec).time_since_epoch().count();
  std::string all = fmt::format("{}\n{}\n{}\n{}\n", compiler.identity, combined(runtime_headers()),
                                path != nullptr ? path : "", ec ? 0 : libc);
  for (const fs::path& header : wanted.headers) all += header.string() + "\n";
  return sha256(all + fmt::format("{}", fmt::join(wanted.flags, "\n"))).substr(0, 24);
}

bool compile_form(const Compiler& compiler, const PrecompiledHeaders& wanted, const fs::path& header,
                  const fs::path& form) {
  const TemporaryDir dir("headers");
  const fs::path made = dir.path() / "headers.gch";
  std::vector<std::string> argv = {compiler.program.string(), "-x", "c++-header", "-w"};
  argv.insert(argv.end(), wanted.flags.begin(), wanted.flags.end());
  // By content: a copied or touched header is the same header.
  if (compiler.clang) argv.insert(argv.end(), {"-fpch-instantiate-templates", "-fpch-validate-input-files-content"});
  argv.insert(argv.end(), {header.string(), "-o", made.string()});
  return run_process(argv, dir.path(), {}).exit_code == 0 && keep_made(made, form);
}

fs::path make_form(const Compiler& compiler, const PrecompiledHeaders& wanted) {
  if (!usable(wanted.flags)) return {};
  const std::string name = key_of(compiler, wanted) + ".h";
  std::string text;
  for (const fs::path& header : wanted.headers) text += fmt::format("#include \"{}\"\n", header.string());
  std::error_code ec;
  std::vector<fs::path> places = {prepared_dir()};
  // Root's compilers run as another user, who need not be able to read there.
  if (wanted.cached && geteuid() != 0) places.push_back(cache_dir());
  for (const fs::path& place : places)
    if (fs::exists(place / (name + ".gch"), ec) && file_text(place / name) == text) return place / name;
  for (const fs::path& place : places) {
    const fs::path header = place / name;
    const bool again = fs::exists(header, ec);
    if (!keep_text(header, text)) continue;
    if ((wanted.once && !again) || !compile_form(compiler, wanted, header, header.string() + ".gch")) return {};
    keep_newest(place, ".gch", kMostForms);
    keep_newest(place, ".h", 4 * kMostForms);
    return header;
  }
  return {};
}

}  // namespace

fs::path precompiled(const Compiler& compiler, const PrecompiledHeaders& wanted) {
  static std::mutex mutex;
  static std::map<std::string, fs::path> made;
  const std::string key = fmt::format("{}\n{} {}", fmt::join(wanted.flags, "\n"), wanted.headers.size(), wanted.cached);
  std::lock_guard lock(mutex);
  if (const auto known = made.find(key); known != made.end()) return known->second;
  return made[key] = make_form(compiler, wanted);
}

std::vector<fs::path> files_of_precompiled(const fs::path& header) {
  if (header.empty()) return {};
  return {header, fs::path(header.string() + ".gch")};
}

bool refuses_precompiled(const std::string& messages, const fs::path& header) {
  // Clang's words where a wrapper, or a file of settings, adds other flags than when it was made.
  for (const std::string& part :
       {header.filename().string(), std::string("PCH file"), std::string("precompiled header")})
    if (messages.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace ridge
