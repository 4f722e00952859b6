#include "cluster/src/intake/intake.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/intake/entries.hpp"
#include "cluster/src/intake/file_owners.hpp"
#include "cluster/src/intake/staging.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/lab/lab.hpp"
#include "grader/result/hashes.hpp"
#include "grader/result/result.hpp"

namespace ridge::cluster {

namespace {

struct Row {
  std::string student, content, source, problem;
  std::optional<std::int64_t> handed_in;
  std::optional<loop::Participation> participation;
  bool counted = false;  // came through the dropbox, where a day has only so many hand-ins
};

// One entry that cannot be taken in never stops the others. Where this machine fails, all of them would fail.
Staged stage_or_blame(const Entry& entry, const Lab& lab, std::optional<std::int64_t> deadline, const fs::path& to) {
  std::string what;
  try {
    return stage_entry(entry, lab, deadline, to);
  } catch (const Error& e) {
    if (e.code == Exit::environment) throw;
    what = e.what();
  } catch (const std::exception& e) {
    what = e.what();
  }
  if (disk_full(to.parent_path()))
    throw Error(Exit::environment, "no space left in " + shown(to.parent_path()), "free some space there, then again");
  Staged s;
  s.problem = "can't be taken in here: " + capped(printable(what), 200);
  return s;
}

std::optional<std::int64_t> deadline_of(Gradebook& book, const std::string& lab, const std::string& student) {
  const CourseLab rules = book.course().lab(lab);
  std::optional<std::int64_t> deadline = rules.deadline;
  for (Rows r = book.db().query(
           "SELECT value FROM decision WHERE kind = 'extension' AND lab = ? AND student = ? ORDER BY id", lab, student);
       r.next();)
    deadline = parse_date(r.text(0));
  if (deadline) *deadline += 60 * rules.late.grace_minutes;
  return deadline;
}

// Moves the staged files to the place of their content, unless that is there already. Returns whether it was not. Files
// there that are not these any more were changed by somebody, and are replaced.
bool keep_content(const fs::path& staging, const fs::path& place, const Lab& lab) {
  std::error_code ec;
  if (fs::exists(place)) {
    if (combined(submission_hashes(place, lab)) == place.filename()) return false;
    fs::remove_all(place, ec);
  }
  sync_folder(staging);
  fs::rename(staging, place, ec);  // fails where another process has just made it
  if (!fs::exists(place))
    throw Error(Exit::environment, fmt::format("cannot make {}: {}", shown(place), ec.message()),
                "free some space there, then the same command again");
  return true;
}

// The last submission of a student that can be read: new files are compared with it.
struct Newest {
  std::string content, problem, source;
  std::int64_t date = 0;
};
std::optional<Newest> newest(Gradebook& book, const std::string& lab, const std::string& student) {
  std::optional<Newest> last;
  for (Rows r = book.db().query(
           "SELECT content, problem, source, COALESCE(handed_in, taken) FROM submission WHERE lab = ? AND student = ? "
           "ORDER BY COALESCE(handed_in, taken), id",
           lab, student);
       r.next();)
    if (!last || last->content.empty() || r.text(1).empty())
      last = Newest{r.text(0), r.text(1), r.text(2), r.integer(3)};
  return last;
}

// Adds one student's rows, oldest first. The last one counts, so it is compared with what counts so far: who hands in
// A, B and A again has A. The others are history, and are kept once. Returns the number of new ones.
int add_rows(Gradebook& book, const std::string& lab, std::vector<Row>& rows) {
  int fresh = 0;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.handed_in.value_or(0) < b.handed_in.value_or(0); });
  std::size_t last = rows.size() - 1;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].problem.empty()) last = i;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Row& r = rows[i];
    bool known = book.db()
                     .query("SELECT 1 FROM submission WHERE lab = ? AND student = ? AND content = ? AND problem = ?",
                            lab, r.student, r.content, r.problem)
                     .next();
    if (const auto before = newest(book, lab, r.student); before && i == last && r.problem.empty()) {
      const bool older = r.handed_in.value_or(0) < before->date;
      if (before->content == r.content) {
        known = true;
      } else if (before->source == r.source) {
        // The same entry has other files than before: they came later, whatever their own dates say.
        known = false;
        if (older) r.handed_in = before->date;
      } else {
        known = known && older;
      }
    }
    if (known) continue;
    book.db().change(
        "INSERT INTO submission(lab, student, content, source, handed_in, problem, taken) VALUES(?, ?, ?, ?, ?, ?, ?)",
        lab, r.student, r.content, r.source, r.handed_in, r.problem, wall_now());
    ++fresh;
  }
  return fresh;
}

