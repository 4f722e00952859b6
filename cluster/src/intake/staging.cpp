#include "cluster/src/intake/staging.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/intake/unpacking.hpp"
#include "grader/base/error.hpp"
#include "grader/base/source_text.hpp"
#include "grader/base/text.hpp"
#include "grader/build/build.hpp"

namespace ridge::cluster {

namespace {

constexpr std::size_t kMaxFile = 1 << 20;
constexpr int kMaxFiles = 100, kMaxEntries = 20000, kMaxDepth = 8, kMaxArchives = 20;
constexpr int kClocksDiffer = 600;  // seconds

bool is_source(const fs::path& p, const Lab& lab) {
  static const std::set<std::string> known = {".cu", ".cuh", ".h", ".hpp", ".inc"};
  const std::string name = p.filename().string();
  int copy = 0;
  if (name[0] == '.') return false;  // what systems leave beside files: "._copy.cu"
  return known.count(lower(p.extension().string())) != 0 || !lab_file(name, lab, copy).empty();
}

struct Found {
  fs::path sources;                // the folder with the most files of the lab; empty: none has any
  std::map<std::string, std::vector<fs::path>> places;  // of each file of the lab, in all folders
  std::set<std::string> links;                          // files of the lab that are links or devices
  std::string closed;                                   // why a folder can't be listed
  std::vector<fs::path> archives;  // that were met on the way
  std::string unread;              // the name of an archive of a kind that is not read
};

// Archives wrap the sources in folders. Links are not followed.
Found look_through(const fs::path& top, const Lab& lab) {
  Found found;
  int most = 0, entries = 0;
  std::vector<std::pair<fs::path, int>> folders = {{top, 0}};
  for (std::size_t i = 0; i < folders.size() && entries < kMaxEntries; ++i) {
    const auto [dir, depth] = folders[i];
    std::set<std::string> here;
    std::error_code ec;
    for (fs::directory_iterator it(dir, ec), end; !ec && it != end && ++entries < kMaxEntries; it.increment(ec)) {
      const std::string name = it->path().filename().string();
      const fs::file_status s = it->symlink_status(ec);
      int copy = 0;
      bool read = false;
      if (fs::is_regular_file(s)) {
        if (const std::string file = lab_file(name, lab, copy); !file.empty())
          here.insert(file), found.places[file].push_back(it->path());
        if (name[0] != '.' && is_archive(name, read)) {
          if (read) found.archives.push_back(it->path());
          if (!read) found.unread = printable(name);
        }
      }
      if (!fs::is_regular_file(s) && !fs::is_directory(s)) found.links.insert(lab_file(name, lab, copy));
      if (fs::is_directory(s) && depth < kMaxDepth && name[0] != '.' && name != "__MACOSX")
        folders.emplace_back(it->path(), depth + 1);
    }
    if (ec) found.closed = fmt::format("the folder {} can't be read: {}", printable(dir.filename().string()), ec.message());
    if (static_cast<int>(here.size()) > most) most = static_cast<int>(here.size()), found.sources = dir;
  }
  std::sort(found.archives.begin(), found.archives.end());
  return found;
}

// The files of `from` that are sources, under the names that the lab gives them. `copies`: of "copy.cu", "copy-1.cu"
// and "copy-2.cu" the last one counts, as Canvas numbers what is handed in again; else two of one name are a problem.
std::map<std::string, fs::path> chosen(const fs::path& from, const Lab& lab, bool copies, Staged& s) {
  std::map<std::string, std::pair<int, fs::path>> best;
  std::error_code ec;
  for (fs::directory_iterator it(from, ec), end; !ec && it != end; it.increment(ec)) {
    if (!is_source(it->path(), lab) || !fs::is_regular_file(it->symlink_status(ec))) continue;
    int number = 0;
    const std::string name = it->path().filename().string(), file = lab_file(name, lab, number);
    const auto [at, fresh] = best.emplace(file.empty() ? name : file, std::pair(number, it->path()));
    if (fresh) continue;
    if (!copies)
      s.problem = fmt::format("holds both {} and {}: which one counts? Hand in one of them",
                              printable(at->second.second.filename().string()), printable(name));
    if (number > at->second.first) at->second = {number, it->path()};
  }
  std::map<std::string, fs::path> files;
  for (const auto& [name, file] : best) {
    files[name] = file.second;
    if (file.first != 0)
      s.note += fmt::format("{}{} is taken as {}", s.note.empty() ? "" : "; ",
                            printable(file.second.filename().string()), name);
  }
  return files;
}

// Files of the lab that lie in other folders than most of them, one folder for each task. Two of one name are a problem,
// and so is a file that is there and can't be taken: the stub in its place would cost the task.
void add_missing(const Found& found, const Lab& lab, std::map<std::string, fs::path>& files, Staged& s) {
  for (const std::string& file : lab.files) {
    if (files.count(file) != 0 || !s.problem.empty()) continue;
    const auto at = found.places.find(file);
    if (at != found.places.end() && at->second.size() == 1) {
      files[file] = at->second[0];
      s.note += fmt::format("{}{} is taken from the folder {}", s.note.empty() ? "" : "; ", file,
                            printable(at->second[0].parent_path().filename().string()));
      continue;
    }
    if (at != found.places.end()) {
      std::vector<std::string> names;
      for (const fs::path& p : at->second)
        names.push_back(printable((p.parent_path().filename() / p.filename()).string()));
      std::sort(names.begin(), names.end());
      s.problem = fmt::format("holds {}: which one counts? Hand in one of them", fmt::join(names, " and "));
    } else if (found.links.count(file) != 0) {
      s.problem = file + " is a link, which is not followed; hand in the file itself";
    } else {
      std::error_code ec;
      const std::string stem = lower(fs::path(file).stem().string());
      for (fs::directory_iterator it(found.sources, ec), end; !ec && it != end; it.increment(ec)) {
        const std::string name = it->path().filename().string();
        int copy = 0;
        if (lower(name).starts_with(stem) && lower(name).ends_with(".cu") && lab_file(name, lab, copy).empty())
          s.problem = fmt::format("has no {0}; is {1} meant? Hand it in as {0}", file, printable(name));
      }
    }
  }
}

void copy_sources(const std::map<std::string, fs::path>& files, const fs::path& to, std::string& problem) {
  if (files.size() > kMaxFiles) problem = fmt::format("more than {} source files", kMaxFiles);
  for (const auto& [name, from] : files) {
    if (!problem.empty()) return;
    if (printable(name) != name || name.find('\n') != std::string::npos || name.size() > 100) {
      problem = "a file's name has characters that no source file needs";
      return;
    }
    const auto bytes = read_regular(from, kMaxFile);
    if (!bytes) {
      problem = name + " is larger than 1 MiB, or can't be read";
      return;
    }
    const auto text = source_text(*bytes);
    if (!text) {
      problem = fmt::format("{} {}", name, kNoSourceText);
      return;
    }
    publish(to / name, *text);
    chmod((to / name).c_str(), 0400);
  }
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

std::int64_t newest_of(const std::vector<fs::path>& files) {
  std::int64_t newest = 0;
  struct stat st {};
  for (const fs::path& file : files)
    if (lstat(file.c_str(), &st) == 0) newest = std::max<std::int64_t>(newest, st.st_mtime);
  return newest;
}

}  // namespace

Staged stage_entry(const Entry& entry, const Lab& lab, std::optional<std::int64_t> deadline, const fs::path& to) {
  Staged s;
  TemporaryDir scratch("intake");
  const fs::path own = scratch.path() / "files";
  make_folders(own);
  fs::path from = own;
  bool folder = false;
  for (std::size_t i = 0; i < entry.parts.size(); ++i) {
    const EntryPart& part = entry.parts[i];
    const std::string name = part.file.empty() ? part.path.filename().string() : part.file;
    struct stat st {};
    if (lstat(part.path.c_str(), &st) != 0) return s.problem = "can't be read", s;
    s.handed_in = std::max<std::int64_t>(s.handed_in.value_or(st.st_mtime), st.st_mtime);
    bool read = false;
    int copy = 0;
    if (S_ISDIR(st.st_mode) && is_repository(part.path)) {
      s.problem = check_out(part.path, deadline, scratch.path(), own, s.handed_in);
    } else if (S_ISDIR(st.st_mode)) {
      from = part.path, folder = true;
    } else if (!S_ISREG(st.st_mode)) {
      s.problem = "is neither a folder nor an archive";
    } else if (!is_archive(name, read) && (!lab_file(name, lab, copy).empty() || entry.parts.size() > 1)) {
      const auto bytes = read_regular(part.path, kMaxFile);  // a loose file
      if (!bytes) s.problem = printable(name) + " is larger than 1 MiB, or can't be read";
      if (bytes && name.find('/') == std::string::npos) publish(own / name, *bytes);
    } else if (is_archive(name, read) && !read) {
      s.problem = "is an archive of a kind that is not read; hand in a zip or tar.gz";
    } else {
      const fs::path into = entry.parts.size() == 1 ? own : scratch.path() / "files" / fmt::format("part-{}", i);
      make_folders(into);
      s.problem = unpack(part.path, into);
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
  std::map<std::string, fs::path> files = chosen(found.sources, lab, lms, s);
  add_missing(found, lab, files, s);
  if (folder) {  // the newest file's date counts, not the folder's
    std::vector<fs::path> labs;
    for (const auto& [name, file] : files)
      if (std::count(lab.files.begin(), lab.files.end(), name) != 0) labs.push_back(file);
    s.handed_in = newest_of(labs);
  }
  if (const std::int64_t now = wall_now(); s.handed_in.value_or(0) > now + kClocksDiffer) {
    s.handed_in = now;
    s.note += fmt::format("{}its date lies in the future, so the time of this intake is taken",
                          s.note.empty() ? "" : "; ");
  }
  if (const auto text = read_regular(found.sources / loop::kParticipationFile, loop::kMaxParticipationBytes))
    s.participation = loop::read_participation(*text);
  make_folders(to);
  if (s.problem.empty()) copy_sources(files, to, s.problem);
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
  if (!entry.note.empty()) s.note += (s.note.empty() ? "" : "; ") + entry.note;
  return s;
}

}  // namespace ridge::cluster
