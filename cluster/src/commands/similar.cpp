// `ridge cluster similar`: passages that hand-ins share, for a person to read. It changes no grade.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cluster/src/base/files.hpp"
#include "cluster/src/commands/registry.hpp"
#include "cluster/src/intake/entries.hpp"
#include "cluster/src/intake/intake.hpp"
#include "cluster/src/intake/staging.hpp"
#include "cluster/src/similar/matching.hpp"
#include "cluster/src/similar/page.hpp"
#include "grader/base/error.hpp"
#include "grader/base/source_text.hpp"
#include "grader/base/text.hpp"
#include "grader/lab/lab.hpp"

namespace ridge::cluster {

namespace {

using similar::HandIn;

struct SimilarArguments {
  std::string course, lab, html;
  std::vector<std::string> against;
  int most = 20;
  double common = 20;
};

constexpr std::size_t kMostSource = 1 << 20;

bool holds_source(const fs::path& p) {
  const std::string end = p.extension().string();
  return end == ".cu" || end == ".cuh" || end == ".hpp" || end == ".h" || end == ".inc";
}

std::vector<std::pair<std::string, std::string>> sources_in(const fs::path& dir) {
  std::vector<std::pair<std::string, std::string>> all;
  std::error_code ec;
  for (fs::directory_iterator it(dir, ec), end; !ec && it != end; it.increment(ec)) {
    if (!holds_source(it->path())) continue;
    if (const auto bytes = read_regular(it->path(), kMostSource))
      all.emplace_back(it->path().filename().string(), source_text(*bytes).value_or(*bytes));
  }
  std::sort(all.begin(), all.end());
  return all;
}

// What every student has from the lab: its sources and headers, the code of its lesson, its hints.
std::vector<std::string> given_by(const Lab& lab) {
  std::vector<std::string> given;
  for (auto& [name, text] : sources_in(lab.dir)) given.push_back(std::move(text));
  const std::string lesson = file_text(lab.dir / "README.md");
  for (std::size_t open = lesson.find("\n```"); open != std::string::npos; open = lesson.find("\n```", open)) {
    const std::size_t begin = lesson.find('\n', open + 1), close = lesson.find("\n```", begin);
    if (close == std::string::npos) break;
    given.push_back(lesson.substr(begin, close - begin));
    open = close + 4;
  }
  for (const Task& task : lab.tasks)
    for (const Hint& hint : task.hints) given.push_back(hint.text);
  return given;
}

// The hand-ins that count, the newest of each student. A group's work is one.
std::vector<HandIn> of_class(Gradebook& book, const Lab& lab, std::vector<std::string>& notes) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> authors;  // by entry and content
  for (const Grade& g : book.grades(lab.name)) {
    if (g.source.empty()) continue;
    if (g.content.empty() || !g.problem.empty())
      notes.push_back(fmt::format("Not compared: {} ({})", g.student.id, g.problem));
    else
      authors[{g.source, g.content}].push_back(g.student.id);
  }
  std::vector<HandIn> all;
  for (const auto& [key, ids] : authors) {
    auto files = sources_in(content_dir(book.course(), lab.name, key.second));
    if (files.empty())
      notes.push_back(fmt::format("Not compared: {} (the files are gone)", fmt::join(ids, ", ")));
    else
      all.push_back({printable(fmt::format("{}", fmt::join(ids, ", "))), true, std::move(files)});
  }
  std::sort(all.begin(), all.end(), [](const HandIn& a, const HandIn& b) { return a.name < b.name; });
  return all;
}

// Each entry of a folder as intake reads it: folders, archives and repositories, whoever they belong to.
void add_others(const fs::path& given, const Lab& lab, std::vector<HandIn>& all, std::vector<std::string>& notes) {
  const fs::path dir = fs::absolute(given).lexically_normal();
  std::error_code ec;
  if (!fs::is_directory(dir, ec))
    throw Error(Exit::usage, "there is no folder " + shown(dir), "check --against: a folder with an entry per student");
  const std::string label = (dir.filename().empty() ? dir.parent_path() : dir).filename().string();
  for (const Entry& entry : entries_of(dir, lab, {})) {
    TemporaryDir scratch("similar");
    const Staged s = stage_entry(entry, lab, std::nullopt, scratch.path() / "files");
    const std::string name = printable(label + "/" + entry.name);
    if (s.problem.empty())
      all.push_back({name, false, sources_in(scratch.path() / "files")});
    else
      notes.push_back(fmt::format("Not compared: {} ({})", name, s.problem));
  }
}

std::string table(const similar::Comparison& c, const std::vector<HandIn>& all, std::size_t most) {
  const std::size_t shown = std::min(most, c.pairs.size());
  std::size_t a_width = 1, b_width = 1;
  for (std::size_t i = 0; i < shown; ++i) {
    a_width = std::max(a_width, all[c.pairs[i].a].name.size());
    b_width = std::max(b_width, all[c.pairs[i].b].name.size());
  }
  std::string out = fmt::format("\n  {:>6}  {:>5}  {:>5}  {:<{}}  {:<{}}  files, of A / of B\n", "tokens", "of A",
                                "of B", "A", a_width, "B", b_width);
  for (std::size_t i = 0; i < shown; ++i) {
    const similar::Pair& p = c.pairs[i];
    const HandIn &a = all[p.a], &b = all[p.b];
    out += fmt::format("  {:>6}  {:>3.0f} %  {:>3.0f} %  {:<{}}  {:<{}}  {}\n", p.matched, p.of_a.percent(),
                       p.of_b.percent(), a.name, a_width, b.name, b_width, similar::files_text(p, a, b));
  }
  if (shown < c.pairs.size()) out += fmt::format("  {} further pairs: --most shows more\n", c.pairs.size() - shown);
  return out;
}

int find_similar(const SimilarArguments& a) {
  const Course course = load_course(a.course);
  const Lab lab = find_lab(a.lab);
  course.lab(lab.name);
  Gradebook book(course);
  similar::PageHead head;
  head.lab = lab.name;
  std::vector<HandIn> all = of_class(book, lab, head.notes);
  head.compared = fmt::format("Compared: {} hand-ins of the class", all.size());
  const fs::path solution = root_dir() / "solutions" / lab.name;
  if (fs::exists(solution)) {
    all.push_back({"(reference solution)", false, sources_in(solution)});
    head.compared += ", the reference solution";
  }
  std::set<fs::path> looked_at;
  for (const std::string& dir : a.against) {
    std::error_code ec;
    if (!looked_at.insert(fs::canonical(dir, ec)).second && !ec) continue;
    const std::size_t before = all.size();
    add_others(dir, lab, all, head.notes);
    head.compared += fmt::format(", {} of {}", all.size() - before, printable(dir));
  }
  similar::Rules rules;
  rules.common = a.common / 100;
  const similar::Comparison c = similar::compare(all, given_by(lab), rules);
  head.compared += fmt::format(
      ". Not counted: what the lab gives, and {} tokens of passages that more than {:g} % of the class (and more than "
      "{} "
      "hand-ins) have.",
      c.common_tokens, a.common, rules.common_at_least);
  for (std::size_t i : c.cut)
    head.notes.push_back(fmt::format("Only the first {} tokens of {} are compared", rules.most_tokens, all[i].name));

  fmt::print("Similar passages, {}\n{}\n{}\n", lab.name, head.compared, similar::kNoProof);
  for (const std::string& note : head.notes) fmt::print("  {}\n", note);
  const std::size_t most = static_cast<std::size_t>(a.most);
  fmt::print("{}", c.pairs.empty() ? "\nNo two hand-ins share a passage.\n" : table(c, all, most));
  if (a.html.empty()) return 0;
  const fs::path file = fs::absolute(a.html), next = file.string() + ".new";
  std::error_code ec;
  fs::remove(next, ec);
  publish(next, similar::page(head, c, all, most));
  fs::rename(next, file, ec);
  if (ec)
    throw Error(Exit::environment, fmt::format("cannot write {}: {}", shown(file), ec.message()), "check the folder");
  fmt::print("Wrote {}, which only this account can read: it holds students' work.\n", shown(file));
  return 0;
}

}  // namespace

void add_similar(Registry& cluster) {
  const auto [command, a] = cluster.add_with_course<SimilarArguments>(
      "similar", "Similar passages of hand-ins, side by side; never a verdict",
      " --lab 03 --against ../2025/hand-ins --html similar.html", find_similar);
  command->add_option("--lab", a->lab, "Lab")->required();
  command->add_option("--against", a->against, "Also hand-ins of these folders, such as of other years");
  command->add_option("--html", a->html, "Write a page with both texts of each pair");
  command->add_option("--most", a->most, "Pairs to show")->check(CLI::Range(1, 100000))->capture_default_str();
  command->add_option("--common", a->common, "Passages that more than so many % of the class have are not counted")
      ->check(CLI::Range(1.0, 100.0))
      ->capture_default_str();
}

}  // namespace ridge::cluster
