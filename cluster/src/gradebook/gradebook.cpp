#include "cluster/src/gradebook/gradebook.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <set>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/strings.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/result.hpp"

namespace ridge::cluster {

namespace {

// content: the hash of submitted files, which several students may share. work: one content to be judged; a regrade is
// a new generation. attempt: one try, with a unique token. Where building is a phase of its own, a work's first attempt
// builds it, and `built` is that attempt's token and the folder's name. result: the outcome of an attempt; the index
// allows one result that counts.
constexpr const char* kSchema = R"(
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS student(id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS submission(
  id INTEGER PRIMARY KEY, lab TEXT NOT NULL, student TEXT NOT NULL, content TEXT NOT NULL, source TEXT NOT NULL,
  handed_in INTEGER, problem TEXT NOT NULL, taken INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS work(
  id INTEGER PRIMARY KEY, lab TEXT NOT NULL, content TEXT NOT NULL, backend TEXT NOT NULL, generation INTEGER NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('waiting', 'running', 'graded', 'not-graded', 'cancelled')),
  reason TEXT NOT NULL DEFAULT '', failures INTEGER NOT NULL DEFAULT 0, built TEXT NOT NULL DEFAULT '',
  UNIQUE(lab, content, backend, generation));
CREATE TABLE IF NOT EXISTS batch(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, lab TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('submitting', 'submitted', 'over')), job TEXT NOT NULL DEFAULT '',
  tasks INTEGER NOT NULL, made INTEGER NOT NULL, phase TEXT NOT NULL DEFAULT 'judge');
CREATE TABLE IF NOT EXISTS attempt(
  token TEXT PRIMARY KEY, work INTEGER NOT NULL REFERENCES work(id), number INTEGER NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('open', 'built', 'graded', 'failed', 'lost', 'fenced', 'cancelled')),
  batch INTEGER NOT NULL REFERENCES batch(id), task INTEGER NOT NULL, node TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT '', made INTEGER NOT NULL, ended INTEGER, UNIQUE(work, number));
CREATE UNIQUE INDEX IF NOT EXISTS one_open_attempt ON attempt(work) WHERE state = 'open';
CREATE INDEX IF NOT EXISTS attempt_batch ON attempt(batch);
CREATE TABLE IF NOT EXISTS result(
  token TEXT PRIMARY KEY REFERENCES attempt(token), work INTEGER NOT NULL REFERENCES work(id), counts INTEGER NOT NULL,
  outcome TEXT NOT NULL, points REAL NOT NULL, max REAL NOT NULL, coverage REAL NOT NULL, seconds REAL NOT NULL,
  nonce TEXT NOT NULL, record TEXT NOT NULL, taken INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS result_nonce ON result(nonce);
CREATE UNIQUE INDEX IF NOT EXISTS one_result_counts ON result(work) WHERE counts = 1;
CREATE TABLE IF NOT EXISTS decision(
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, lab TEXT NOT NULL, student TEXT NOT NULL, value TEXT NOT NULL,
  reason TEXT NOT NULL, author TEXT NOT NULL, made INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS node(name TEXT PRIMARY KEY, failures INTEGER NOT NULL, excluded INTEGER NOT NULL, reason TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS event(id INTEGER PRIMARY KEY, made INTEGER NOT NULL, what TEXT NOT NULL);
COMMIT;
)";

// Updates a gradebook from before the build phase.
constexpr const char* kUpdate = R"(
PRAGMA foreign_keys=OFF;
BEGIN IMMEDIATE;
ALTER TABLE work ADD COLUMN built TEXT NOT NULL DEFAULT '';
ALTER TABLE batch ADD COLUMN phase TEXT NOT NULL DEFAULT 'judge';
CREATE TABLE attempt_new(
  token TEXT PRIMARY KEY, work INTEGER NOT NULL REFERENCES work(id), number INTEGER NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('open', 'built', 'graded', 'failed', 'lost', 'fenced', 'cancelled')),
  batch INTEGER NOT NULL REFERENCES batch(id), task INTEGER NOT NULL, node TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT '', made INTEGER NOT NULL, ended INTEGER, UNIQUE(work, number));
INSERT INTO attempt_new SELECT * FROM attempt;
DROP TABLE attempt;
ALTER TABLE attempt_new RENAME TO attempt;
CREATE UNIQUE INDEX one_open_attempt ON attempt(work) WHERE state = 'open';
CREATE INDEX attempt_batch ON attempt(batch);
COMMIT;
PRAGMA foreign_keys=ON;
)";

// The answered questions that hand-ins report. A student can forge them, so they count as participation and for no
// grade.
constexpr const char* kParticipation = R"(
CREATE TABLE IF NOT EXISTS participation(
  lab TEXT NOT NULL, student TEXT NOT NULL, predictions INTEGER NOT NULL, predicted INTEGER NOT NULL, near INTEGER NOT NULL,
  questions INTEGER NOT NULL, answered INTEGER NOT NULL, correct INTEGER NOT NULL, UNIQUE(lab, student));
)";

