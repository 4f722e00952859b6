#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/course_keys.hpp"
#include "cluster/src/collect/executors.hpp"
#include "cluster/src/commands/collecting.hpp"
#include "cluster/src/commands/registry.hpp"
#include "cluster/src/intake/intake.hpp"
#include "grader/base/error.hpp"
#include "grader/lab/lab.hpp"

namespace ridge::cluster {

namespace {

struct GradingArguments {
  std::string course, lab, submissions;
  std::vector<std::string> rosters;
  std::string handed_in;
  bool detach = false, dry_run = false;
};

// Takes in what --submissions names. A dry run lists each match and miss, and keeps nothing.
int take_in_as_asked(Gradebook& book, const std::string& lab, const GradingArguments& a) {
  const std::vector<Student> roster = a.rosters.empty() ? book.students() : read_rosters(a.rosters);
  if (roster.empty())
    throw Error(Exit::usage, "the gradebook knows no students yet", "name the roster: --roster roster.csv");
  if (!a.rosters.empty() && !a.dry_run) {
    Transaction all(book.db());
    const std::vector<std::string> gone = book.enrol(roster);
    all.commit();
    if (!gone.empty())
      fmt::print("{} students are not on this roster any more, and in no export; their work is kept: {}\n", gone.size(),
                 fmt::join(gone, ", "));
  }
  if (a.submissions.empty()) return 0;
  IntakeOptions options{a.dry_run, std::nullopt};
  if (!a.handed_in.empty()) options.handed_in = parse_date(a.handed_in);
  const IntakeReport in = take_in(book, lab, a.submissions, roster, options);
  if (a.dry_run) {
    const auto good =
        std::count_if(in.matches.begin(), in.matches.end(), [](const auto& m) { return m.problem.empty(); });
    fmt::print("{}{}: {} hand-ins have an owner, {} of them can be graded; {} have none\n", intake_text(in, true), lab,
               in.matches.size(), good, in.misses.size());
    if (!in.without.empty())
      fmt::print("{} students have no entry: {}\n", in.without.size(), fmt::join(in.without, ", "));
    fmt::print("Nothing was kept: this was a dry run.\n");
  } else {
    fmt::print("{}: {} submissions taken in, {} known already, {} of them new contents\n{}", lab, in.taken, in.known,
               in.contents, intake_text(in, false));
  }
  std::fflush(stdout);  // before the jobs, also where the output is a file
  return static_cast<int>(in.misses.empty() && in.dates.empty() ? Exit::passed : Exit::environment);
}

int intake(const GradingArguments& a) {
  const Course course = load_course(a.course);
  const std::string lab = find_lab(a.lab).name;
  course.lab(lab);
  std::optional<CollectorLock> lock;
  if (!a.dry_run) lock.emplace(course);
  Gradebook book(course);
  return take_in_as_asked(book, lab, a);
}

int grade(const GradingArguments& a) {
  const Course course = load_course(a.course);
  const std::string lab = find_lab(a.lab).name;
  course.lab(lab);
  make_checks(course, lab);
  if (const auto wrong = wrong_keys(course)) throw *wrong;
  CollectorLock lock(course);
  Gradebook book(course);
  take_in_as_asked(book, lab, a);
  book.db().change(
      "UPDATE work SET state = 'waiting', failures = 0 WHERE lab = ? AND state IN ('not-graded', 'cancelled') AND "
      "generation = (SELECT max(generation) FROM work n WHERE n.lab = work.lab AND n.content = work.content AND "
      "n.backend = work.backend)",
      lab);
  return collect_to_the_end(book, lab, a.detach);
}

int resume(const GradingArguments& a) {
  const Course course = load_course(a.course);
  CollectorLock lock(course);
  Gradebook book(course);
  return collect_to_the_end(book, "", a.detach);
}

int cancel(const GradingArguments& a) {
  const Course course = load_course(a.course);
  Gradebook book(course);
  Transaction all(book.db());
  std::vector<std::string> jobs;
  for (Rows r = book.db().query(
           "SELECT DISTINCT job FROM batch b JOIN attempt a ON a.batch = b.id WHERE a.state = 'open' AND job <> ''");
       r.next();)
    jobs.push_back(r.text(0));
  const int attempts =
      book.db().change("UPDATE attempt SET state = 'cancelled', ended = ? WHERE state = 'open'", wall_now());
  const int works = book.db().change(
      "UPDATE work SET state = 'cancelled', reason = 'cancelled' WHERE state IN ('waiting', 'running')");
  book.note(fmt::format("cancelled by {}: {} attempts", user_name(), attempts));
  all.commit();
  const auto executor = make_executor(course);
  executor->cancel(jobs);
  if (!executor->cancel_all(book.jobs_prefix()))  // also those whose ids we never heard
    fmt::print("{} does not answer, so jobs may run on: their results do not count. Cancel again to end them.\n",
               executor->name());
  fmt::print("Cancelled {} submissions' grading; what was graded stays. `ridge cluster grade` takes them up again.\n",
             works);
  return 0;
}

void add_intake_options(CLI::App* command, GradingArguments& a) {
  command->add_option("--lab", a.lab, "Lab")->required();
  command->add_option("--submissions", a.submissions,
                      "Folder of hand-ins: one entry per student, or what an LMS gives to download");
  command->add_option("--handed-in", a.handed_in, "When, where only dates of a copy or download tell");
  command->add_option("--roster", a.rosters, "CSV with a column id, or an LMS's export; several times for several")
      ->expected(1)
      ->take_all();
}

}  // namespace

void add_grading(Registry& cluster) {
  {
    const auto [command, a] =
        cluster.add_with_course<GradingArguments>("grade", "Take submissions in, and grade what has no result yet",
                                                  " --lab 03 --submissions DIR --roster roster.csv", grade);
    add_intake_options(command, *a);
    command->add_flag("--detach", a->detach, "Only submit");
  }
  {
    const auto [command, a] =
        cluster.add_with_course<GradingArguments>("intake", "Take submissions in, without grading them",
                                                  " --lab 03 --submissions DIR --roster roster.csv --dry-run", intake);
    add_intake_options(command, *a);
    command->get_option("--submissions")->required();
    command->add_flag("--dry-run", a->dry_run, "List whose each entry is, and what is wrong with it; keep nothing");
  }
  {
    const auto [command, a] =
        cluster.add_with_course<GradingArguments>("resume", "Go on where a grading was left", "", resume);
    command->add_flag("--detach", a->detach, "Only submit");
  }
  cluster.add_with_course<GradingArguments>("cancel", "End what is queued and running", "", cancel);
}

}  // namespace ridge::cluster
