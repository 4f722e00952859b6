#include "cluster/src/intake/intake.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/csv.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "grader/base/error.hpp"
#include "grader/base/lab.hpp"
#include "grader/base/text.hpp"
#include "grader/result/hashes.hpp"
#include "grader/result/result.hpp"
#include "grader/sandbox/process.hpp"
#include "learn/questions/participation.hpp"

namespace ridge::cluster {

namespace {

constexpr std::size_t kMaxFile = 1 << 20;
constexpr int kMaxFiles = 100, kMaxEntries = 20000, kMaxDepth = 8;

bool is_source(const fs::path& p) {
  static const std::set<std::string> known = {".cu", ".cuh", ".h", ".hpp", ".inc"};
  return known.count(p.extension().string()) != 0;
}

// The student that an entry's name gives: by id or e-mail address, or by an id between underscores, as LMSs name files
// ("doejane_1234_5678_lab03.zip"). nullptr, with the reason in `why`, where there is not exactly one.
const Student* owner(const std::string& name, const std::vector<Student>& roster, std::string& why) {
  std::string stem = name;
  for (const char* end : {".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".tgz", ".tar", ".zip", ".git"})
    if (stem.size() > std::string(end).size() && lower(stem).ends_with(end)) {
      stem.resize(stem.size() - std::string(end).size());
      break;
    }
  for (const Student& s : roster)
    if (s.id == stem || (!s.email.empty() && lower(s.email) == lower(stem))) return &s;
  std::set<const Student*> found;
  for (std::size_t at = 0; at <= stem.size();) {
    const std::size_t end = std::min(stem.find('_', at), stem.size());
    for (const Student& s : roster)
      if (s.id == stem.substr(at, end - at)) found.insert(&s);
    at = end + 1;
  }
  if (found.size() == 1) return *found.begin();
  why = found.empty() ? "nobody on the roster has this name; call it after the student's id"
                      : "the name holds the ids of several students";
  return nullptr;
}

// The folder with the most files of the lab, since archives wrap it in others. Links are not followed.
fs::path source_folder(const fs::path& top, const Lab& lab) {
  fs::path best;
  int most = 0, entries = 0;
  std::vector<std::pair<fs::path, int>> folders = {{top, 0}};
  for (std::size_t i = 0; i < folders.size() && entries < kMaxEntries; ++i) {
    const auto [dir, depth] = folders[i];
    int here = 0;
    std::error_code ec;
    for (fs::directory_iterator it(dir, ec), end; !ec && it != end && ++entries < kMaxEntries; it.increment(ec)) {
      const std::string name = it->path().filename().string();
      const fs::file_status s = it->symlink_status(ec);
      if (fs::is_regular_file(s)) here += std::count(lab.files.begin(), lab.files.end(), name) != 0;
      if (fs::is_directory(s) && depth < kMaxDepth && name[0] != '.' && name != "__MACOSX")
        folders.emplace_back(it->path(), depth + 1);
    }
    if (here > most) most = here, best = dir;
  }
  return best;
}

struct Staged {
  fs::path dir;  // inside the shared folder; a rename moves it to its place
  std::string problem, note;
  std::optional<std::int64_t> handed_in;
  std::optional<loop::Participation> participation;
};

void copy_sources(const fs::path& from, const fs::path& to, std::string& problem) {
  int files = 0;
  std::error_code ec;
  for (fs::directory_iterator it(from, ec), end; !ec && it != end; it.increment(ec)) {
    const fs::path p = it->path();
    if (!is_source(p) || !fs::is_regular_file(it->symlink_status(ec))) continue;
    const std::string name = p.filename().string();
    if (printable(name) != name || name.find('\n') != std::string::npos || name.size() > 100) {
      problem = "a file's name has characters that no source file needs";
      return;
    }
    if (++files > kMaxFiles) {
      problem = fmt::format("more than {} source files", kMaxFiles);
      return;
    }
    auto text = read_regular(p, kMaxFile);
    if (!text) {
      problem = name + " is larger than 1 MiB, or can't be read";
      return;
    }
    publish(to / name, *text);
    chmod((to / name).c_str(), 0400);
  }
}

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
                                   "HOME=" + scratch.string(),
                                   "git"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_process(argv, dir, {.seconds = 60});
}

std::string unpack(const fs::path& archive, const fs::path& to) {
  const fs::path program = build_dir() / "bin/ridge-unpack";
  if (!fs::exists(program))
    throw Error(Exit::environment, shown(program) + ", which reads archives, is missing",
                prebuilt() ? "use a package made by `./ridge package tarball --with cluster`" : "run `./ridge build`");
  ProcessResult r =
      run_process({program.string(), archive.string(), to.string()}, to, {.seconds = 20, .output_bytes = 4096});
  if (r.exit_code == 0) return "";
  blame_full_disk(to);
  if (r.exit_code == 127)  // the dynamic loader's exit code
    throw Error(Exit::environment, "ridge-unpack does not run here: " + first_line(r.output), "install libarchive");
  if (r.timed_out) return "the archive takes more than 20 s to unpack";
  return r.output.empty() ? "the archive can't be unpacked" : first_line(r.output);
}

// Unpacks the last commit of HEAD before the deadline, else HEAD, and returns a problem or an empty text.
std::string check_out(const fs::path& repository, std::optional<std::int64_t> deadline, const fs::path& scratch,
                      const fs::path& to, std::optional<std::int64_t>& date) {
  const std::string own = (scratch / "repository").string();
  ProcessResult r =
      git({"clone", "--quiet", "--bare", "--no-local", "--no-tags", "file://" + fs::absolute(repository).string(), own},
          scratch, scratch);
  if (r.exit_code != 0) blame_full_disk(scratch);
  if (r.exit_code != 0) return "git can't clone it: " + first_line(r.output);
  std::vector<std::string> find = {"-C", own, "log", "-1", "--format=%H %ct", "HEAD"};
  if (deadline) find.insert(find.end() - 1, fmt::format("--before={}", *deadline));
  r = git(find, scratch, scratch);
  if (r.exit_code == 0 && r.output.size() <= 40 && deadline) {  // no commit in time: take HEAD, which is late
    find = {"-C", own, "log", "-1", "--format=%H %ct", "HEAD"};
    r = git(find, scratch, scratch);
  }
  if (r.exit_code != 0 || r.output.size() <= 40) return "the repository has no commit";
  const std::string commit = r.output.substr(0, 40);
  date = std::atoll(r.output.c_str() + 41);
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

Staged stage(const fs::path& entry, const Lab& lab, std::optional<std::int64_t> deadline, const fs::path& staging) {
  Staged s;
  s.dir = staging;
  struct stat st {};
  if (lstat(entry.c_str(), &st) != 0) return s.problem = "can't be read", s;
  s.handed_in = st.st_mtime;
  TemporaryDir scratch("intake");
  fs::path from = entry;
  if (S_ISREG(st.st_mode) || (S_ISDIR(st.st_mode) && is_repository(entry))) {
    from = scratch.path() / "files";
    make_folders(from);
    s.problem =
        S_ISREG(st.st_mode) ? unpack(entry, from) : check_out(entry, deadline, scratch.path(), from, s.handed_in);
    if (!s.problem.empty()) return s;
  } else if (!S_ISDIR(st.st_mode)) {
    s.problem = "is neither a folder nor an archive";
    return s;
  }
  const fs::path sources = source_folder(from, lab);
  if (sources.empty()) {
    s.problem = fmt::format("holds none of the lab's files ({})", fmt::join(lab.files, ", "));
    return s;
  }
  if (S_ISDIR(st.st_mode) && from == entry) {  // the newest file's date counts, not the folder's
    std::int64_t newest = 0;
    for (const std::string& name : lab.files)
      if (lstat((sources / name).c_str(), &st) == 0) newest = std::max<std::int64_t>(newest, st.st_mtime);
    s.handed_in = newest;
  }
  if (const auto text = read_regular(sources / loop::kParticipationFile, loop::kMaxParticipationBytes))
    s.participation = loop::read_participation(*text);
  make_folders(s.dir);
  copy_sources(sources, s.dir, s.problem);
  // The lab's stub replaces a missing file and earns nothing, so that the other files are still graded.
  std::vector<std::string> missing;
  for (const std::string& name : lab.files)
    if (s.problem.empty() && !fs::exists(s.dir / name)) {
      publish(s.dir / name, file_text(lab.dir / name));
      chmod((s.dir / name).c_str(), 0400);
      missing.push_back(name);
    }
  if (!missing.empty()) s.note = fmt::format("has no {}: the lab's stub stands in", fmt::join(missing, ", "));
  return s;
}

}  // namespace

fs::path content_dir(const Course& course, const std::string& lab, const std::string& content) {
  return course.shared / "contents" / lab / content;
}

std::vector<Student> read_roster(const fs::path& csv) {
  auto text = read_regular(csv, 64 << 20);
  if (!text) throw Error(Exit::usage, "cannot read the roster " + shown(csv), "check --roster");
  const Csv table = parse_csv(*text, shown(csv));
  const int id =
      table.column({"id", "student_id", "SIS Login ID", "SIS User ID", "ID number", "Username", "Email address"});
  if (id < 0)
    throw Error(Exit::usage, shown(csv) + " has no column `id`", "give it a first line with names: id,name,email");
  const int name = table.column({"name", "Student", "Full name", "Surname", "last_name"});
  const int email = table.column({"email", "Email address", "SIS Login ID"});
  std::vector<Student> all;
  std::set<std::string> seen;
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    Student s{table.at(i, id), table.at(i, name), table.at(i, email)};
    if (s.id.empty() || s.name.find("Points Possible") != std::string::npos) continue;
    if (printable(s.id) != s.id || s.id.find('/') != std::string::npos || s.id.size() > 200)
      throw Error(Exit::usage,
                  fmt::format("{}: row {}: '{}' is not a student's id", shown(csv), i + 1, capped(printable(s.id), 60)),
                  "an id has at most 200 printable characters and no slash");
    if (!seen.insert(s.id).second)
      throw Error(Exit::usage, fmt::format("{}: the id {} comes twice", shown(csv), s.id), "every student has one row");
    all.push_back(s);
  }
  if (all.empty()) throw Error(Exit::usage, shown(csv) + " names no student", "one row each, below a line with names");
  return all;
}

IntakeReport take_in(Gradebook& book, const std::string& lab_name, const fs::path& dir,
                     const std::vector<Student>& roster) {
  const Course& course = book.course();
  const CourseLab rules = course.lab(lab_name);
  const Lab lab = find_lab(lab_name);
  IntakeReport report;
  std::error_code ec;
  if (!fs::is_directory(dir, ec)) throw Error(Exit::usage, "there is no folder " + shown(dir), "check --submissions");
  std::vector<fs::path> entries;
  for (const auto& e : fs::directory_iterator(dir, ec))
    if (e.path().filename().string()[0] != '.') entries.push_back(e.path());
  std::sort(entries.begin(), entries.end());

  struct Row {
    std::string student, content, source, problem;
    std::optional<std::int64_t> handed_in;
    std::optional<loop::Participation> participation;
  };
  std::vector<Row> rows;
  const fs::path parent = content_dir(course, lab.name, "x").parent_path();
  make_folders(parent);
  for (const fs::path& entry : entries) {
    const std::string name = printable(entry.filename().string());
    std::string why;
    const Student* student = owner(entry.filename().string(), roster, why);
    if (student == nullptr) {
      report.problems.push_back(name + ": " + why);
      continue;
    }
    // In a folder that all may write to, a name proves nothing: the file must not belong to another student's account.
    struct stat st {};
    const passwd* account = lstat(entry.c_str(), &st) == 0 ? getpwuid(st.st_uid) : nullptr;
    if (account != nullptr && student->id != account->pw_name &&
        std::any_of(roster.begin(), roster.end(), [&](const Student& s) { return s.id == account->pw_name; })) {
      report.problems.push_back(fmt::format("{}: it was handed in by {}'s account", name, account->pw_name));
      continue;
    }
    std::optional<std::int64_t> deadline = rules.deadline;
    for (Rows r = book.db().query(
             "SELECT value FROM decision WHERE kind = 'extension' AND lab = ? AND student = ? ORDER BY id", lab.name,
             student->id);
         r.next();)
      deadline = parse_date(r.text(0));
    if (deadline) *deadline += 60 * rules.late.grace_minutes;
    const fs::path staging = parent / (".staging-" + new_nonce());
    Staged s;
    try {
      s = stage(entry, lab, deadline, staging);
    } catch (...) {
      fs::remove_all(staging, ec);
      throw;
    }
    std::string content;
    if (s.problem.empty()) {
      content = combined(submission_hashes(staging, lab));
      if (submission_hashes(staging, lab).empty()) s.problem = "holds none of the lab's files", content.clear();
    }
    if (s.problem.empty() && !fs::exists(content_dir(course, lab.name, content))) {
      sync_folder(staging);
      const fs::path place = content_dir(course, lab.name, content);
      fs::rename(staging, place, ec);  // fails where another process has just made it
      if (!fs::exists(place))
        throw Error(Exit::environment, fmt::format("cannot make {}: {}", shown(place), ec.message()),
                    "free some space there, then the same command again");
      ++report.contents;
    }
    fs::remove_all(staging, ec);
    if (s.problem.empty() && !s.note.empty()) report.problems.push_back(name + ": " + s.note);
    if (!s.problem.empty()) report.problems.push_back(name + ": " + s.problem);
    rows.push_back({student->id, content, name, s.problem, s.handed_in, s.participation});
  }
  sync_folder(parent);

  Transaction all(book.db());
  for (const Student& s : roster) book.add_student(s);
  for (const Row& r : rows) {
    const int fresh = book.db().change(
        "INSERT INTO submission(lab, student, content, source, handed_in, problem, taken) VALUES(?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        lab.name, r.student, r.content, r.source, r.handed_in, r.problem, wall_now());
    ++(fresh != 0 ? report.taken : report.known);
    if (r.participation) book.set_participation(lab.name, r.student, *r.participation);
    if (!r.content.empty())
      book.db().change(
          "INSERT INTO work(lab, content, backend, generation, state) SELECT ?1, ?2, ?3, 1, 'waiting' WHERE NOT EXISTS "
          "(SELECT 1 FROM work WHERE lab = ?1 AND content = ?2 AND backend = ?3)",
          lab.name, r.content, rules.backend);
  }
  all.commit();
  return report;
}

}  // namespace ridge::cluster