// Updates a gradebook in which a student could hand in the same files once only.
constexpr const char* kManySubmissions = R"(
BEGIN IMMEDIATE;
CREATE TABLE submission_new(
  id INTEGER PRIMARY KEY, lab TEXT NOT NULL, student TEXT NOT NULL, content TEXT NOT NULL, source TEXT NOT NULL,
  handed_in INTEGER, problem TEXT NOT NULL, taken INTEGER NOT NULL);
INSERT INTO submission_new SELECT * FROM submission;
DROP TABLE submission;
ALTER TABLE submission_new RENAME TO submission;
CREATE INDEX submission_of ON submission(lab, student);
COMMIT;
)";

// Who is on the roster that was given last.
constexpr const char* kEnrolled = "ALTER TABLE student ADD COLUMN enrolled INTEGER NOT NULL DEFAULT 1;";

// How other systems name the students.
constexpr const char* kStudentKeys = R"(
CREATE TABLE IF NOT EXISTS student_key(
  student TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL, UNIQUE(student, kind, value));
)";

// Hand-ins that match nobody on the roster. A later intake of the same folder replaces its rows.
constexpr const char* kUnmatched = R"(
CREATE TABLE IF NOT EXISTS unmatched(lab TEXT NOT NULL, folder TEXT NOT NULL, file TEXT NOT NULL, why TEXT NOT NULL);
)";

// Tells a file that was renamed from one that was moved away.
constexpr const char* kInode = "ALTER TABLE unmatched ADD COLUMN inode INTEGER NOT NULL DEFAULT 0;";

// The name under which a file of the folder is there now; empty: it is in it no more.
std::string name_of_inode(const fs::path& folder, std::uint64_t inode) {
  std::error_code ec;
  struct stat st {};
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (lstat(it->path().c_str(), &st) == 0 && st.st_ino == inode) return it->path().filename().string();
  return "";
}

// Says in the shared folder whose it is, so that a gradebook that was deleted is missed.
fs::path id_file(const Course& course) { return course.shared / "gradebook-id"; }

fs::path with_folder(const fs::path& file) {
  make_folders(file.parent_path());
  return file;
}

}  // namespace

Gradebook::Gradebook(const Course& course) : course_(course), db_(with_folder(course.gradebook)) {
  const std::string owner = trimmed(read_regular(id_file(course), 100).value_or(""));
  const bool fresh = !db_.query("SELECT 1 FROM sqlite_master WHERE name = 'event'").next();
  if (fresh && !owner.empty())
    throw Error(
        Exit::usage,
        fmt::format("there is no gradebook {}, and {} has the work of one", shown(course.gradebook),
                    shown(course.shared)),
        fmt::format("`ridge cluster restore FILE` takes a backup; to begin anew, name another `shared`, or remove {}",
                    shown(id_file(course))));
  if (!db_.query("SELECT 1 FROM sqlite_master WHERE name = 'event'").next()) db_.script(kSchema);
  if (!db_.query("SELECT 1 FROM pragma_table_info('batch') WHERE name = 'phase'").next()) db_.script(kUpdate);
  if (!db_.query("SELECT 1 FROM sqlite_master WHERE name = 'participation'").next()) db_.script(kParticipation);
  if (db_.query("SELECT 1 FROM sqlite_master WHERE name = 'submission' AND sql LIKE '%UNIQUE(lab, student%'").next())
    db_.script(kManySubmissions);
  if (!db_.query("SELECT 1 FROM pragma_table_info('student') WHERE name = 'enrolled'").next()) db_.script(kEnrolled);
  if (!db_.query("SELECT 1 FROM sqlite_master WHERE name = 'student_key'").next()) db_.script(kStudentKeys);
  if (!db_.query("SELECT 1 FROM sqlite_master WHERE name = 'unmatched'").next()) db_.script(kUnmatched);
  if (!db_.query("SELECT 1 FROM pragma_table_info('unmatched') WHERE name = 'inode'").next()) db_.script(kInode);
  db_.change("INSERT INTO meta SELECT 'id', ? WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = 'id')",
             new_nonce().substr(0, 6));
  if (!owner.empty() && owner != id())
    throw Error(Exit::usage,
                fmt::format("{} belongs to another gradebook than {}", shown(course.shared), shown(course.gradebook)),
                "every gradebook has a `shared` folder of its own");
}

