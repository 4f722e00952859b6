#include "cluster/src/cluster_commands.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <thread>

#include "app/cli/command.hpp"
#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/course_keys.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/collector.hpp"
#include "cluster/src/gradebook/exports.hpp"
#include "cluster/src/intake/handing_in.hpp"
#include "cluster/src/intake/intake.hpp"
#include "cluster/src/slurm/array_task.hpp"
#include "cluster/src/slurm/doctor.hpp"
#include "cluster/src/slurm/preflight.hpp"
#include "grader/base/error.hpp"
#include "grader/base/lab.hpp"
#include "grader/base/text.hpp"
#include "grader/build/check_module.hpp"

namespace ridge::cluster {

namespace {

struct Arguments {
  std::string course, lab, submissions, student, reason, author, value;
  std::vector<std::string> rosters;
  std::string from, column, out, file, node, format = "csv";
  double points = 0;
  int more = 0;
  bool watch = false, detach = false, no_job = false, dry_run = false, ignore_unmatched = false;
  PreflightArguments preflight;
  std::string batch;
  int task = 0;
};

std::string user_name() {
  const passwd* p = getpwuid(getuid());
  return p != nullptr ? p->pw_name : std::to_string(getuid());
}

int verdict(Gradebook& book) {
  const auto nobodys = book.unmatched("");
  if (!nobodys.empty())
    fmt::print("{} entries belong to nobody on the roster, and stop exports; `ridge cluster export` lists them\n",
               nobodys.size());
  return static_cast<int>(book.counts("").not_graded == 0 && nobodys.empty() ? Exit::passed : Exit::environment);
}

int collect_to_the_end(Gradebook& book, const std::string& lab, bool detach) {
  Collector collector(book);
  if (detach) {
    collector.step();
    fmt::print("Submitted. `ridge cluster resume` collects, `ridge cluster status` shows how far it is.\n");
    return 0;
  }
  collector.run();
  for (const auto& [name, rules] : book.course().labs)
    if (lab.empty() ? book.db().query("SELECT 1 FROM work WHERE lab = ?", name).next() : lab == name) {
      print_summary(book, name);
      if (const int old = outdated_results(book, name); old > 0)
        fmt::print(
            "{} of these results are of another version of the lab, or of other points; to grade them anew: ridge "
            "cluster regrade --lab {} --reason \"new version\"\n",
            old, name.substr(0, 2));
    }
  return verdict(book);
}

// Takes in what --submissions names. A dry run lists each match and miss, and keeps nothing.
int take_in_as_asked(Gradebook& book, const std::string& lab, const Arguments& a) {
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
  const IntakeReport in = take_in(book, lab, a.submissions, roster, a.dry_run);
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
  return static_cast<int>(in.misses.empty() ? Exit::passed : Exit::environment);
}

int intake(const Arguments& a) {
  const Course course = load_course(a.course);
  const std::string lab = find_lab(a.lab).name;
  course.lab(lab);
  std::optional<CollectorLock> lock;
  if (!a.dry_run) lock.emplace(course);
  Gradebook book(course);
  return take_in_as_asked(book, lab, a);
}

// Jobs build nothing, so the lab's checks must be there before.
void make_checks(const Course& course, const std::string& lab) {
  if (course.program.empty()) load_checks(find_lab(lab), [](const std::string& what) { tell("{}\n", what); });
}

int grade(const Arguments& a) {
  const Course course = load_course(a.course);
  const std::string lab = find_lab(a.lab).name;
  course.lab(lab);
  make_checks(course, lab);
  if (const auto wrong = wrong_keys(course)) throw *wrong;
  CollectorLock lock(course);
  Gradebook book(course);
  take_in_as_asked(book, lab, a);
  book.db().change(
      "UPDATE work SET state = 'waiting', failures = 0 WHERE lab = ? AND state IN ('not-graded', 'cancelled')", lab);
  return collect_to_the_end(book, lab, a.detach);
}

int resume(const Arguments& a) {
  const Course course = load_course(a.course);
  CollectorLock lock(course);
  Gradebook book(course);
  return collect_to_the_end(book, "", a.detach);
}

int cancel(const Arguments& a) {
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
  cancel_jobs(jobs);
  if (auto queued = queue(book.jobs_prefix())) {  // also those whose ids we never heard
    std::vector<std::string> left;
    for (const auto& [name, task] : *queued) left.push_back(task.job);
    cancel_jobs(left);
  }
  fmt::print("Cancelled {} submissions' grading; what was graded stays. `ridge cluster grade` takes them up again.\n",
             works);
  return 0;
}

int back_up(const Arguments& a) {
  const Course course = load_course(a.course);
  Gradebook book(course);
  book.back_up(fs::absolute(a.file));
  fmt::print("Wrote {}, which only this account can read. `ridge cluster restore` takes it back.\n", shown(a.file));
  return 0;
}

int restore(const Arguments& a) {
  const Course course = load_course(a.course);
  CollectorLock lock(course);
  restore_gradebook(course, fs::absolute(a.file));
  fmt::print("{} is back. `ridge cluster resume` goes on; `ridge cluster grade` takes in what came since the backup.\n",
             shown(course.gradebook));
  return 0;
}

int readmit(const Arguments& a) {
  const Course course = load_course(a.course);
  Gradebook book(course);
  if (book.db().change("UPDATE node SET excluded = 0, failures = 0 WHERE name = ? AND excluded = 1", a.node) == 0)
    throw Error(Exit::usage, fmt::format("no node '{}' is left out", a.node), "`ridge cluster status` lists them");
  book.note(fmt::format("node {} is let in again by {}", a.node, user_name()));
  fmt::print("{} gets jobs again.\n", a.node);
  return 0;
}

int status(const Arguments& a) {
  const Course course = load_course(a.course);
  Gradebook book(course);
  for (;;) {
    std::string text = fmt::format("{}, {}\n", course.name, date_text(wall_now()));
    for (const auto& [name, rules] : course.labs) {
      const Counts c = book.counts(name);
      if (c.open() + c.graded + c.not_graded == 0) continue;
      int students = 0, with_grade = 0;
      for (const Grade& g : book.grades(name)) ++students, with_grade += g.percent.has_value();
      text += fmt::format("  {:<22} students with a grade {:>4} of {}\n", name, with_grade, students);
      text += fmt::format("  {:<22} different contents: graded {}, running or queued {}, waiting {}, not graded {}\n",
                          "", c.graded, c.running, c.waiting, c.not_graded);
    }
    if (auto queued = queue(book.jobs_prefix())) {
      int running = 0, pending = 0;
      for (const auto& [name, t] : *queued) ++(t.state == "PENDING" ? pending : running);
      if (!queued->empty()) text += fmt::format("  jobs: {} running, {} pending", running, pending);
      if (pending > 0)
        if (int before = queue_position("", book.jobs_prefix()); before > 0)
          text += fmt::format("; {} of others are before ours", before);
      if (!queued->empty()) text += "\n";
    } else {
      text += "  Slurm does not answer\n";
    }
    for (Rows r = book.db().query("SELECT w.lab, w.content, w.reason FROM work w WHERE w.state = 'not-graded'");
         r.next();)
      text += fmt::format("  not graded: {} {}: {}\n", r.text(0), r.text(1).substr(0, 12), r.text(2));
    for (Rows r = book.db().query("SELECT name, reason FROM node WHERE excluded = 1"); r.next();)
      text += fmt::format("  left out: node {} ({})\n", r.text(0), r.text(1));
    fmt::print("{}{}", a.watch && isatty(STDOUT_FILENO) != 0 ? "\033[H\033[2J" : "", text);
    std::fflush(stdout);
    if (!a.watch || book.counts("").open() == 0) return 0;
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
}

void need_reason(const Arguments& a) {
  if (a.reason.find_first_not_of(" \t") == std::string::npos)
    throw Error(Exit::usage, "a decision needs a reason",
                "say why with --reason, for whoever reads the gradebook later");
}

std::string known_student(Gradebook& book, const std::string& id) {
  if (!book.db().query("SELECT 1 FROM student WHERE id = ?", id).next())
    throw Error(Exit::usage, fmt::format("the gradebook knows no student '{}'", id), "ids are those of the roster");
  return id;
}

int regrade(const Arguments& a) {
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
    n = book.db().change(
        "INSERT INTO work(lab, content, backend, generation, state) SELECT w.lab, w.content, w.backend, "
        "MAX(w.generation) + 1, "
        "'waiting' FROM work w WHERE w.lab = ?1 AND w.backend = ?2 AND EXISTS (SELECT 1 FROM submission s WHERE s.lab "
        "= w.lab "
        "AND s.content = w.content AND (?3 = '' OR s.student = ?3)) AND NOT EXISTS (SELECT 1 FROM work o WHERE o.lab = "
        "w.lab "
        "AND o.content = w.content AND o.backend = w.backend AND o.state IN ('waiting', 'running')) "
        "GROUP BY w.lab, w.content, w.backend",
        lab, rules.backend, student);
    book.decide("regrade", lab, student, std::to_string(n), a.reason, a.author.empty() ? user_name() : a.author);
    all.commit();
  }
  fmt::print("{}: {} submissions are graded anew; their old results stay until then, and are kept.\n", lab, n);
  return collect_to_the_end(book, lab, a.detach);
}

int decide(const Arguments& a, const std::string& kind) {
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
      throw Error(Exit::usage, fmt::format("'{}' is no grade", value),
                  "a number of percent, or `none` to take an override back");
  }
  book.decide(kind, lab, student, value, a.reason, a.author.empty() ? user_name() : a.author);
  fmt::print("{} of {} for {}: {} ({})\n", kind, value, student, a.reason, lab);
  return 0;
}

int export_grades(const Arguments& a) {
  const Course course = load_course(a.course);
  const std::string lab = a.lab == "total" ? a.lab : find_lab(a.lab).name;
  if (lab != "total") course.lab(lab);
  Gradebook book(course);
  std::string note;
  const std::string text = exported(book, {lab, a.format, a.from, a.column, a.points, a.ignore_unmatched}, note);
  if (a.out.empty()) {
    fmt::print("{}", text);
  } else {
    const fs::path file = fs::absolute(a.out);
    std::error_code ec;
    if (!a.from.empty() && fs::equivalent(file, a.from, ec))
      throw Error(Exit::usage, "--output is the file that is read", "write a copy, and compare them before the upload");
    const fs::path next = file.string() + ".new";
    fs::remove(next, ec);
    publish(next, text);
    fs::rename(next, file, ec);
    if (ec)
      throw Error(Exit::environment, fmt::format("cannot write {}: {}", shown(file), ec.message()), "check the folder");
  }
  if (!note.empty()) tell("{}\n", note);
  return 0;
}

int show_report(const Arguments& a) {
  const Course course = load_course(a.course);
  Gradebook book(course);
  fmt::print("{}", lab_report(book, find_lab(a.lab).name));
  return 0;
}

int show_estimate(const Arguments& a) {
  const Course course = load_course(a.course);
  Gradebook book(course);
  fmt::print("{}", estimate(book, find_lab(a.lab).name, a.more));
  return 0;
}

int doctor(const Arguments& a) {
  const Course course = load_course(a.course);
  int bad = 0;
  for (const Finding& f : examine(course, !a.no_job)) {
    bad += f.kind == Finding::Kind::bad;
    fmt::print("  {:<4} {}\n",
               f.kind == Finding::Kind::good  ? "ok"
               : f.kind == Finding::Kind::bad ? "BAD"
                                              : "?",
               f.what);
    if (!f.advice.empty()) fmt::print("         {}\n", f.advice);
  }
  fmt::print("{}\n", bad == 0 ? "Nothing stands against grading."
                              : fmt::format("{} of these would keep jobs from being graded.", bad));
  return static_cast<int>(bad == 0 ? Exit::passed : Exit::environment);
}

// A course.toml to start from.
constexpr const char* kExample = R"(# docs/cluster.md says what every key means. Relative paths are this file's.
name = "HPC for AI"
gradebook = "gradebook.sqlite"   # a local disk of the machine that collects, not NFS
shared = "shared"                # a folder that every node sees under this name
# dropbox = "dropbox"            # where `ridge submit` puts work
# site = "virtual"               # a profile of cluster/sites/

[grading]
signing_key = "course.key"       # `ridge key new course.key`
keys = ["course.key.pub"]
seeds = "seeds"                  # head -c 32 /dev/urandom > seeds; chmod 600 seeds
retries = 3

[slurm]
# partition = "gpu"
# account = "course"
# gres = "gpu:1"

[late]
percent_per_day = 10
days = 3

[labs.01]
deadline = 2026-12-01T23:59:00+01:00
weight = 1
)";

