#include "cluster/src/intake/choosing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/intake/misnamed.hpp"
#include "cluster/src/intake/unpacking.hpp"
#include "grader/base/source_text.hpp"
#include "grader/base/text.hpp"

namespace ridge::cluster {

namespace {

constexpr int kMaxEntries = 20000, kMaxDepth = 8;
constexpr std::size_t kMaxCompared = 400;  // files

bool is_source(const fs::path& p, const Lab& lab) {
  static const std::set<std::string> known = {".cu", ".cuh", ".h", ".hpp", ".inc"};
  const std::string name = p.filename().string();
  int copy = 0;
  if (name[0] == '.') return false;  // what systems leave beside files: "._copy.cu"
  return known.count(lower(p.extension().string())) != 0 || !lab_file(name, lab, copy).empty();
}

// Those of the folder with most of them.
std::map<std::string, fs::path> of_one_folder(const fs::path& from, const Lab& lab, bool copies, Staged& s) {
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

// As it is compared: without the line ends of Windows. What can't be read is like no other text.
std::string compared(const fs::path& file) {
  const auto bytes = read_regular(file, 1 << 20);
  const auto text = bytes ? source_text(*bytes) : std::nullopt;
  return text ? replaced(*text, "\r", "") : "unreadable: " + file.string();
}

bool all_equal(const std::vector<fs::path>& files) {
  return !files.empty() && std::all_of(files.begin() + 1, files.end(),
                                       [&](const fs::path& f) { return compared(f) == compared(files[0]); });
}

// Whole clones hold the stubs beside the work, and some hand in an older version, too.
void choose_folder(const Lab& lab, Found& found) {
  struct Folder {
    std::map<std::string, std::string> own;  // texts that differ from the stub
    std::size_t all = 0;
  };
  std::map<fs::path, Folder> folders;
  std::size_t files = 0;
  for (auto& [name, places] : found.places) {
    const std::string stub = replaced(file_text(lab.dir / name), "\r", "");
    std::vector<fs::path> own;
    for (const fs::path& place : places) {
      Folder& folder = folders[place.parent_path()];
      ++folder.all;
      const std::string text = ++files <= kMaxCompared ? compared(place) : "";
      if (text != stub) folder.own[name] = text, own.push_back(place);
    }
    if (!own.empty()) places = own;
  }
  const Folder* best = nullptr;
  for (const auto& [dir, folder] : folders)
    if (best == nullptr || std::pair(folder.own.size(), folder.all) > std::pair(best->own.size(), best->all))
      best = &folder, found.sources = dir;
  for (const auto& [dir, folder] : folders) {
    std::vector<std::string> differ;
    for (const auto& [name, text] : folder.own)
      if (const auto here = best->own.find(name); here != best->own.end() && here->second != text)
        differ.push_back(name);
    if (!differ.empty() && (differ.size() > 1 || folder.own.size() == best->own.size()))
      found.twins =
          fmt::format("holds {0}/{2} and {1}/{2}, which differ: which one counts? Hand in one folder",
                      printable(found.sources.filename().string()), printable(dir.filename().string()), differ[0]);
  }
}

// Files of the lab that lie in other folders than most of them, one folder for each task. Two of one name are a
// problem, and so is a file that is there and can't be taken: the stub in its place would cost the task.
void add_missing(const Found& found, const Lab& lab, std::map<std::string, fs::path>& files, Staged& s) {
  for (const std::string& file : lab.files) {
    if (files.count(file) != 0 || !s.problem.empty()) continue;
    const auto at = found.places.find(file);
    if (at != found.places.end() && all_equal(at->second)) {
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
      if (const std::string name = misnamed(file, found.others, found.sources, lab); !name.empty())
        s.problem = fmt::format("has no {0}; is {1} meant? Hand it in as {0}", file, printable(name));
    }
  }
}

}  // namespace

std::string other_text(const Found& found, const std::map<std::string, fs::path>& files) {
  for (const auto& [name, places] : found.places) {
    const auto chosen = files.find(name);
    if (chosen == files.end()) continue;
    for (const fs::path& place : places)
      if (place.parent_path() != chosen->second.parent_path() && compared(place) != compared(chosen->second))
        return fmt::format("has {} in two versions: which one counts? Hand in one of them", name);
  }
  return "";
}

// Archives wrap the sources in folders. Links are not followed.
Found look_through(const fs::path& top, const Lab& lab) {
  Found found;
  int entries = 0;
  std::vector<std::pair<fs::path, int>> folders = {{top, 0}};
  for (std::size_t i = 0; i < folders.size() && entries < kMaxEntries; ++i) {
    const auto [dir, depth] = folders[i];
    std::error_code ec;
    for (fs::directory_iterator it(dir, ec), end; !ec && it != end && ++entries < kMaxEntries; it.increment(ec)) {
      const std::string name = it->path().filename().string();
      const fs::file_status s = it->symlink_status(ec);
      int copy = 0;
      bool read = false;
      if (fs::is_regular_file(s)) {
        if (const std::string file = lab_file(name, lab, copy); !file.empty())
          found.places[file].push_back(it->path());
        else if (name[0] != '.' || name.ends_with(".icloud"))
          found.others.push_back(it->path());
        if (name[0] != '.' && is_archive(name, read)) {
          if (read) found.archives.push_back(it->path());
          if (!read) found.unread = printable(name);
        }
      }
      if (!fs::is_regular_file(s) && !fs::is_directory(s)) found.links.insert(lab_file(name, lab, copy));
      if (fs::is_directory(s) && depth < kMaxDepth && name[0] != '.' && name != "__MACOSX" &&
          name != "Feedback Attachment(s)")  // Sakai's, for what the instructor writes
        folders.emplace_back(it->path(), depth + 1);
    }
    if (ec)
      found.closed = fmt::format("the folder {} can't be read: {}", printable(dir.filename().string()), ec.message());
  }
  std::sort(found.archives.begin(), found.archives.end());
  std::sort(found.others.begin(), found.others.end());
  for (auto& [name, places] : found.places) std::sort(places.begin(), places.end());
  choose_folder(lab, found);
  return found;
}

std::map<std::string, fs::path> chosen_files(const Found& found, const Lab& lab, bool copies, Staged& s) {
  std::map<std::string, fs::path> files = of_one_folder(found.sources, lab, copies, s);
  if (s.problem.empty()) s.problem = found.twins;
  for (const auto& [name, places] : found.places)  // a stub here, and the student's text in another folder
    if (std::none_of(places.begin(), places.end(), [&](const fs::path& p) { return p.parent_path() == found.sources; }))
      files.erase(name);
  add_missing(found, lab, files, s);
  return files;
}

}  // namespace ridge::cluster