std::string Gradebook::id() {
  Rows r = db_.query("SELECT value FROM meta WHERE key = 'id'");
  return r.next() ? r.text(0) : "";
}

void Gradebook::claim_shared() {
  if (db_.query("SELECT 1 FROM meta WHERE key = 'shared' AND value = ?", course_.shared.string()).next())
    require_shared();
  make_folders(course_.shared);
  publish(id_file(course_), id() + "\n");
  db_.change("INSERT OR REPLACE INTO meta VALUES('shared', ?)", course_.shared.string());
}

void Gradebook::require_shared() {
  if (trimmed(read_regular(id_file(course_), 100).value_or("")) != id())
    throw Error(Exit::environment,
                fmt::format("the shared folder {} is away: it lacks its file {}", shown(course_.shared),
                            id_file(course_).filename().string()),
                "mount it, then `ridge cluster resume`: jobs keep their results meanwhile. Where it is lost for good, "
                "name another `shared` in course.toml");
}

void Gradebook::back_up(const fs::path& to) { db_.copy_to(to); }

void Gradebook::add_student(const Student& s) {
  db_.change(
      "INSERT INTO student(id, name, email) VALUES(?, ?, ?) ON CONFLICT(id) DO UPDATE SET name = excluded.name, email "
      "= excluded.email "
      "WHERE name <> excluded.name OR email <> excluded.email",
      s.id, s.name, s.email);
  for (const StudentKey& k : s.keys)
    db_.change("INSERT INTO student_key VALUES(?, ?, ?) ON CONFLICT DO NOTHING", s.id, k.kind, k.value);
}

std::vector<std::string> Gradebook::enrol(const std::vector<Student>& roster) {
  std::set<std::string> gone;
  for (const Student& s : students()) gone.insert(s.id);
  // A key that this roster gives to some students was wrong at all others: a roster before it had rows mixed up.
  std::map<std::pair<std::string, std::string>, std::set<std::string>> holders;
  for (const Student& s : roster)
    for (const StudentKey& k : s.keys) holders[{k.kind, k.value}].insert(s.id);
  std::vector<std::pair<std::string, StudentKey>> wrong;
  for (Rows r = db_.query("SELECT student, kind, value FROM student_key"); r.next();)
    if (const auto at = holders.find({r.text(1), r.text(2)}); at != holders.end() && !at->second.contains(r.text(0)))
      wrong.emplace_back(r.text(0), StudentKey{r.text(1), r.text(2)});
  for (const auto& [id, k] : wrong)
    db_.change("DELETE FROM student_key WHERE student = ? AND kind = ? AND value = ?", id, k.kind, k.value);
  for (const Student& s : roster) {
    add_student(s);
    db_.change("UPDATE student SET enrolled = 1 WHERE id = ?", s.id);
    gone.erase(s.id);
  }
  for (const std::string& id : gone) db_.change("UPDATE student SET enrolled = 0 WHERE id = ?", id);
  return {gone.begin(), gone.end()};
}

void Gradebook::set_participation(const std::string& lab, const std::string& student, const loop::Participation& p) {
  db_.change("INSERT OR REPLACE INTO participation VALUES(?, ?, ?, ?, ?, ?, ?, ?)", lab, student, p.predictions,
             p.predicted, p.near, p.questions, p.answered, p.right);
}

