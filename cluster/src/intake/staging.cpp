#include "cluster/src/intake/staging.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/intake/choosing.hpp"
#include "cluster/src/intake/misnamed.hpp"
#include "cluster/src/intake/snapshot.hpp"
#include "cluster/src/intake/unpacking.hpp"
#include "grader/base/error.hpp"
#include "grader/base/source_text.hpp"
#include "grader/base/text.hpp"
#include "grader/build/build.hpp"

namespace ridge::cluster {

namespace {

constexpr std::size_t kMaxFile = 1 << 20;
constexpr int kMaxFiles = 100, kMaxArchives = 20;
constexpr int kClocksDiffer = 600;  // seconds

// Copies the sources as text. Returns the files of the lab that are empty, as half an upload leaves them: they would
// not link, and count as missing.
std::vector<std::string> copy_sources(const std::map<std::string, fs::path>& files, const Lab& lab, const fs::path& to,
                                      std::string& problem) {
  std::vector<std::string> empty;
  if (files.size() > kMaxFiles) problem = fmt::format("more than {} source files", kMaxFiles);
  for (const auto& [name, from] : files) {
    if (!problem.empty()) return empty;
    if (printable(name) != name || name.find('\n') != std::string::npos || name.size() > 100) {
      problem = "a file's name has characters that no source file needs";
      return empty;
    }
    const auto bytes = read_regular(from, kMaxFile);
    if (!bytes) {
      problem = name + " is larger than 1 MiB, or can't be read";
      return empty;
    }
    const auto text = source_text(*bytes);
    if (!text) {
      problem = fmt::format("{} {}", name, kNoSourceText);
      return empty;
    }
    if (const std::string what = no_source(*text); !what.empty()) {
      problem = name + " " + what;
      return empty;
    }
    if (trimmed(*text).empty() && std::count(lab.files.begin(), lab.files.end(), name) != 0) {
      empty.push_back(name);
      continue;
    }
    publish(to / name, *text);
    chmod((to / name).c_str(), 0400);
  }
  if (!empty.empty() &&
      std::none_of(lab.files.begin(), lab.files.end(), [&](const std::string& f) { return fs::exists(to / f); }))
    problem =
        fmt::format("{} {} empty: was the upload complete?", fmt::join(empty, ", "), empty.size() == 1 ? "is" : "are");
  return empty;
}

// The formal reason for which the judge would refuse these files: an unusual name, or a name of the emulator's.
std::string problem_of_form(const Lab& lab, const fs::path& sources) {
  TemporaryDir scratch("form");
  try {
    Submission s;
    s.dir = sources;
    stage(lab, s, scratch.path());
  } catch (const Error& e) {
    if (e.code != Exit::usage) throw;
    std::string what = e.what();
    for (const std::string& prefix : {sources.string() + "/", shown(sources) + "/"}) what = replaced(what, prefix, "");
    return fmt::format("{}; {}", what, e.advice);
  }
  return "";
}

// Unpacks what lies in archives inside of a hand-in: Moodle's folders hold the archive that the student uploaded.
std::string unpack_inner(const std::vector<fs::path>& archives, const fs::path& scratch, int level) {
  std::string problem;
  if (archives.size() > kMaxArchives) return fmt::format("holds more than {} archives", kMaxArchives);
  for (std::size_t i = 0; i < archives.size(); ++i) {
    const fs::path to = scratch / fmt::format("inner-{}-{}", level, i);
    make_folders(to);
    if (const std::string p = unpack(archives[i], to); !p.empty())
      problem = fmt::format("{}: {}", printable(archives[i].filename().string()), p);
  }
  return problem;
}

// A part of the lab's files lies beside an archive: what is missing may be in there.
std::string rest_in_archive(const Found& found, const std::map<std::string, fs::path>& files, const Lab& lab,
                            const fs::path& scratch) {
  const auto missing =
      std::find_if(lab.files.begin(), lab.files.end(), [&](const std::string& f) { return files.count(f) == 0; });
  if (missing == lab.files.end()) return "";
  if (!found.unread.empty())
    return fmt::format("has no {}, and {} is an archive of a kind that is not read; hand in a zip or tar.gz of all",
                       *missing, found.unread);
  const std::string all = "; hand in all files in one folder or one archive";
  for (std::size_t i = 0; i < found.archives.size(); ++i) {
    const fs::path to = scratch / fmt::format("rest-{}", i);
    make_folders(to);
    const std::string name = printable(found.archives[i].filename().string());
    if (const std::string p = unpack_inner({found.archives[i]}, to, 0); !p.empty())
      return fmt::format("has no {}, and {}{}", *missing, p, all);
    const Found inner = look_through(to, lab);
    for (const auto& [file, places] : inner.places)
      if (files.count(file) == 0) return fmt::format("has no {}, which is in {}{}", file, name, all);
  }
  return "";
}

std::int64_t newest_of(const std::vector<fs::path>& files) {
  std::int64_t newest = 0;
  struct stat st {};
  for (const fs::path& file : files)
    if (lstat(file.c_str(), &st) == 0) newest = std::max<std::int64_t>(newest, st.st_mtime);
  return newest;
}

// What the LMS says of the date comes before the files' dates, which are those of its download.
void set_date(const Entry& entry, std::optional<std::int64_t> deadline, Staged& s) {
  auto note = [&](const std::string& text) { s.note = text + (s.note.empty() ? "" : "; ") + s.note; };
  if (entry.handed_in) {
    s.handed_in = entry.handed_in, s.by_file = false;
  } else if (entry.late || entry.in_time) {
    s.by_file = false;
    if (entry.in_time && deadline && s.handed_in.value_or(0) > *deadline) {
      s.handed_in = deadline;
      note("Canvas did not mark it late, so it counts as handed in by the deadline");
    }
  }
  if (const std::int64_t now = wall_now(); s.handed_in.value_or(0) > now + kClocksDiffer) {
    s.handed_in = now;
    note("its date lies in the future, so the time of this intake is taken");
  }
}

Staged staged(const Entry& entry, const Lab& lab, std::optional<std::int64_t> deadline, const fs::path& to) {
  Staged s;
  s.by_file = true;
  TemporaryDir scratch("intake");
  const fs::path own = scratch.path() / "files";
  make_folders(own);
  fs::path from = own;
  bool folder = false, set_back = false;
  for (std::size_t i = 0; i < entry.parts.size(); ++i) {
    const EntryPart& part = entry.parts[i];
    const std::string name = part.file.empty() ? part.path.filename().string() : part.file;
    fs::path path = part.path;
    if (part.account) {
      path = scratch.path() / fmt::format("own-{}", i);
      make_folders(path);
      path /= part.path.filename();
      const Snapshot copied = snapshot(part.path, *part.account, path);
      if (!copied.problem.empty()) return s.problem = copied.problem, s;
      set_back = set_back || copied.set_back;
    }
    struct stat st {};
    if (lstat(path.c_str(), &st) != 0) return s.problem = "can't be read", s;
    s.handed_in = std::max<std::int64_t>(s.handed_in.value_or(st.st_mtime), st.st_mtime);
    bool read = false;
    int copy = 0;
    if (S_ISDIR(st.st_mode) && is_repository(path)) {
      s.problem = check_out(path, deadline, scratch.path(), own, s.handed_in);
      s.by_file = false;
    } else if (S_ISDIR(st.st_mode)) {
      from = path, folder = true;
    } else if (!S_ISREG(st.st_mode)) {
      s.problem = "is neither a folder nor an archive";
    } else if (!is_archive(name, read) && (!lab_file(name, lab, copy).empty() || entry.parts.size() > 1)) {
      const auto bytes = read_regular(path, kMaxFile);  // a loose file
      if (!bytes) s.problem = printable(name) + " is larger than 1 MiB, or can't be read";
      if (bytes && name.find('/') == std::string::npos) publish(own / name, *bytes);
    } else if (is_archive(name, read) && !read) {
      s.problem = "is an archive of a kind that is not read; hand in a zip or tar.gz";
    } else if (is_document(name)) {
      s.problem = "is a document; hand in the source files, or a zip or tar.gz of them";
    } else if (lower(name).ends_with(".cu")) {
      s.problem = fmt::format("is called as none of the lab's files is ({}); hand it in under its name",
                              fmt::join(lab.files, ", "));
    } else if (st.st_size == 0) {
      s.problem = "is empty: was the upload complete?";
    } else {
      const fs::path into = entry.parts.size() == 1 ? own : own / part.path.filename();
      make_folders(into);
      s.problem = unpack(path, into);
    }
    if (!s.problem.empty()) return s;
  }
  Found found = look_through(from, lab);
  for (int level = 0; level < 2 && found.sources.empty() && !found.archives.empty(); ++level) {
    const fs::path inner = scratch.path() / fmt::format("level-{}", level);
    make_folders(inner);
    if (level == 0 && folder) s.handed_in = newest_of(found.archives);
    s.problem = unpack_inner(found.archives, inner, level);
    found = look_through(inner, lab);
    if (!found.sources.empty()) s.problem.clear(), folder = false;
  }
  if (found.sources.empty()) {
    if (s.problem.empty() && !found.unread.empty())
      s.problem = found.unread + " is an archive of a kind that is not read; hand in a zip or tar.gz";
    if (s.problem.empty()) s.problem = found.closed;
    if (s.problem.empty()) s.problem = fmt::format("holds none of the lab's files ({})", fmt::join(lab.files, ", "));
    return s;
  }
  const bool lms = entry.parts.size() > 1 || !entry.parts[0].file.empty();
  const std::map<std::string, fs::path> files = chosen_files(found, lab, lms, s);
  if (s.problem.empty() && entry.parts.size() > 1) s.problem = other_text(found, files);
  if (s.problem.empty()) s.problem = rest_in_archive(found, files, lab, scratch.path());
  if (folder) {  // the newest file's date counts, not the folder's
    std::vector<fs::path> labs;
    for (const auto& [name, file] : files)
      if (std::count(lab.files.begin(), lab.files.end(), name) != 0) labs.push_back(file);
    s.handed_in = newest_of(labs);
  }
  if (const auto text = read_regular(found.sources / loop::kParticipationFile, loop::kMaxParticipationBytes))
    s.participation = loop::read_participation(*text);
  make_folders(to);
  std::vector<std::string> empty;
  if (s.problem.empty()) empty = copy_sources(files, lab, to, s.problem);
  if (!empty.empty() && s.problem.empty())
    s.note += fmt::format("{}{} {} empty", s.note.empty() ? "" : "; ", fmt::join(empty, ", "),
                          empty.size() == 1 ? "is" : "are");
  // The lab's stub replaces a missing file and earns nothing, so that the other files are still graded.
  std::vector<std::string> missing;
  for (const std::string& name : lab.files)
    if (s.problem.empty() && !fs::exists(to / name)) {
      publish(to / name, file_text(lab.dir / name));
      chmod((to / name).c_str(), 0400);
      missing.push_back(name);
    }
  if (!missing.empty())
    s.note +=
        fmt::format("{}has no {}: the lab's stub stands in", s.note.empty() ? "" : "; ", fmt::join(missing, ", "));
  if (s.problem.empty()) s.problem = problem_of_form(lab, to);
  if (set_back && s.by_file)
    s.note += fmt::format("{}its files are dated before they were put here, and the later date counts",
                          s.note.empty() ? "" : "; ");
  if (!entry.note.empty()) s.note += (s.note.empty() ? "" : "; ") + entry.note;
  return s;
}

}  // namespace

Staged stage_entry(const Entry& entry, const Lab& lab, std::optional<std::int64_t> deadline, const fs::path& to) {
  Staged s;
  if (!entry.problem.empty()) {
    s.problem = entry.problem, s.by_file = true;
    s.handed_in = newest_of({entry.parts[0].path});
  } else {
    s = staged(entry, lab, deadline, to);
  }
  set_date(entry, deadline, s);
  return s;
}

}  // namespace ridge::cluster
