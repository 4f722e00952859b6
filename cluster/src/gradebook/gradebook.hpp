// The gradebook holds submissions, attempts, results and the instructor's decisions in one SQLite file. Only the
// collector, which holds the lock, writes results; one result of each work counts.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/src/base/course.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/gradebook/database.hpp"
#include "learn/questions/participation.hpp"

namespace ridge::cluster {

// How another system names a student. kind: "canvas", "participant" (Moodle's number), "github", "login" (an account or
// a further id).
struct StudentKey {
  std::string kind, value;
  bool operator==(const StudentKey&) const = default;
};

struct Student {
  std::string id, name, email;
  std::vector<StudentKey> keys = {};
  // When the student handed in, as Moodle's grading worksheets say, by the participant number, which each assignment
  // has of its own. Not kept.
  std::map<std::string, std::int64_t> moodle_dates = {};
};

// Different contents by the state of their newest grading. Of a regrade only the new one counts.
struct Counts {
  int waiting = 0, running = 0, graded = 0, not_graded = 0;
  int open() const { return waiting + running; }
};

// One student's grade in one lab.
struct Grade {
  Student student;
  std::string lab, content, source, problem, outcome, state, reason;
  std::optional<std::int64_t> handed_in;
  std::optional<std::int64_t> deadline;  // the student's own, with an extension
  std::optional<double> points, max;     // as the judge gave them
  std::optional<double> percent;  // the exported grade, after lateness and decisions; none where it is not graded
  double days_late = 0;
  bool overridden = false;
  bool late_left_out = false;  // the hand-in by the deadline counts, since a later one earns no more
  std::string note;            // explains lateness and decisions
  std::string token;
  std::optional<loop::Participation> participation;  // as the student's last hand-in says; never part of a grade
};

class Gradebook {
 public:
  // Opens the course's gradebook, or creates it, unless the shared folder has the work of one that is gone. Throws
  // Error.
  explicit Gradebook(const Course& course);

  Database& db() { return db_; }
  const Course& course() const { return course_; }

  void add_student(const Student& s);
  // Makes these the class, and returns the ids of those who were in it and no longer are. Their work is kept.
  std::vector<std::string> enrol(const std::vector<Student>& roster);
  void set_participation(const std::string& lab, const std::string& student, const loop::Participation& p);
  std::vector<Student> students();

  // Entries of hand-ins that belong to nobody on the roster, of one lab or of all (empty): whose they are has no grade.
  struct Unmatched {
    std::string lab, file, why;
  };
  void set_unmatched(const std::string& lab, const fs::path& folder, const std::vector<Unmatched>& entries);
  std::vector<Unmatched> unmatched(const std::string& lab);

  Counts counts(const std::string& lab);  // of all labs where `lab` is empty
  // The grades of all students, and of others who handed something in, ordered by id.
  // A student's last hand-in counts; where it is late, the better of it, with its deduction, and the last one in time.
  std::vector<Grade> grades(const std::string& lab);

  // The grades of the whole course, weighted by lab. A lab without a submission counts zero after its deadline, or
  // the student's later one, and nothing before. A student whose submission is not graded yet has no total.
  std::vector<Grade> totals();

  void decide(const std::string& kind, const std::string& lab, const std::string& student, const std::string& value,
              const std::string& reason, const std::string& author);
  void claim_shared();                 // notes in the shared folder that it is this gradebook's
  void require_shared();               // throws Error(Exit::environment) where the folder is away, or another
  void back_up(const fs::path& to);    // a whole copy, also while others write. Never overwrites
  std::string jobs_prefix();           // begins the names of this gradebook's jobs and of no other's
  void note(const std::string& what);  // adds to the log of events

 private:
  std::string id();
  struct HandedIn {
    std::string content, source, problem;
    std::optional<std::int64_t> date;
  };
  void grade_hand_in(Grade& g, const HandedIn& h, const CourseLab& rules);

  const Course& course_;
  Database db_;
};

// Makes a backup the course's gradebook, where there is none. Throws Error.
void restore_gradebook(const Course& course, const fs::path& from);

// A lock that makes a process the gradebook's only collector. It ends with the process.
class CollectorLock {
 public:
  explicit CollectorLock(const Course& course);  // throws Error(Exit::environment) where another process holds it

 private:
  Fd fd_;
};

}  // namespace ridge::cluster
