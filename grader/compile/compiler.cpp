#include "grader/compile/compiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "grader/base/error.hpp"
#include "grader/base/sha256.hpp"
#include "grader/compile/prepared.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge {

namespace {

constexpr int kOldestGcc = 12;

// One of them is an option, or a macro to forget.
const std::vector<std::string>& neutral_candidates() {
  static const std::vector<std::string> flags = {
#if defined(__x86_64__)
    "-march=x86-64",  // RHEL: a newer one
    "-mtune=generic",
    "-fcf-protection=none",  // Ubuntu
    "-momit-leaf-frame-pointer",
#elif defined(__aarch64__)
    "-mbranch-protection=none",
#endif
    "-fomit-frame-pointer",
    "-fPIE",  // Debian, Ubuntu, Arch; not Fedora
    "-fplt",
    "-fno-lto",
    "-fno-stack-protector",         // on in Ubuntu and Arch
    "-fno-stack-clash-protection",  // on in Ubuntu
    "-ftrivial-auto-var-init=uninitialized",
    "-fzero-call-used-regs=skip",  // on in NixOS
    "-fstrict-overflow",           // off in NixOS
    "-U_FORTIFY_SOURCE",           // 3 in Ubuntu
    "-U_GLIBCXX_ASSERTIONS",
    // Warnings that some make errors.
    "-Wno-error",
    "-Wno-error=format-security",
    "-Wno-error=return-type",
  };
  return flags;
}

// Whether a complaint is about this flag: it names all of it, or its name without the value.
bool complains_about(const std::string& text, const std::string& flag) {
  const std::string name = flag.substr(0, flag.find('='));
  for (const std::string& said :
       {"'" + flag + "'", "‘" + flag + "’", "'" + name + "'", "‘" + name + "’", "'" + name + "='", "‘" + name + "=’"})
    if (text.find(said) != std::string::npos) return true;
  return false;
}

}  // namespace

std::vector<std::string> neutral_flags(const fs::path& program) {
  std::vector<std::string> flags = neutral_candidates();
  // One complaint mostly names all that are unknown.
  for (int round = 0; round < 4 && !flags.empty(); ++round) {
    std::vector<std::string> argv = {program.string()};
    argv.insert(argv.end(), flags.begin(), flags.end());
    // Clang ignores some with a warning. A wrapper may add flags for the linker, which nobody uses here.
    argv.insert(argv.end(),
                {"-Werror", "-Wno-unused-command-line-argument", "-x", "c++", "-fsyntax-only", "/dev/null"});
    const ProcessResult r = run_process(argv, {}, {});
    if (r.exit_code == 0) return flags;
    if (std::erase_if(flags, [&](const std::string& f) { return complains_about(r.output, f); }) == 0) break;
  }
  return flags;  // what is wrong besides shows in the compilation
}

namespace {

// The file that keeps what `compiler` said of itself for later runs: its name, whether it is Clang, and the neutral
// flags, a line each. Empty for a wrapper, whose own file does not tell what it wraps.
fs::path kept_answers(const fs::path& compiler, const std::string& stamp) {
  const std::string file = compiler.filename().string();
  std::string head(4, ' ');
  std::ifstream(compiler, std::ios::binary).read(head.data(), 4);
  const bool program = head[0] == 0x7f && head.substr(1) == "ELF";
  if (!program || (file.find("clang") == std::string::npos && file.find("g++") == std::string::npos)) return {};
  const std::string asked = fmt::format("{}\n{}", stamp, fmt::join(neutral_candidates(), "\n"));
  return prepared_dir() / ("compiler." + sha256(asked).substr(0, 24));
}

bool read_answers(const fs::path& kept, Compiler& c) {
  std::ifstream lines(kept);
  std::string kind;
  if (kept.empty() || !std::getline(lines, c.name) || !std::getline(lines, kind) || kind.empty()) return false;
  c.clang = kind == "clang";
  for (std::string flag; std::getline(lines, flag);)
    if (!flag.empty()) c.neutral.push_back(flag);
  return true;
}

void keep_answers(const fs::path& kept, const Compiler& c) {
  if (kept.empty()) return;
  keep_text(kept, fmt::format("{}\n{}\n{}\n", c.name, c.clang ? "clang" : "gcc", fmt::join(c.neutral, "\n")));
}

}  // namespace