std::vector<Student> Gradebook::students() {
  std::vector<Student> all;
  for (Rows r = db_.query("SELECT id, name, email FROM student WHERE enrolled = 1 ORDER BY id"); r.next();)
    all.push_back({r.text(0), r.text(1), r.text(2), {}});
  for (Student& s : all)
    for (Rows r = db_.query("SELECT kind, value FROM student_key WHERE student = ? ORDER BY kind, value", s.id);
         r.next();)
      s.keys.push_back({r.text(0), r.text(1)});
  return all;
}

void Gradebook::set_unmatched(const std::string& lab, const fs::path& folder, const std::vector<Unmatched>& entries) {
  db_.change("DELETE FROM unmatched WHERE lab = ? AND folder = ?", lab, folder.string());
  for (const Unmatched& e : entries) {
    struct stat st {};
    const bool here = lstat(e.file.c_str(), &st) == 0;
    db_.change("INSERT INTO unmatched VALUES(?, ?, ?, ?, ?)", lab, folder.string(), e.file, e.why,
               here ? static_cast<std::int64_t>(st.st_ino) : 0);
  }
}

std::vector<Gradebook::Unmatched> Gradebook::unmatched(const std::string& lab) {
  std::vector<Unmatched> all;
  for (Rows r = db_.query(
           "SELECT lab, file, why, folder, inode FROM unmatched WHERE ?1 = '' OR lab = ?1 ORDER BY lab, file", lab);
       r.next();) {
    struct stat st {};
    if (lstat(r.text(1).c_str(), &st) == 0) {
      all.push_back({r.text(0), r.text(1), r.text(2)});
    } else if (const auto inode = static_cast<std::uint64_t>(r.integer(4)); inode != 0) {
      const std::string name = name_of_inode(r.text(3), inode);
      if (!name.empty())
        all.push_back(
            {r.text(0), r.text(1), fmt::format("it is called {} now; take the folder in again", printable(name))});
    }
  }
  return all;
}

Counts Gradebook::counts(const std::string& lab) {
  Counts c;
  for (Rows r = db_.query(
           "SELECT state, count(*) FROM work w WHERE (?1 = '' OR lab = ?1) AND (state IN ('waiting', 'running') OR "
           "generation = (SELECT max(generation) FROM work n WHERE n.lab = w.lab AND n.content = w.content AND "
           "n.backend = w.backend)) GROUP BY state",
           lab);
       r.next();) {
    const std::string state = r.text(0);
    const int n = static_cast<int>(r.integer(1));
    (state == "waiting"   ? c.waiting
     : state == "running" ? c.running
     : state == "graded"  ? c.graded
                          : c.not_graded) += n;
  }
  return c;
}

namespace {

bool is_late(const std::optional<std::int64_t>& date, const Grade& g, const CourseLab& rules) {
  return g.deadline && date && *date > *g.deadline + 60 * rules.late.grace_minutes;
}

bool is_open(const Grade& g) { return g.state == "waiting" || g.state == "running"; }

// Which of two hand-ins counts: a late one never lowers what was handed in by the deadline. Neither does while a result
// is missing that could be the better one.
const Grade& better(const Grade& in_time, const Grade& late, const CourseLab& rules) {
  if (is_open(in_time)) return in_time;
  const bool can_earn = late.days_late <= rules.late.days;
  if (is_open(late) && can_earn) return late;
  return late.percent.value_or(-1) > in_time.percent.value_or(-1) ? late : in_time;
}

void add_note(Grade& g, const std::string& text) { g.note += (g.note.empty() ? "" : "; ") + text; }

}  // namespace

