#include "serve/work_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "grader/base/sha256.hpp"
#include "serve/replace_file.hpp"

namespace ridge::serve {

namespace {

std::mutex saving;

// Why the file may not be touched; empty: it may, or there is none.
std::string problem_of(const Lab& lab, const std::string& name) {
  if (std::find(lab.files.begin(), lab.files.end(), name) == lab.files.end())
    return "lab " + lab.name + " has no file of this name";
  std::error_code ec;
  const fs::path file = work_dir() / lab.name / name;
  const fs::path work = fs::weakly_canonical(work_dir(), ec), folder = fs::weakly_canonical(file.parent_path(), ec);
  if (ec || folder != work / lab.name) return shown(file.parent_path()) + " is a link out of the work folder";
  const fs::file_status s = fs::symlink_status(file, ec);
  if (s.type() == fs::file_type::not_found || s.type() == fs::file_type::regular) return {};
  return shown(file) + " is no plain file";
}

WorkFile read_now(const Lab& lab, const std::string& name) {
  WorkFile f;
  f.problem = problem_of(lab, name);
  if (!f.problem.empty()) return f;
  const fs::path file = work_dir() / lab.name / name;
  std::error_code ec;
  const std::uintmax_t bytes = fs::file_size(file, ec);
  if (ec) {
    f.problem = shown(file) + " is not there: ./ridge start " + lab.name.substr(0, 2) + " adds it";
  } else if (bytes > kMostText) {
    f.problem = shown(file) + " is larger than this page edits; use an editor of your own";
  } else {
    f.text = file_text(file);
    if (f.text.size() != bytes) {
      f.text.clear();
      f.problem = shown(file) + " cannot be read";
      return f;
    }
    f.version = sha256(f.text);
    if (const std::string why = text_problem(f.text); !why.empty()) {
      f.text.clear();
      f.problem = shown(file) + " is not edited here: " + why;
    }
  }
  return f;
}

}  // namespace

WorkFile read_work_file(const Lab& lab, const std::string& name) { return read_now(lab, name); }

Saved save_work_file(const Lab& lab, const std::string& name, const std::string& text, const std::string& base) {
  std::lock_guard lock(saving);
  if (const std::string why = problem_of(lab, name); !why.empty()) return {Saved::How::refused, {}, why};
  if (const std::string why = text_problem(text); !why.empty()) return {Saved::How::refused, {}, why};
  const fs::path file = work_dir() / lab.name / name;
  const std::string version = sha256(text);
  std::error_code ec;
  if (fs::exists(file, ec)) {
    WorkFile now = read_now(lab, name);
    if (!now.problem.empty()) return {Saved::How::refused, {}, now.problem};  // the page has not seen its text
    if (now.version == version) return {Saved::How::saved, std::move(now), {}};
    if (now.version != base) return {Saved::How::conflict, std::move(now), {}};
  }
  const Replaced how = replace_file(file, text, [&](const std::string& now) { return sha256(now) == base; });
  if (how == Replaced::failed)
    return {Saved::How::failed, {}, "cannot write " + shown(file) + ": " + std::strerror(errno) + "; free some space"};
  if (how == Replaced::changed) return {Saved::How::conflict, read_now(lab, name), {}};
  return {Saved::How::saved, {text, version, {}}, {}};
}

}  // namespace ridge::serve
