#include "cluster/src/intake/misnamed.hpp"

#include <algorithm>
#include <set>

#include "cluster/src/base/strings.hpp"

namespace ridge::cluster {

namespace {

std::string ending(const fs::path& file) { return lower(file.extension().string()); }

// What stands beside sources and is not handed in for one: reports, pictures, outputs.
bool no_source_by_name(const fs::path& file) {
  static const std::set<std::string> known = {".pdf", ".png", ".jpg", ".jpeg", ".gif", ".svg",  ".md",  ".csv",
                                              ".log", ".o",   ".obj", ".exe",  ".out", ".json", ".ptx", ".cubin"};
  return known.count(ending(file)) != 0;
}

}  // namespace

std::string misnamed(const std::string& file, const std::vector<fs::path>& others, const fs::path& sources,
                     const Lab& lab) {
  const std::string whole = lower(file), stem = lower(fs::path(file).stem().string());
  std::string similar, further;
  std::error_code ec;
  for (const fs::path& other : others) {
    const std::string name = other.filename().string();
    if (fs::exists(lab.dir / name, ec)) continue;  // the lab's own entry.cu, baseline.cu and headers
    const std::string plain = lower(name);
    if (plain.find(whole) != std::string::npos) return name;
    if (similar.empty() && plain.find(stem) != std::string::npos && !no_source_by_name(other)) similar = name;
    if (further.empty() && ending(other) == ".cu" && other.parent_path() == sources) further = name;
  }
  return similar.empty() ? further : similar;
}

std::string no_source(const std::string& text) {
  const std::string begin = lower(trimmed(text.substr(0, 1000)));
  if (begin.starts_with("{\\rtf")) return "is a document (RTF); save it as plain text";
  if (begin.starts_with("%pdf-")) return "is a document (PDF); hand in the source itself";
  if (begin.starts_with("<!doctype html") || begin.starts_with("<html"))
    return "is a web page; download the file itself (`Raw`), and hand that in";
  if (begin.starts_with("version https://git-lfs"))
    return "is a pointer of Git LFS; run `git lfs pull`, and hand in the file itself";
  return "";
}

bool is_document(const std::string& name) {
  static const std::set<std::string> known = {".docx", ".doc",  ".odt",   ".rtf",  ".pages",
                                              ".pdf",  ".pptx", ".ipynb", ".html", ".webarchive"};
  return known.count(ending(name)) != 0;
}

}  // namespace ridge::cluster
