#include "grader/build/wrong_solution.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/base/toml_reader.hpp"
#include "grader/lab/header_line.hpp"

namespace ridge {

namespace {

[[noreturn]] void not_complete(const fs::path& file, const std::string& name, const std::string& why) {
  throw Error(Exit::environment, fmt::format("{}: {}: {}", shown(file), name, why),
              "CONTRIBUTING.md says what a wrong solution has");
}

bool plain_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
  });
}

// "copy/memory".
void set_check(WrongSolution& w, const std::string& fails, const fs::path& file) {
  const auto slash = fails.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == fails.size())
    not_complete(file, w.name, "`fails` is not TASK/CHECK");
  w.task = fails.substr(0, slash);
  w.check = fails.substr(slash + 1);
  if (!plain_name(w.task) || !plain_name(w.check)) not_complete(file, w.name, "`fails` is not TASK/CHECK");
}

// A header line with `replaces`, `fails` and `backend`; comments below it say why.
WrongSolution from_file(const fs::path& file) {
  WrongSolution w;
  w.name = file.stem().string();
  w.base.clear();
  w.source = file;
  std::istringstream text(file_text(file));
  std::string line;
  std::getline(text, line);
  const auto fields = header_fields(line);
  if (fields.size() != 3 || fields[0].first != "replaces" || fields[1].first != "fails" ||
      fields[2].first != "backend" || !plain_name(fields[0].second) || !parse<lab::Backend>(fields[2].second))
    not_complete(file, w.name, "the first line is not `// replaces: FILE; fails: TASK/CHECK; backend: cpu`");
  w.file = fields[0].second;
  w.backend = *parse<lab::Backend>(fields[2].second);
  set_check(w, fields[1].second, file);
  while (std::getline(text, line) && line.rfind("// ", 0) == 0) w.why += (w.why.empty() ? "" : " ") + line.substr(3);
  return w;
}

WrongSolution from_table(const toml::table& table, const fs::path& file) {
  WrongSolution w;
  auto text = [&](const char* key) { return table[key].value_or(std::string()); };
  w.name = text("name");
  static const std::set<std::string> known = {"name", "file", "fails", "backend", "base", "why", "edit"};
  for (const auto& [key, node] : table)
    if (known.count(std::string(key.str())) == 0)
      not_complete(file, w.name, fmt::format("unknown key '{}'", key.str()));
  for (const char* key : {"name", "file", "fails", "why"})
    if (text(key).empty()) not_complete(file, w.name, fmt::format("`{}` is missing", key));
  w.file = text("file");
  w.why = text("why");
  w.base = table["base"].value_or(w.base);
  set_check(w, text("fails"), file);
  const auto backend = parse<lab::Backend>(table["backend"].value_or(std::string(name_of(w.backend))));
  if (!backend) not_complete(file, w.name, "`backend` is neither cpu nor cuda");
  w.backend = *backend;
  if (w.why.find('\n') != std::string::npos) not_complete(file, w.name, "`why` has more than one line");
  if (w.base != "solution" && w.base != "stub" && w.base.rfind("steps/", 0) != 0 && w.base.rfind("wrong/", 0) != 0)
    not_complete(file, w.name, "`base` is none of solution, stub, steps/NAME.cu and wrong/NAME.cu");
  if (const toml::array* edits = table["edit"].as_array())
    for (const auto& item : *edits) {
      const toml::array* pair = item.as_array();
      if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_string())
        not_complete(file, w.name, "an edit is not [old, new]");
      w.edits.emplace_back(*(*pair)[0].value<std::string>(), *(*pair)[1].value<std::string>());
    }
  if (w.edits.empty() && w.base == "solution") not_complete(file, w.name, "`edit` is missing");
  return w;
}

// Without the comment that a file begins with, which says what the right solution does.
std::string body_of(const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const bool comment = line.rfind("//", 0) == 0 && line.rfind("// TASK", 0) != 0;
    if (!comment && line.find_first_not_of(" \t") != std::string::npos) break;
    at = end + 1;
  }
  return at < text.size() ? text.substr(at) : "";
}

fs::path base_of(const WrongSolution& w, const Lab& lab) {
  if (w.base == "stub") return lab.dir / w.file;
  if (w.base.rfind("wrong/", 0) == 0) return lab.dir / w.base;
  const fs::path solutions = root_dir() / "solutions" / lab.name;
  return w.base == "solution" ? solutions / w.file : solutions / w.base;
}