int init(const Arguments& a) {
  const fs::path file = fs::absolute(a.course.empty() ? "course.toml" : a.course);
  if (!publish(file, kExample)) throw Error(Exit::usage, shown(file) + " exists already", "it is never overwritten");
  fmt::print("Wrote {}. Edit it, then: ridge cluster doctor\n", shown(file));
  return 0;
}

// Adds the commands of `ridge cluster` one by one. They share one set of arguments.
class ClusterCommands {
 public:
  explicit ClusterCommands(Commands& ridge)
      : ridge_(ridge),
        top_(ridge.add("cluster", "Grade a class through Slurm: grade, follow, resume, export",
                       "  ridge cluster init\n"
                       "  ridge cluster grade --lab 03 --submissions DIR --roster roster.csv\n"
                       "  ridge cluster export --lab total")) {
    top_->require_subcommand(1);
  }

  void add_all() {
    add_grading();
    add_decisions();
    add_reading();
    add_machines();
  }

 private:
  using Action = std::function<int(const Arguments&)>;

  CLI::App* add(const char* name, const char* what, Action action) {
    static const std::map<std::string, const char*> examples = {
        {"grade", "  ridge cluster grade --lab 03 --submissions DIR --roster roster.csv"},
        {"intake", "  ridge cluster intake --lab 03 --submissions DIR --roster roster.csv --dry-run"},
        {"resume", "  ridge cluster resume"},
        {"cancel", "  ridge cluster cancel"},
        {"status", "  ridge cluster status --watch"},
        {"regrade", "  ridge cluster regrade --lab 03 --student jdoe --reason \"the node was broken\""},
        {"extend", "  ridge cluster extend --lab 03 --student jdoe --until 2026-12-08T23:59:00+01:00 --reason ill"},
        {"override",
         "  ridge cluster override --lab 03 --student jdoe --percent 80 --reason \"shown in the office hour\""},
        {"export", "  ridge cluster export --lab 03 --format canvas --from canvas.csv -o filled.csv"},
        {"report", "  ridge cluster report --lab 03"},
        {"estimate", "  ridge cluster estimate --lab 03 --more 200"},
        {"doctor", "  ridge cluster doctor --course course.toml"},
        {"preflight", "  ridge cluster preflight --reference calibration.json"},
        {"backup", "  ridge cluster backup gradebook-monday.sqlite"},
        {"restore", "  ridge cluster restore gradebook-monday.sqlite"},
        {"readmit", "  ridge cluster readmit gpu07"},
        {"init", "  ridge cluster init"},
    };
    CLI::App* command = top_->add_subcommand(name, what);
    if (const auto at = examples.find(name); at != examples.end())
      command->footer(std::string("Examples:\n") + at->second);
    ridge_.set_action(command, [a = arguments_, action = std::move(action)] { return action(*a); });
    return command;
  }
  CLI::App* add_with_course(const char* name, const char* what, Action action) {
    CLI::App* command = add(name, what, std::move(action));
    command->add_option("--course", a_.course, "course.toml (default: RIDGE_COURSE, else here or above)");
    return command;
  }
  void add_detach(CLI::App* command) { command->add_flag("--detach", a_.detach, "Only submit"); }