const Compiler& host_compiler() {
  static const Compiler compiler = [] {
    Compiler c;
    const char* given = std::getenv("RIDGE_CXX");
    const bool chosen = given != nullptr && *given != 0;
    std::vector<std::string> names =
        chosen ? std::vector<std::string>{given} : std::vector<std::string>{"clang++", "g++", "c++"};
    c.program = find_program(names);
    if (c.program.empty())
      throw Error(Exit::environment,
                  chosen ? fmt::format("RIDGE_CXX names {}, which is no program on this machine", names[0])
                         : fmt::format("no C++ compiler found (looked for {})", fmt::join(names, ", ")),
                  chosen ? "set RIDGE_CXX to a clang++ or g++ that is installed, or unset it"
                         : "install clang, or set RIDGE_CXX to a clang++ or g++");
    std::error_code ec;
    const fs::path file = fs::canonical(c.program, ec);
    const std::string stamp = fmt::format("{} {} {}", file.string(), fs::file_size(file, ec),
                                          fs::last_write_time(file, ec).time_since_epoch().count());
    const fs::path kept = kept_answers(file, c.program.string() + " " + stamp);
    if (read_answers(kept, c)) {
      c.identity = c.name + " " + stamp;
      return c;
    }
    ProcessResult r = run_process({c.program.string(), "--version"}, {}, {});
    c.clang = r.output.find("clang") != std::string::npos;
    const std::string banner = r.output;
    r = run_process({c.program.string(), c.clang ? "-dumpversion" : "-dumpfullversion"}, {}, {});
    const std::string version = r.output.substr(0, r.output.find('\n'));
    if (r.exit_code != 0 || version.empty() || version.find_first_not_of("0123456789.") != std::string::npos)
      throw Error(Exit::environment,
                  fmt::format("{} does not say which version of GCC or Clang it is{}", c.program.string(),
                              banner.empty() ? "" : ":\n" + banner),
                  "set RIDGE_CXX to a clang++ or g++ that works");
    c.name = std::string(c.clang ? "clang++ " : "g++ ") + version;
    // GCC 11 does not know no_sanitize_coverage: launches would be counted as part of the kernels.
    if (!c.clang && std::atoi(version.c_str()) < kOldestGcc)
      throw Error(
          Exit::environment,
          fmt::format("{} is too old: counting what kernels do needs GCC {} or later, or Clang", c.name, kOldestGcc),
          "install clang or a newer g++; if it has another name, set RIDGE_CXX to that");
    c.neutral = neutral_flags(c.program);
    // A wrapper that adds flags has the version of what it wraps.
    c.identity = c.name + " " + stamp;
    keep_answers(kept, c);
    return c;
  }();
  return compiler;
}

std::vector<std::string> unset_argument_flags(const Compiler& c) {
  const int version = c.clang ? std::atoi(c.name.substr(c.name.find(' ') + 1).c_str()) : 0;
  if (version < 14) return {};
  return {"-Xclang", version == 14 ? "-disable-noundef-analysis" : "-no-enable-noundef-analysis"};
}

std::vector<std::string> counting_flags(const Compiler& c) {
  // Blocks of machine code should be those of the source: nothing duplicated, merged or moved behind a table.
  std::vector<std::string> flags = {"-O1",
                                    "-fsanitize=thread",
                                    "-fno-jump-tables",
                                    "-ffp-contract=off",
                                    "-fno-math-errno",
                                    "-fno-optimize-sibling-calls"};
#if defined(__x86_64__)
  flags.push_back("-mno-red-zone");  // what is written between the instructions uses the stack
#endif
  // DWARF 4: binutils 2.40 mistakes the file names of version 5 tables. Clang takes the last of both as the level.
  std::vector<std::string> own = c.clang ? std::vector<std::string>{"-gdwarf-4",
                                                                    "-gline-tables-only",
                                                                    "-fsanitize-coverage=bb,trace-pc,no-prune",
                                                                    "-fno-builtin",
                                                                    "-fno-vectorize",
                                                                    "-fno-slp-vectorize",
                                                                    "-mllvm",
                                                                    "-tsan-instrument-read-before-write=1",
                                                                    "-mllvm",
                                                                    "-tsan-distinguish-volatile=1",
                                                                    "-mllvm",
                                                                    "-disable-tail-duplicate",
                                                                    "-mllvm",
                                                                    "-enable-tail-merge=0",
                                                                    "-mllvm",
                                                                    "-disable-block-placement"}
                                         : std::vector<std::string>{"-g1",
                                                                    "-fsanitize-coverage=trace-pc",
                                                                    "--param=tsan-distinguish-volatile=1",
                                                                    "-fno-tree-vectorize",
                                                                    "-fno-store-merging",
                                                                    "-fno-tree-loop-distribute-patterns",
                                                                    "-fno-reorder-blocks-and-partition",
                                                                    "-fno-crossjumping"};
  flags.insert(flags.end(), own.begin(), own.end());
  const std::vector<std::string> unset = unset_argument_flags(c);
  flags.insert(flags.end(), unset.begin(), unset.end());
  flags.insert(flags.end(), c.neutral.begin(), c.neutral.end());
  return flags;
}

}  // namespace ridge
