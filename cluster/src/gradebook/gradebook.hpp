// The gradebook: who handed in what, what was tried, what came of it, and who decided otherwise. One SQLite file; only
// the collector (who holds the lock) writes results, and of each piece of work one result counts.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/src/base/course.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/gradebook/database.hpp"

namespace ridge::cluster {

struct Student {
  std::string id, name, email;
};

struct Counts {
  int waiting = 0, running = 0, graded = 0, not_graded = 0;
  int open() const { return waiting + running; }
};

// One student's standing in one lab.
struct Grade {
  Student student;
  std::string lab, content, source, problem, outcome, state, reason;
  std::optional<std::int64_t> handed_in;
  std::optional<double> points, max;  // as judged
  std::optional<double> percent;      // after lateness and decisions: what is exported; none: not graded
  double days_late = 0;
  bool overridden = false;
  std::string note;  // of lateness and decisions
  std::string token;
};

class Gradebook {
 public:
  // Makes it where there is none.
  explicit Gradebook(const Course& course);

  Database& db() { return db_; }
  const Course& course() const { return course_; }

  void add_student(const Student& s);
  std::vector<Student> students();

  Counts counts(const std::string& lab);  // empty: of all labs
  // Of all students (and of those who are not on the roster but handed something in), in order of ids.
  std::vector<Grade> grades(const std::string& lab);

  // Of the whole course, by the labs' weights: what a lab earned of its weight. A lab for which nothing was handed in
  // counts zero once its deadline is over, and not at all before. Where one waits for its result there is no total.
  std::vector<Grade> totals();

  void decide(const std::string& kind, const std::string& lab, const std::string& student, const std::string& value,
              const std::string& reason, const std::string& author);
  std::string jobs_prefix();           // of the names of its jobs: no other gradebook's begin so
  void note(const std::string& what);  // the log of events

 private:
  const Course& course_;
  Database db_;
};

// The one collector of a gradebook: a lock that its process holds until it ends, however it ends.
class CollectorLock {
 public:
  explicit CollectorLock(const Course& course);  // throws Error(Exit::environment) where another process holds it

 private:
  Fd fd_;
};

}  // namespace ridge::cluster