// Fills in what a hand-in earns: the newest generation of its work that has a result, less what lateness costs.
void Gradebook::grade_hand_in(Grade& g, const HandedIn& h, const CourseLab& rules) {
  g.content = h.content, g.source = h.source, g.problem = h.problem, g.handed_in = h.date;
  if (!g.content.empty()) {
    Rows w = db_.query(
        "SELECT w.state, w.reason, r.outcome, r.points, r.max, r.token FROM work w LEFT JOIN result r ON r.work = w.id "
        "AND r.counts = 1 WHERE w.lab = ? AND w.content = ? AND w.backend = ? "
        "ORDER BY r.token IS NULL, w.generation DESC LIMIT 1",
        g.lab, g.content, rules.backend);
    if (w.next()) {
      g.state = w.text(0), g.reason = w.text(1);
      if (!w.null(5)) {
        g.outcome = w.text(2), g.points = w.number(3), g.max = w.number(4), g.token = w.text(5);
        g.percent = *g.max > 0 ? 100 * *g.points / *g.max : 0;
      }
    }
  }
  if (!is_late(h.date, g, rules)) return;
  g.days_late = std::ceil(static_cast<double>(*h.date - *g.deadline) / 86400.0);
  const double left = g.days_late > rules.late.days ? 0 : 1 - rules.late.percent_per_day * g.days_late / 100;
  if (g.percent) *g.percent *= std::max(left, 0.0);
  add_note(g, fmt::format("{:.0f} {} late", g.days_late, g.days_late == 1 ? "day" : "days"));
}

std::vector<Grade> Gradebook::grades(const std::string& lab) {
  const CourseLab rules = course_.lab(lab);
  std::map<std::string, Grade> all;
  for (const Student& s : students()) all[s.id].student = s;
  std::map<std::string, std::vector<HandedIn>> hand_ins;  // of each student, oldest first
  for (Rows r =
           db_.query("SELECT student, content, source, handed_in, problem FROM submission WHERE lab = ? AND student "
                     "NOT IN (SELECT id FROM student WHERE enrolled = 0) ORDER BY COALESCE(handed_in, taken), id",
                     lab);
       r.next();) {
    all[r.text(0)].student.id = r.text(0);
    hand_ins[r.text(0)].push_back(
        {r.text(1), r.text(2), r.text(4), r.null(3) ? std::nullopt : std::optional(r.integer(3))});
  }
  std::vector<Grade> list;
  for (auto& [id, g] : all) {
    g.lab = lab;
    g.deadline = rules.deadline;
    std::optional<double> fixed;
    for (Rows r = db_.query("SELECT kind, value FROM decision WHERE lab = ? AND student = ? ORDER BY id", lab, id);
         r.next();) {
      if (r.text(0) == "extension") g.deadline = parse_date(r.text(1));
      if (r.text(0) == "override") fixed = r.text(1) == "none" ? std::nullopt : std::optional(std::stod(r.text(1)));
      if (r.text(0) == "extension" || r.text(0) == "override")  // the reason is for the report, not for exports
        add_note(g, fmt::format("{} {}", r.text(0), r.text(1)));
    }
    const HandedIn *last = nullptr, *in_time = nullptr;
    for (const HandedIn& h : hand_ins[id]) {
      if (last != nullptr && !h.problem.empty() && !last->content.empty())
        continue;  // an unreadable later submission does not replace an earlier one
      last = &h;
      if (!h.content.empty() && !is_late(h.date, g, rules)) in_time = &h;
    }
    const Grade before = g;
    if (last != nullptr) grade_hand_in(g, *last, rules);
    if (in_time != nullptr && in_time != last) {
      Grade earlier = before;
      grade_hand_in(earlier, *in_time, rules);
      if (&better(earlier, g, rules) == &earlier) {
        g = earlier;
        g.late_left_out = true;
        add_note(g, "a late hand-in earns no more than this one");
      }
    }
    if (fixed) g.percent = fixed, g.overridden = true;
    Rows p = db_.query(
        "SELECT predictions, predicted, near, questions, answered, correct FROM participation WHERE lab = ? AND "
        "student = ?",
        lab, id);
    if (p.next()) {
      auto count = [&](int column) { return static_cast<int>(p.integer(column)); };
      g.participation = loop::Participation{count(0), count(1), count(2), count(3), count(4), count(5)};
    }
    list.push_back(g);
  }
  return list;
}