// With the headers of `folder` that the text includes in their places. Headers of the lab stay what they are.
std::string with_own_headers(const std::string& text, const fs::path& folder) {
  static constexpr std::string_view kInclude = "#include \"", kOnce = "#pragma once\n";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, end - at);
    at = end;
    const std::size_t quote = line.find('"', kInclude.size());
    const std::string name = line.rfind(kInclude, 0) == 0 && quote != std::string::npos
                                 ? line.substr(kInclude.size(), quote - kInclude.size())
                                 : "";
    std::error_code ec;
    if (!plain_name(name) || !fs::is_regular_file(folder / name, ec)) {
      out += line;
      continue;
    }
    std::string header = body_of(file_text(folder / name));
    if (header.rfind(kOnce, 0) == 0) header.erase(0, kOnce.size());
    out += header;
  }
  return out;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

std::vector<WrongSolution> parse_wrong_solutions(std::string_view text, const fs::path& manifest) {
  std::vector<WrongSolution> all;
  const toml::table table = parse_toml(text, manifest);
  if (const toml::array* entries = table["wrong"].as_array())
    for (const auto& entry : *entries)
      if (const toml::table* one = entry.as_table()) all.push_back(from_table(*one, manifest));
  return all;
}

std::vector<WrongSolution> wrong_solutions(const Lab& lab) {
  std::vector<WrongSolution> all;
  const fs::path manifest = lab.dir / "wrong.toml";
  if (fs::exists(manifest)) all = parse_wrong_solutions(file_text(manifest), manifest);
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(lab.dir / "wrong", ec))
    if (entry.path().extension() == ".cu") all.push_back(from_file(entry.path()));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].name == all[i - 1].name) not_complete(manifest, all[i].name, "the name is used twice");
  return all;
}

WrongSolution wrong_solution(const Lab& lab, const std::string& name) {
  std::vector<std::string> names;
  for (WrongSolution& w : wrong_solutions(lab)) {
    if (w.name == name) return std::move(w);
    names.push_back(w.name);
  }
  const std::string near = nearest(name, names);
  throw Error(Exit::usage, fmt::format("{} has no wrong solution '{}'", lab.name, name),
              !near.empty()   ? fmt::format("did you mean {}?", near)
              : names.empty() ? "a copy of the course for students has none"
                              : fmt::format("available: {}; docs/misconceptions.md says what is wrong in each",
                                            fmt::join(names, ", ")));
}

std::string source_of(const WrongSolution& w, const Lab& lab) {
  if (w.base.empty()) return file_text(w.source);
  const fs::path base = base_of(w, lab);
  std::string text = file_text(base);
  // A wrong solution is one file: where an edit is meant for a header of the solution, the header becomes part of it.
  if (std::any_of(w.edits.begin(), w.edits.end(), [&](const auto& e) { return occurrences(text, e.first) == 0; }))
    text = with_own_headers(text, base.parent_path());
  return edited(w, text, shown(base), lab.dir / "wrong.toml");
}

std::string edited(const WrongSolution& w, const std::string& base_text, const std::string& name,
                   const fs::path& manifest) {
  const std::string base = body_of(base_text);
  std::vector<std::pair<std::size_t, const std::pair<std::string, std::string>*>> places;
  for (const auto& edit : w.edits) {
    if (edit.first.empty()) not_complete(manifest, w.name, "an old text is empty");
    const std::size_t n = occurrences(base, edit.first);
    if (n != 1)
      not_complete(manifest, w.name,
                   fmt::format("this text occurs {} times in {}, not once:\n{}", n, name, edit.first));
    places.emplace_back(base.find(edit.first), &edit);
  }
  std::sort(places.begin(), places.end());
  std::string text =
      fmt::format("// replaces: {}; fails: {}/{}; backend: {}\n// {}\n", w.file, w.task, w.check, w.backend, w.why);
  std::size_t at = 0;
  for (const auto& [place, edit] : places) {
    if (place < at) not_complete(manifest, w.name, "two edits overlap");
    text += base.substr(at, place - at) + edit->second;
    at = place + edit->first.size();
  }
  return text + base.substr(at);
}

}  // namespace ridge