  void add_intake(CLI::App* command) {
    command->add_option("--submissions", a_.submissions,
                        "Folder of hand-ins: one entry per student, or what an LMS gives to download");
    command->add_option("--roster", a_.rosters, "CSV with a column id, or an LMS's export; several times for several")
        ->expected(1)
        ->take_all();
  }

  void add_grading() {
    CLI::App* command = add_with_course("grade", "Take submissions in, and grade what has no result yet", grade);
    command->add_option("--lab", a_.lab, "Lab")->required();
    add_intake(command);
    add_detach(command);
    command = add_with_course("intake", "Take submissions in, without grading them", intake);
    command->add_option("--lab", a_.lab, "Lab")->required();
    add_intake(command);
    command->get_option("--submissions")->required();
    command->add_flag("--dry-run", a_.dry_run, "List whose each entry is, and what is wrong with it; keep nothing");
    add_detach(add_with_course("resume", "Go on where a grading was left", resume));
    add_with_course("cancel", "End what is queued and running", cancel);
    command = add_with_course("status", "How far it is", status);
    command->add_flag("--watch", a_.watch, "Until nothing is open");
  }

  void add_decisions() {
    CLI::App* command = add_with_course("regrade", "Grade again what has a result", regrade);
    add_decision(command, false);
    add_detach(command);
    command = add_with_course("extend", "Give a student a later deadline",
                              [](const Arguments& a) { return decide(a, "extension"); });
    command->add_option("--until", a_.value, "2026-12-01T23:59:00+01:00")->required();
    add_decision(command, true);
    command = add_with_course("override", "Set a student's grade by hand",
                              [](const Arguments& a) { return decide(a, "override"); });
    command->add_option("--percent", a_.value, "Percent, or none to take it back")->required();
    add_decision(command, true);
  }
  void add_decision(CLI::App* command, bool of_one_student) {
    command->add_option("--lab", a_.lab, "Lab")->required();
    command->add_option("--student", a_.student, "Id on the roster")->required(of_one_student);
    command->add_option("--reason", a_.reason, "Why")->required();
    command->add_option("--author", a_.author, "Who decided (default: you)");
  }

