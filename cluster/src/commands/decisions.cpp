#include <fmt/format.h>

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/commands/collecting.hpp"
#include "cluster/src/commands/registry.hpp"
#include "cluster/src/intake/intake.hpp"
#include "grader/base/error.hpp"
#include "grader/lab/lab.hpp"

namespace ridge::cluster {

namespace {

struct DecisionArguments {
  std::string course, lab, student, reason, author, value;
  bool detach = false;
};

void need_reason(const DecisionArguments& a) {
  if (a.reason.find_first_not_of(" \t") == std::string::npos)
    throw Error(Exit::usage, "a decision needs a reason",
                "say why with --reason, for whoever reads the gradebook later");
}

std::string known_student(Gradebook& book, const std::string& id) {
  if (!book.db().query("SELECT 1 FROM student WHERE id = ?", id).next())
    throw Error(Exit::usage, fmt::format("the gradebook knows no student '{}'", id), "ids are those of the roster");
  return id;
}

int regrade(const DecisionArguments& a) {
  need_reason(a);
  const Course course = load_course(a.course);
  const std::string lab = find_lab(a.lab).name;
  const CourseLab rules = course.lab(lab);
  make_checks(course, lab);
  CollectorLock lock(course);
  Gradebook book(course);
  int n = 0;
  {
    Transaction all(book.db());
    const std::string student = a.student.empty() ? "" : known_student(book, a.student);
    std::vector<std::pair<std::string, std::int64_t>> again;  // a content, and its next generation
    for (
        Rows r = book.db().query(
            "SELECT w.content, MAX(w.generation) + 1 FROM work w WHERE w.lab = ?1 AND w.backend = ?2 AND EXISTS (SELECT "
            "1 FROM submission s WHERE s.lab = w.lab AND s.content = w.content AND (?3 = '' OR s.student = ?3)) AND NOT "
            "EXISTS (SELECT 1 FROM work o WHERE o.lab = w.lab AND o.content = w.content AND o.backend = w.backend AND "
            "o.state IN ('waiting', 'running')) GROUP BY w.content",
            lab, rules.backend, student);
        r.next();)
      again.emplace_back(r.text(0), r.integer(1));
    const auto gone =
        std::erase_if(again, [&](const auto& w) { return !fs::exists(content_dir(course, lab, w.first)); });
    const std::string lacks = fmt::format("the files of {} submissions are deleted", gone);
    if (gone != 0 && again.empty())
      throw Error(Exit::usage, lacks, "`ridge cluster intake` takes them in again, from where they were handed in");
    if (gone != 0) fmt::print("{}: {}; their results stay.\n", lab, lacks);
    for (const auto& [content, generation] : again)
      n += book.db().change("INSERT INTO work(lab, content, backend, generation, state) VALUES(?, ?, ?, ?, 'waiting')",
                            lab, content, rules.backend, generation);
    book.decide("regrade", lab, student, std::to_string(n), a.reason, a.author.empty() ? user_name() : a.author);
    all.commit();
  }
  fmt::print("{}: {} submissions are graded anew; their old results stay until then, and are kept.\n", lab, n);
  return collect_to_the_end(book, lab, a.detach);
}

int decide(const DecisionArguments& a, const std::string& kind) {
  need_reason(a);
  const Course course = load_course(a.course);
  const std::string lab = find_lab(a.lab).name;
  course.lab(lab);
  Gradebook book(course);
  const std::string student = known_student(book, a.student);
  std::string value = a.value;
  if (kind == "extension") value = date_text(parse_date(value));
  if (kind == "override" && value != "none") {
    double percent = -1;
    std::size_t used = 0;
    try {
      percent = std::stod(value, &used);
    } catch (const std::exception&) {
    }
    if (used != value.size() || !std::isfinite(percent) || percent < 0 || percent > 200)
      throw Error(Exit::usage, fmt::format("'{}' is not a grade", value),
                  "give a percentage from 0 to 200, or `none` to remove an override");
  }
  book.decide(kind, lab, student, value, a.reason, a.author.empty() ? user_name() : a.author);
  fmt::print("{} of {} for {}: {} ({})\n", kind, value, student, a.reason, lab);
  return 0;
}

void add_decision_options(CLI::App* command, DecisionArguments& a, bool of_one_student) {
  command->add_option("--lab", a.lab, "Lab")->required();
  command->add_option("--student", a.student, "Id on the roster")->required(of_one_student);
  command->add_option("--reason", a.reason, "Why")->required();
  command->add_option("--author", a.author, "Who decided (default: you)");
}

}  // namespace

void add_decisions(Registry& cluster) {
  auto [command, a] = cluster.add_with_course<DecisionArguments>(
      "regrade", "Grade again what has a result", " --lab 03 --student jdoe --reason \"the node was broken\"", regrade);
  add_decision_options(command, *a, false);
  command->add_flag("--detach", a->detach, "Only submit");

  std::tie(command, a) = cluster.add_with_course<DecisionArguments>(
      "extend", "Give a student a later deadline",
      " --lab 03 --student jdoe --until 2026-12-08T23:59:00+01:00 --reason ill",
      [](const DecisionArguments& given) { return decide(given, "extension"); });
  command->add_option("--until", a->value, "2026-12-01T23:59:00+01:00")->required();
  add_decision_options(command, *a, true);

  std::tie(command, a) = cluster.add_with_course<DecisionArguments>(
      "override", "Set a student's grade by hand",
      " --lab 03 --student jdoe --percent 80 --reason \"shown in the office hour\"",
      [](const DecisionArguments& given) { return decide(given, "override"); });
  command->add_option("--percent", a->value, "Percent, or none to take it back")->required();
  add_decision_options(command, *a, true);
}

}  // namespace ridge::cluster
