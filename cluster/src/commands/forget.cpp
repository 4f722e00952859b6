// Retention: deletes the files of graded hand-ins and the logs of jobs, and keeps all that a grade rests on.
#include <fmt/format.h>

#include <chrono>
#include <string>
#include <vector>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/commands/collecting.hpp"
#include "cluster/src/commands/registry.hpp"
#include "cluster/src/intake/intake.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"

namespace ridge::cluster {

namespace {

constexpr const char* kForgotten = ".forgotten-";  // begins the name of a folder that is being deleted

struct ForgetArguments {
  std::string course;
  int days = 0;
  bool yes = false;
};

struct OldWork {
  std::string lab, content, students;
  std::int64_t last = 0;  // when it was taken in, or graded, for the last time
};

// Every hand-in of the content and every result of it is older than `before`; one result counts, and no grading is
// open, failed or cancelled.
std::vector<OldWork> graded_before(Gradebook& book, std::int64_t before) {
  std::vector<OldWork> old;
  for (Rows r = book.db().query(
           "SELECT s.lab, s.content, GROUP_CONCAT(DISTINCT s.student), MAX(MAX(s.taken), COALESCE((SELECT "
           "MAX(r.taken) FROM result r JOIN work w ON w.id = r.work WHERE w.lab = s.lab AND w.content = s.content), "
           "0)) AS last FROM submission s WHERE s.content <> '' "
           "AND EXISTS (SELECT 1 FROM work w JOIN result r ON r.work = w.id AND r.counts = 1 WHERE w.lab = s.lab AND "
           "w.content = s.content) "
           "AND NOT EXISTS (SELECT 1 FROM work w WHERE w.lab = s.lab AND w.content = s.content AND w.state <> "
           "'graded') GROUP BY s.lab, s.content HAVING last < ? ORDER BY s.lab, last, s.content",
           before);
       r.next();) {
    OldWork w{r.text(0), r.text(1), r.text(2), r.integer(3)};
    if (fs::is_directory(fs::symlink_status(content_dir(book.course(), w.lab, w.content)))) old.push_back(w);
  }
  return old;
}

// What an interrupted run was deleting, and what a killed intake was preparing, of all labs: also of those that
// course.toml names no more. No program takes these for a submission.
std::vector<fs::path> half_deleted(const Course& course) {
  std::vector<fs::path> found;
  std::error_code ec, inner;
  for (fs::directory_iterator lab(course.shared / "contents", ec), end; !ec && lab != end; lab.increment(ec))
    for (fs::directory_iterator it(lab->path(), inner), last; !inner && it != last; it.increment(inner)) {
      const std::string name = it->path().filename().string();
      if (name.starts_with(kForgotten) || name.starts_with(kStaging)) found.push_back(it->path());
    }
  return found;
}

// Logs are named BATCH.TASK.log. Those of a batch that is not over stay, whatever their date.
std::vector<fs::path> logs_before(Gradebook& book, std::int64_t before) {
  std::vector<fs::path> old;
  std::error_code ec;
  const auto limit = fs::file_time_type::clock::now() - std::chrono::seconds(wall_now() - before);
  for (fs::directory_iterator it(book.course().shared / "log", ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    std::error_code gone;
    if (!fs::is_regular_file(it->symlink_status(gone)) || it->last_write_time(gone) >= limit || gone) continue;
    if (book.db()
            .query("SELECT 1 FROM batch WHERE name = ? AND state <> 'over'", name.substr(0, name.find('.')))
            .next())
      continue;
    old.push_back(it->path());
  }
  return old;
}

std::uintmax_t bytes_in(const fs::path& dir) {
  std::uintmax_t sum = 0;
  std::error_code ec;
  for (fs::directory_iterator it(dir, ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code gone;
    if (const auto size = it->file_size(gone); !gone) sum += size;
  }
  return sum;
}

void require(const std::error_code& ec, const fs::path& what) {
  if (ec)
    throw Error(Exit::environment, fmt::format("cannot delete {}: {}", shown(what), ec.message()),
                "check that this account may write there, then the same command again: it goes on where it ended");
}

// The note is first, so nothing is gone without one; what an interrupted run has noted, the next run deletes.
void delete_work(Gradebook& book, const OldWork& w) {
  const fs::path place = content_dir(book.course(), w.lab, w.content);
  const fs::path away = place.parent_path() / (kForgotten + w.content);
  std::error_code ec;
  fs::remove_all(away, ec);
  require(ec, away);
  book.note(fmt::format("{}: the files {} of {} were deleted by {}", w.lab, w.content, w.students, user_name()));
  fs::rename(place, away, ec);
  require(ec, place);
  fs::remove_all(away, ec);
  require(ec, away);
}

int forget(const ForgetArguments& a) {
  const Course course = load_course(a.course);
  CollectorLock lock(course);  // no intake, grading or regrade meanwhile
  Gradebook book(course);
  book.require_shared();
  const std::int64_t before = wall_now() - std::int64_t{86400} * a.days;
  const std::vector<OldWork> works = graded_before(book, before);
  const std::vector<fs::path> halves = half_deleted(course), logs = logs_before(book, before);
  for (const OldWork& w : works)
    fmt::print("  {} {}  {}  {} bytes  {}\n", w.lab, w.content.substr(0, 8), date_text(w.last).substr(0, 10),
               bytes_in(content_dir(course, w.lab, w.content)), printable(w.students));
  for (const fs::path& half : halves) fmt::print("  {}  (an interrupted run left it)\n", shown(half));
  Rows open = book.db().query("SELECT COUNT(*) FROM (SELECT DISTINCT lab, content FROM work WHERE state <> 'graded')");
  open.next();
  fmt::print(
      "Older than {} days: the files of {} graded works, and {} logs of jobs. Works without a result, or with a "
      "grading that is not done, are kept: {}.\n",
      a.days, works.size() + halves.size(), logs.size(), open.integer(0));
  if (!a.yes) {
    fmt::print("Nothing was deleted: this was a dry run. --yes deletes them, and they cannot be regraded then.\n");
    return 0;
  }
  std::fflush(stdout);
  for (const OldWork& w : works) delete_work(book, w);
  std::error_code ec;
  for (const fs::path& half : halves) fs::remove_all(half, ec), require(ec, half);
  if (!logs.empty()) book.note(fmt::format("{} logs of jobs were deleted by {}", logs.size(), user_name()));
  for (const fs::path& log : logs) fs::remove(log, ec), require(ec, log);
  fmt::print("Deleted. Grades, signed records, decisions and the log of events are kept.\n");
  return 0;
}

}  // namespace

void add_forget(Registry& cluster) {
  const auto [command, a] = cluster.add_with_course<ForgetArguments>(
      "forget", "Delete old files of graded hand-ins, and old logs; grades and records stay", " --older-than 365",
      forget);
  command->add_option("--older-than", a->days, "Days since the last hand-in and the last grading of a work")
      ->required()
      ->check(CLI::Range(1, 36500));
  command->add_flag("--yes", a->yes, "Delete; without it they are only listed");
}

}  // namespace ridge::cluster