  void add_reading() {
    CLI::App* command = add_with_course("export", "Write a lab's grades for an LMS", export_grades);
    command->add_option("--format", a_.format, "Format")
        ->check(CLI::IsMember({"canvas", "moodle", "nbgrader", "gradescope", "json", "csv"}))
        ->capture_default_str();
    command->add_option("--from", a_.from, "Canvas, Moodle: the file that you exported there");
    command->add_option("--column", a_.column,
                        "The column to fill (default: the one with the lab's name; Moodle: Grade)");
    command->add_option("--points", a_.points, "What 100 % are (default: Canvas's Points Possible, else 100)");
    command->add_option("-o,--output", a_.out, "Write to this file");
    command->add_flag("--ignore-unmatched", a_.ignore_unmatched, "Although hand-ins belong to nobody on the roster");
    command->add_option("--lab", a_.lab, "Lab, or `total`: all of them by their weights")->required();
    command = add_with_course("report", "Distribution, common failing checks, results to look at", show_report);
    command->add_option("--lab", a_.lab, "Lab")->required();
    command = add_with_course("estimate", "Hours that a round will take, before it is submitted", show_estimate);
    command->add_option("--more", a_.more, "Submissions that are not taken in yet")->check(CLI::Range(0, 1000000));
    command->add_option("--lab", a_.lab, "Lab")->required();
  }

