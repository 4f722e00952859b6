#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <tuple>

#include "cluster/src/base/files.hpp"
#include "cluster/src/commands/registry.hpp"
#include "cluster/src/gradebook/exports.hpp"
#include "cluster/src/gradebook/lab_report.hpp"
#include "cluster/src/pages/class_page.hpp"
#include "cluster/src/pages/delivery.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/lab/lab.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge::cluster {

namespace {

struct ReadingArguments {
  std::string course, lab, from, column, out, feedback, html, format = "csv";
  double points = 0;
  int more = 0, nodes = 0, port = 0;
  bool serve = false;
  bool ignore_unmatched = false;
};

// A file that this account alone reads, in the place of one that is there.
void write_privately(const std::string& name, const std::string& text) {
  const fs::path file = fs::absolute(name), next = file.string() + ".new";
  std::error_code ec;
  fs::remove(next, ec);
  publish(next, text);
  fs::rename(next, file, ec);
  if (ec)
    throw Error(Exit::environment, fmt::format("cannot write {}: {}", shown(file), ec.message()), "check the folder");
}

int export_grades(const ReadingArguments& a) {
  const Course course = load_course(a.course);
  const std::string lab = a.lab == "total" ? a.lab : find_lab(a.lab).name;
  if (lab != "total") course.lab(lab);
  Gradebook book(course);
  if (!a.feedback.empty()) {
    tell("{}\n", deliver_feedback(book, {lab, a.format, a.from, a.feedback, a.points, a.ignore_unmatched}));
    return 0;
  }
  std::string note;
  const std::string text = exported(book, {lab, a.format, a.from, a.column, a.points, a.ignore_unmatched}, note);
  if (a.out.empty()) {
    fmt::print("{}", text);
  } else {
    std::error_code ec;
    if (!a.from.empty() && fs::equivalent(fs::absolute(a.out), a.from, ec))
      throw Error(Exit::usage, "--output is the file that is read", "write a copy, and compare them before the upload");
    write_privately(a.out, text);
  }
  if (!note.empty()) tell("{}\n", note);
  return 0;
}

// The page in a browser tab, written anew as the gradebook grows: the server of `ridge serve` runs this command for it.
int serve_report(const Course& course, const std::string& lab, int port) {
  constexpr const char* kIdleSeconds = "43200";
  const fs::path program = build_dir() / "bin" / "ridge-serve";
  if (!fs::exists(program))
    throw Error(Exit::environment, "the server of pages is not built here",
                "./ridge build serve, or --html FILE for a page that stands alone");
  std::fflush(stdout);
  become({program.string(), "--class", std::to_string(port), kIdleSeconds, "", course.file.string(), lab,
          course.gradebook.string()});
}

int show_report(const ReadingArguments& a) {
  const Course course = load_course(a.course);
  const std::string lab = find_lab(a.lab).name;
  if (a.serve) {
    course.lab(lab);
    { Gradebook book(course); }  // what is wrong with it is told here
    return serve_report(course, lab, a.port);
  }
  Gradebook book(course);
  if (a.html.empty()) {
    fmt::print("{}", lab_report(book, lab));
  } else {
    write_privately(a.html, class_page(book, lab));
    tell("{}: names and grades of the class, for you alone\n", shown(a.html));
  }
  return 0;
}

int show_estimate(const ReadingArguments& a) {
  const Course course = load_course(a.course);
  Gradebook book(course);
  fmt::print("{}", estimate(book, find_lab(a.lab).name, a.more, a.nodes));
  return 0;
}

}  // namespace

void add_reading(Registry& cluster) {
  auto [command, a] = cluster.add_with_course<ReadingArguments>(
      "export", "Write a lab's grades for an LMS", " --lab 03 --format canvas --from canvas.csv -o filled.csv",
      export_grades);
  command->add_option("--format", a->format, "Format")
      ->check(CLI::IsMember(
          {"blackboard", "brightspace", "canvas", "moodle", "sakai", "nbgrader", "gradescope", "json", "csv"}))
      ->capture_default_str();
  command->add_option("--from", a->from, "The file that you exported from the LMS");
  command->add_option("--column", a->column,
                      "The column to fill (default: the one with the lab's name; Moodle: Grade)");
  command->add_option("--points", a->points, "What 100 % are (default: Canvas's Points Possible, else 100)");
  CLI::Option* output = command->add_option("-o,--output", a->out, "Write to this file");
  command
      ->add_option(
          "--feedback", a->feedback,
          "Write a page and the record for each student into this new folder, and the zip that Moodle or Canvas "
          "takes back")
      ->excludes(output);
  command->add_flag("--ignore-unmatched", a->ignore_unmatched, "Although hand-ins belong to nobody on the roster");
  command->add_option("--lab", a->lab, "Lab, or `total`: all of them by their weights")->required();

  std::tie(command, a) = cluster.add_with_course<ReadingArguments>(
      "report", "Distribution, common failing checks, results to look at", " --lab 03 --html lab03.html", show_report);
  CLI::Option* html = command->add_option("--html", a->html, "Write a page with figures and all students to this file");
  CLI::Option* serve =
      command->add_flag("--serve", a->serve, "Show that page in a browser tab, which follows the gradebook")
          ->excludes(html);
  command->add_option("--port", a->port, "Port of --serve (default: the first free one from 8765)")
      ->check(CLI::Range(1, 65535))
      ->needs(serve);
  command->add_option("--lab", a->lab, "Lab")->required();

  std::tie(command, a) = cluster.add_with_course<ReadingArguments>(
      "estimate", "Hours that a round will take, before it is submitted", " --lab 03 --more 200", show_estimate);
  command->add_option("--more", a->more, "Submissions that are not taken in yet")->check(CLI::Range(0, 1000000));
  command->add_option("--nodes", a->nodes, "Also say how long so many nodes take")->check(CLI::Range(1, 100000));
  command->add_option("--lab", a->lab, "Lab")->required();
}

}  // namespace ridge::cluster