// Of one student's hand-ins through the dropbox in one day (UTC), the first `most` are taken. Those that an earlier
// intake has seen count with their date of then, although their files may be deleted or changed since.
void keep_to_limit(Gradebook& book, const std::string& lab, int most, std::vector<Row>& rows) {
  struct HandedIn {
    std::int64_t date = 0;
    std::string source;
    Row* row = nullptr;  // none: of an earlier intake, and gone
  };
  std::vector<HandedIn> all;
  for (Row& r : rows)
    if (r.counted) all.push_back({r.handed_in.value_or(wall_now()), r.source, &r});
  if (most <= 0 || all.empty()) return;
  for (Rows r = book.db().query(
           "SELECT DISTINCT source, COALESCE(handed_in, taken) FROM submission WHERE lab = ?1 AND student = ?2 AND "
           "substr(source, 1, length(?1) + 1) = ?1 || '_'",
           lab, rows[0].student);
       r.next();)
    if (const auto here = std::ranges::find(all, r.text(0), &HandedIn::source); here == all.end())
      all.push_back({r.integer(1), r.text(0)});
    else
      here->date = std::min(here->date, r.integer(1));
  std::ranges::sort(all, {}, [](const HandedIn& h) { return std::pair(h.date, h.source); });
  constexpr std::int64_t kDay = 86400;
  int number = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    number = i > 0 && all[i].date / kDay == all[i - 1].date / kDay ? number + 1 : 1;
    if (number <= most || all[i].row == nullptr) continue;
    all[i].row->content.clear();
    all[i].row->problem = fmt::format("{}{} of {}, and the course takes {} a day", kOneTooMany, number,
                                      date_text(all[i].date).substr(0, 10), most);
  }
}

// Hand-ins of many students that are all late and of one time: the folder was copied, or the download unpacked, without
// the dates, and nobody's lateness can be read from them.
std::optional<Error> dates_of_a_copy(const std::vector<std::int64_t>& late, std::size_t by_file, const fs::path& dir) {
  constexpr std::size_t kMany = 5;
  constexpr int kOneTime = 600;  // seconds
  if (late.size() < kMany || late.size() < by_file) return std::nullopt;
  const auto [first, last] = std::ranges::minmax(late);
  if (last - first > kOneTime) return std::nullopt;
  return Error(Exit::usage,
               fmt::format("all {} hand-ins of {} are dated {}, after the deadline: these are the dates of a copy or "
                           "a download, and not when students handed in",
                           late.size(), shown(dir), date_text(last)),
               "copy or unpack so that dates are kept (cp -a), or say when they came: --handed-in "
               "2026-11-30T23:59:00+01:00; where all are late indeed, give that date");
}

}  // namespace

fs::path content_dir(const Course& course, const std::string& lab, const std::string& content) {
  return course.shared / "contents" / lab / content;
}

