#include "cluster/src/intake/entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/intake/gradescope_metadata.hpp"
#include "cluster/src/intake/lms_dates.hpp"
#include "cluster/src/intake/lms_names.hpp"
#include "cluster/src/intake/owners.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"

namespace ridge::cluster {

namespace {

constexpr const char *kSakaiFiles = "Submission attachment(s)", *kSakaiDate = "timestamp.txt";

// Files that systems leave in folders by themselves.
bool nobodys(const std::string& name) {
  static const std::set<std::string> known = {"__MACOSX",   "Thumbs.db", "desktop.ini", kMetadata,
                                              "index.html",                 // Brightspace's list
                                              "grades.csv", "grades.xls"};  // Sakai's
  return name[0] == '.' || known.count(name) != 0;
}

// "Doe, Jane(jdoe)", Sakai's folder of a student, also of one who handed nothing in.
bool of_sakai(const fs::path& path) {
  std::error_code ec;
  return path.filename().string().ends_with(")") &&
         std::ranges::any_of(std::array{kSakaiFiles, kSakaiDate, "comments.txt"},
                             [&](const char* name) { return fs::exists(path / name, ec); });
}

bool holds_files(const fs::path& dir) {
  std::error_code ec;
  return fs::directory_iterator(dir, ec) != fs::directory_iterator();
}

// A source of the lab, whatever stands before its name: "1027_copy.cu".
std::string loose_source(const std::string& name, const Lab& lab) {
  int copy = 0;
  for (std::size_t at = 0; at != std::string::npos; at = name.find_first_of("_- ", at)) {
    if (at != 0) ++at;
    if (!lab_file(name.substr(at), lab, copy).empty()) return name.substr(at);
  }
  return "";
}

}  // namespace

std::string lab_file(const std::string& given, const Lab& lab, int& copy) {
  copy = 0;
  std::string name = lower(given);
  if (name.ends_with(".cu.txt") || name.ends_with(".cuh.txt")) name.resize(name.size() - 4);
  for (const std::string& file : lab.files) {
    if (name == lower(file)) return file;
    const std::string stem = lower(fs::path(file).stem().string()), end = lower(fs::path(file).extension().string());
    if (!name.starts_with(stem) || !name.ends_with(end) || name.size() <= stem.size() + end.size()) continue;
    std::string between = name.substr(stem.size(), name.size() - stem.size() - end.size());
    if (between.size() > 2 && between[0] == ' ' && between[1] == '(') between.erase(0, 1);
    if (between.size() > 2 && between[0] == '(' && between.back() == ')')
      between = "-" + between.substr(1, between.size() - 2);
    if (between.size() < 2 || between.size() > 4 || between[0] != '-' ||
        between.find_first_not_of("0123456789", 1) != std::string::npos)
      continue;
    copy = std::atoi(between.c_str() + 1);
    return file;
  }
  return "";
}

std::vector<Entry> entries_of(const fs::path& dir, const Lab& lab, const std::vector<Student>& roster) {
  std::error_code ec;
  if (fs::is_regular_file(dir, ec))
    throw Error(Exit::usage, shown(dir) + " is a file, and no folder of hand-ins",
                "unpack what you downloaded, and name the folder with --submissions");
  if (!fs::is_directory(dir, ec)) throw Error(Exit::usage, "there is no folder " + shown(dir), "check --submissions");
  std::vector<fs::path> paths;
  for (fs::directory_iterator it(dir, ec), end; !ec && it != end; it.increment(ec))
    if (!nobodys(it->path().filename().string())) paths.push_back(it->path());
  if (ec)
    throw Error(Exit::environment, fmt::format("cannot list {}: {}", shown(dir), ec.message()),
                "this account must be able to read the folder");
  std::sort(paths.begin(), paths.end());
  // Text that was typed into Moodle's editor has a folder of its own beside that of the student's files.
  std::set<std::string> with_files;
  for (const fs::path& p : paths)
    if (const auto n = moodle_name(p.filename().string()); n && n->kind == "file") with_files.insert(n->number);
  std::erase_if(paths, [&](const fs::path& p) {
    const auto n = moodle_name(p.filename().string());
    return n && n->kind != "file" && with_files.count(n->number) != 0;
  });
  // So has the form of Blackboard, beside the files.
  std::set<std::string> attempts;
  for (const fs::path& p : paths)
    if (const auto n = blackboard_name(p.filename().string()); n && !n->file.empty())
      attempts.insert(n->head + n->date);
  std::erase_if(paths, [&](const fs::path& p) {
    const auto n = blackboard_name(p.filename().string());
    return (n && n->file.empty() && attempts.contains(n->head + n->date)) ||
           (of_sakai(p) && !holds_files(p / kSakaiFiles));
  });
  Submitters submitters;
  if (const auto text = read_regular(dir / kMetadata, 64 << 20))
    submitters = read_submitters(*text, shown(dir / kMetadata));

  std::vector<Entry> all;
  std::map<std::string, std::size_t> groups;
  for (const fs::path& path : paths) {
    const std::string name = path.filename().string();
    Owners o = owners_of(name, lab, roster, submitters);
    const bool file = fs::is_regular_file(fs::symlink_status(path, ec));
    if (file && o.file.empty()) {
      o.file = loose_source(name, lab);
      if (!o.file.empty() && o.students.size() == 1) o.group = "loose " + o.students[0]->id;
    }
    if (file && !o.group.empty()) {
      const auto [at, fresh] = groups.emplace(o.group, all.size());
      if (!fresh) {
        all[at->second].parts.push_back({path, o.file});
        continue;
      }
    }
    Entry e;
    e.name = printable(name), e.students = o.students, e.how = o.how, e.why = o.why;
    if (o.late) e.note = "Canvas marked it late, and does not tell by how much; here the file's date decides";
    e.problem = o.problem, e.handed_in = o.handed_in, e.late = o.late, e.in_time = o.in_time;
    if (!file && of_sakai(path)) e.handed_in = sakai_date(read_regular(path / kSakaiDate, 100).value_or(""));
    e.parts.push_back({path, file ? o.file : ""});
    all.push_back(std::move(e));
  }
  return all;
}

}  // namespace ridge::cluster