std::vector<Grade> Gradebook::totals() {
  struct Sum {
    Grade grade;
    double earned = 0, weights = 0;
    bool waits = false;
  };
  std::map<std::string, Sum> all;
  for (const auto& [name, rules] : course_.labs) {
    if (rules.weight == 0) continue;
    for (const Grade& g : grades(name)) {
      Sum& s = all[g.student.id];
      if (s.grade.student.name.empty()) s.grade.student = g.student;
      const bool nothing = g.content.empty() && g.problem.empty();
      std::string part = "open";
      const bool over = rules.deadline && *g.deadline + 60 * rules.late.grace_minutes < wall_now();
      if (g.percent || (nothing && over)) {
        s.earned += rules.weight * g.percent.value_or(0), s.weights += rules.weight;
        part = g.percent ? fmt::format("{:.2f}", *g.percent) : "nothing handed in: 0";
      } else if (!nothing) {
        s.waits = true, part = "not graded";
      }
      s.grade.note += fmt::format("{}{} x{:g}: {}", s.grade.note.empty() ? "" : "; ", name, rules.weight, part);
      if (nothing && !g.percent) continue;
      s.grade.content = "total";
      if (g.handed_in) s.grade.handed_in = std::max(s.grade.handed_in.value_or(0), *g.handed_in);
    }
  }
  std::vector<Grade> list;
  for (auto& [id, s] : all) {
    s.grade.lab = "total";
    if (!s.waits && s.weights > 0) {
      s.grade.points = s.earned / 100, s.grade.max = s.weights;
      s.grade.percent = s.earned / s.weights;
      s.grade.outcome = "graded";
    }
    list.push_back(s.grade);
  }
  return list;
}

void Gradebook::decide(const std::string& kind, const std::string& lab, const std::string& student,
                       const std::string& value, const std::string& reason, const std::string& author) {
  db_.change("INSERT INTO decision(kind, lab, student, value, reason, author, made) VALUES(?, ?, ?, ?, ?, ?, ?)", kind,
             lab, student, value, reason, author, wall_now());
}

std::string Gradebook::jobs_prefix() { return "ridge-" + id() + "-"; }

void Gradebook::note(const std::string& what) {
  db_.change("INSERT INTO event(made, what) VALUES(?, ?)", wall_now(), what);
}

void restore_gradebook(const Course& course, const fs::path& from) {
  std::error_code ec;
  if (!fs::is_regular_file(from, ec)) throw Error(Exit::usage, "there is no file " + shown(from), "check its name");
  if (fs::exists(course.gradebook, ec) &&
      Database(course.gradebook).query("SELECT 1 FROM sqlite_master WHERE name = 'event'").next())
    throw Error(Exit::usage, shown(course.gradebook) + " is there; it is not overwritten",
                "move it away first, with its -wal and -shm");
  {
    Database backup(from, false);
    if (!backup.query("SELECT 1 FROM sqlite_master WHERE name = 'event'").next())
      throw Error(Exit::usage, shown(from) + " is no gradebook", "name a file that `ridge cluster backup` wrote");
    for (const char* end : {"", "-wal", "-shm"}) fs::remove(course.gradebook.string() + end, ec);
    backup.copy_to(with_folder(course.gradebook));
  }
  // Results that came since the backup are taken in again where the backup knows the attempt.
  Gradebook book(course);
  for (fs::directory_iterator it(course.shared / "taken", ec), end; !ec && it != end; it.increment(ec)) {
    const std::string token = it->path().stem().string();
    if (book.db()
            .query("SELECT 1 FROM attempt WHERE token = ?1 AND NOT EXISTS (SELECT 1 FROM result WHERE token = ?1)",
                   token)
            .next())
      fs::rename(it->path(), course.shared / "spool" / it->path().filename(), ec);
  }
}

CollectorLock::CollectorLock(const Course& course) {
  const fs::path file = course.gradebook.string() + ".collector";
  make_folders(file.parent_path());
  fd_ = Fd(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (fd_.get() < 0)
    throw Error(Exit::environment, fmt::format("cannot write {}: {}", shown(file), std::strerror(errno)),
                "free some space there, or check that this account may write there");
  if (flock(fd_.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error(Exit::environment, fmt::format("another process is collecting results for {}", shown(course.gradebook)),
                "wait for it, or follow it with `ridge cluster status --watch`");
}

}  // namespace ridge::cluster