IntakeReport take_in(Gradebook& book, const std::string& lab_name, const fs::path& given,
                     const std::vector<Student>& roster, const IntakeOptions& options) {
  const bool dry = options.dry;
  const Course& course = book.course();
  const CourseLab rules = course.lab(lab_name);
  const Lab lab = find_lab(lab_name);
  const fs::path dir = fs::absolute(given).lexically_normal();  // archives are unpacked by programs in other folders
  IntakeReport report;
  std::map<std::string, std::vector<Row>> rows;  // of each student
  std::vector<Gradebook::Unmatched> unmatched;
  auto miss = [&](const Entry& entry, const std::string& why) {
    report.misses.emplace_back(entry.name, why);
    for (const EntryPart& part : entry.parts) unmatched.push_back({lab.name, part.path.string(), why});
  };
  std::vector<std::int64_t> late;  // the dates of late hand-ins of which only the files tell the date
  std::size_t by_file = 0;
  std::optional<TemporaryDir> only_looked_at;
  fs::path parent = content_dir(course, lab.name, "x").parent_path();
  if (dry) parent = only_looked_at.emplace("dry").path();
  make_folders(parent);
  std::error_code ec;
  const bool open = open_to_others(dir, course);
  for (Entry& entry : entries_of(dir, lab, roster)) {
    if (entry.students.empty()) {
      miss(entry, entry.why);
      continue;
    }
    const FileOwner owner = file_owner(entry, dir, open, roster);
    if (!owner.refused.empty()) {
      miss(entry, owner.refused);
      continue;
    }
    if (owner.unproven)
      for (const Student* student : entry.students) report.unproven.insert(student->id);
    const fs::path staging = parent / (kStaging + new_nonce());
    Staged s;
    std::string content;
    try {
      const auto deadline = deadline_of(book, lab.name, entry.students[0]->id);
      s = stage_or_blame(entry, lab, deadline, staging);
      if (s.by_file && options.handed_in) s.handed_in = options.handed_in, s.by_file = false;
      if (s.by_file) ++by_file;
      if (s.by_file && deadline && s.handed_in.value_or(0) > *deadline) late.push_back(*s.handed_in);
      if (s.problem.empty()) {
        const Hashes hashes = submission_hashes(staging, lab);
        content = hashes.empty() ? "" : combined(hashes);
        if (hashes.empty()) s.problem = "holds none of the lab's files";
      }
      if (!content.empty() && !dry)
        report.contents += keep_content(staging, content_dir(course, lab.name, content), lab);
    } catch (...) {
      fs::remove_all(staging, ec);
      throw;
    }
    fs::remove_all(staging, ec);
    for (const Student* student : entry.students) {
      report.matches.push_back({entry.name, student->id, student->name, entry.how, s.problem, s.note});
      rows[student->id].push_back(
          {student->id, content, entry.name, s.problem, s.handed_in, s.participation, open || entry.how == kByAccount});
    }
  }
  for (auto& [student, its] : rows) {
    keep_to_limit(book, lab.name, course.submissions_per_day, its);
    for (const Row& r : its)
      for (auto& m : report.matches)
        if (m.student == student && m.entry == r.source) m.problem = r.problem;
  }
  for (const Student& s : roster)
    if (rows.count(s.id) == 0) report.without.push_back(s.id);
  const auto wrong_dates = dates_of_a_copy(late, by_file, dir);
  if (wrong_dates && !dry) throw *wrong_dates;
  if (wrong_dates) report.dates = fmt::format("{}; {}", wrong_dates->what(), wrong_dates->advice);
  if (dry) return report;
  sync_folder(parent);
  book.claim_shared();

  Transaction all(book.db());
  book.set_unmatched(lab.name, dir, unmatched);
  for (auto& [student, its] : rows) {
    const int fresh = add_rows(book, lab.name, its);
    report.taken += fresh, report.known += static_cast<int>(its.size()) - fresh;
    for (const Row& r : its) {
      if (r.participation) book.set_participation(lab.name, r.student, *r.participation);
      if (!r.content.empty())
        book.db().change(
            "INSERT INTO work(lab, content, backend, generation, state) SELECT ?1, ?2, ?3, 1, 'waiting' WHERE NOT "
            "EXISTS (SELECT 1 FROM work WHERE lab = ?1 AND content = ?2 AND backend = ?3)",
            lab.name, r.content, rules.backend);
    }
  }
  all.commit();
  return report;
}

std::string intake_text(const IntakeReport& report, bool all) {
  std::string text;
  for (const auto& m : report.matches) {
    if (all) text += fmt::format("  {} -> {}{} ({})\n", m.entry, m.student, m.name.empty() ? "" : ", " + m.name, m.how);
    if (!m.problem.empty()) text += fmt::format("  problem: {}: {}\n", m.entry, m.problem);
    if (!m.note.empty()) text += fmt::format("  note: {}: {}\n", m.entry, m.note);
  }
  if (!report.dates.empty()) text += "  problem: " + report.dates + "\n";
  if (!report.unproven.empty())
    text += fmt::format(
        "  note: others can write to this folder, and the roster tells no account of {}: only the names of their "
        "files say whose they are\n",
        fmt::join(report.unproven, ", "));
  for (const auto& [entry, why] : report.misses) text += fmt::format("  problem: {}: {}\n", entry, why);
  return text;
}

}  // namespace ridge::cluster
