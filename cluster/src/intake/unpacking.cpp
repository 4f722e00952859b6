#include "cluster/src/intake/unpacking.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "cluster/src/base/strings.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge::cluster {

namespace {

std::string first_line(const std::string& text) { return capped(printable(text.substr(0, text.find('\n'))), 200); }

// A full disk of this machine must not count as the student's mistake.
void blame_full_disk(const fs::path& dir) {
  if (disk_full(dir))
    throw Error(Exit::environment, "no space left to unpack into: " + shown(dir),
                "free some space there, or set TMPDIR to another folder; then the same command again");
}

// git runs commands from a repository's configuration. So an untrusted repository is cloned into one of ours, by git's
// own protocol, and only the clone is used.
ProcessResult git(std::vector<std::string> arguments, const fs::path& dir, const fs::path& scratch) {
  std::ofstream(scratch / "gitconfig")
      << "[safe]\n\tdirectory = *\n[core]\n\thooksPath = /dev/null\n\tfsmonitor = false\n"
         "[protocol]\n\tallow = never\n[protocol \"file\"]\n\tallow = always\n";
  std::vector<std::string> argv = {"env",
                                   "GIT_CONFIG_NOSYSTEM=1",
                                   "GIT_CONFIG_GLOBAL=" + (scratch / "gitconfig").string(),
                                   "GIT_TERMINAL_PROMPT=0",
                                   "GIT_NO_LAZY_FETCH=1",  // nor from where a partial clone came from
                                   "HOME=" + scratch.string(),
                                   "git"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_process(argv, dir, {.seconds = 60});
}

// git would follow what leads out of a repository: links, other places of objects, and the folder of a linked worktree.
// Another student's commits may lie there, which this account can read.
std::string leads_out(const fs::path& repository) {
  std::error_code ec;
  const fs::path inner = repository / ".git", git = fs::is_directory(inner, ec) ? inner : repository;
  for (const char* name : {"commondir", "gitdir", "objects/info/alternates"})
    if (fs::exists(fs::symlink_status(git / name, ec)))
      return fmt::format("the repository takes parts from elsewhere ({}); hand in a clone that has all", name);
  for (const char* name : {"HEAD", "config", "packed-refs", "shallow", "refs", "objects", "reftable"}) {
    const fs::path top = git / name;
    if (fs::is_symlink(fs::symlink_status(top, ec)))
      return fmt::format("the repository has a link, {}; hand in a clone without links", name);
    if (!fs::is_directory(fs::symlink_status(top, ec))) continue;
    for (fs::recursive_directory_iterator it(top, ec), end; !ec && it != end; it.increment(ec))
      if (fs::is_symlink(it->symlink_status(ec)))
        return fmt::format("the repository has a link in {}; hand in a clone without links", name);
  }
  return "";
}

}  // namespace

std::string unpack(const fs::path& archive, const fs::path& to) {
  const fs::path program = build_dir() / "bin/ridge-unpack";
  if (!fs::exists(program))
    throw Error(
        Exit::environment, shown(program) + ", which reads archives, is missing",
        prebuilt() ? "use a package made by `./ridge package tarball --with cluster`" : "run `./ridge build class`");
  ProcessResult r = run_process({program.string(), fs::absolute(archive).string(), to.string()}, to,
                                {.seconds = 20, .output_bytes = 4096});
  if (r.exit_code == 0) return "";
  blame_full_disk(to);
  if (r.exit_code == 127)  // the dynamic loader's exit code
    throw Error(Exit::environment, "ridge-unpack does not run here: " + first_line(r.output), "install libarchive");
  if (r.timed_out) return "the archive takes more than 20 s to unpack";
  return r.output.empty() ? "the archive can't be unpacked" : first_line(r.output);
}

std::string check_out(const fs::path& repository, std::optional<std::int64_t> deadline, const fs::path& scratch,
                      const fs::path& to, std::optional<std::int64_t>& date) {
  if (const std::string why = leads_out(repository); !why.empty()) return why;
  const std::string own = (scratch / "repository").string();
  ProcessResult r =
      git({"clone", "--quiet", "--bare", "--no-local", "--no-tags", "file://" + fs::absolute(repository).string(), own},
          scratch, scratch);
  if (r.exit_code != 0) blame_full_disk(scratch);
  if (r.exit_code != 0) return "git can't clone it: " + first_line(r.output);
  std::vector<std::string> find = {"-C", own, "log", "-1", "--format=%H %ct", "HEAD"};
  if (deadline) find.insert(find.end() - 1, fmt::format("--before={}", *deadline));
  r = git(find, scratch, scratch);
  if (r.exit_code == 0 && r.output.find(' ') == std::string::npos &&
      deadline) {  // no commit in time: take HEAD, which is late
    find = {"-C", own, "log", "-1", "--format=%H %ct", "HEAD"};
    r = git(find, scratch, scratch);
  }
  const std::size_t blank = r.output.find(' ');  // after 40 hexadecimal digits, or 64 with SHA-256
  if (r.exit_code != 0 || blank == std::string::npos) return "the repository has no commit";
  const std::string commit = r.output.substr(0, blank);
  date = std::atoll(r.output.c_str() + blank + 1);
  // The repository's own .gitattributes could leave files out of an archive.
  fs::create_directories(fs::path(own) / "info");
  std::ofstream(fs::path(own) / "info" / "attributes") << "* -export-ignore -export-subst\n";
  r = git({"-C", own, "archive", "--format=tar", "-o", (scratch / "commit.tar").string(), commit}, scratch, scratch);
  if (r.exit_code != 0) blame_full_disk(scratch);
  if (r.exit_code != 0) return "git can't read the commit: " + first_line(r.output);
  return unpack(scratch / "commit.tar", to);
}

bool is_repository(const fs::path& p) {
  std::error_code ec;
  return fs::is_directory(fs::symlink_status(p / ".git", ec)) ||
         (fs::is_regular_file(fs::symlink_status(p / "HEAD", ec)) &&
          fs::is_directory(fs::symlink_status(p / "objects", ec)));
}

bool is_archive(const std::string& name, bool& read) {
  read = true;
  for (const char* end : {".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst"})
    if (lower(name).ends_with(end)) return true;
  read = false;
  for (const char* end : {".rar", ".7z"})
    if (lower(name).ends_with(end)) return true;
  return false;
}

}  // namespace ridge::cluster