  void add_machines() {
    CLI::App* command = add_with_course("doctor", "Whether course.toml and the cluster fit each other", doctor);
    command->add_flag("--no-job", a_.no_job, "Don't ask a node by a small job");
    command = add("preflight", "Whether this node's GPUs are fit for grading",
                  [](const Arguments& a) { return preflight(a.preflight); });
    command->add_flag("--require", a_.preflight.require, "No GPU is a failure (else: skipped, exit code 77)");
    command->add_option("--reference", a_.preflight.reference,
                        "What they should reach: from `ridge calibrate --json` on a healthy one");
    command->add_option("--measured", a_.preflight.measured, "Take this measurement instead of making one");
    command->add_option("--keep", a_.preflight.keep, "A folder: a GPU measured within the hour is not measured again");
    command = add_with_course("backup", "Copy the gradebook, also while it is used", back_up);
    command->add_option("file", a_.file, "New file")->required();
    command = add_with_course("restore", "Take a backup as the gradebook, where that is gone", restore);
    command->add_option("file", a_.file, "What `backup` wrote")->required();
    command = add_with_course("readmit", "Give jobs to a node that was left out", readmit);
    command->add_option("node", a_.node, "As `status` names it")->required();
    add_with_course("init", "Write a course.toml to start from", init);
    command =
        add("run", "What a job of a batch runs", [](const Arguments& a) { return run_array_task(a.batch, a.task); });
    command->group("");  // not listed
    command->add_option("batch", a_.batch)->required();
    command->add_option("task", a_.task)->required();
  }

  Commands& ridge_;
  CLI::App* top_;
  std::shared_ptr<Arguments> arguments_ = std::make_shared<Arguments>();
  Arguments& a_ = *arguments_;
};

void add_submit(Commands& ridge) {
  CLI::App* command = ridge.add("submit", "Hand your work in: checks, packs, and puts it into the course's folder",
                                "  ridge submit 03");
  auto a = std::make_shared<SubmitArguments>();
  command->add_option("lab", a->lab, "Lab")->required();
  command->add_option("--submission", a->submission, "Folder with the lab's files (default: work/NN_name)");
  command->add_option("--to", a->dropbox, "The course's folder (default: RIDGE_DROPBOX, else course.toml's)");
  command->add_flag("--unchecked", a->unchecked, "Without checking it here first");
  ridge.set_action(command, [a] { return submit_work(*a); });
}

}  // namespace

void add_commands(Commands& ridge) {
  ClusterCommands(ridge).add_all();
  add_submit(ridge);
}

}  // namespace ridge::cluster
