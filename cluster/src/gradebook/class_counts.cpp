#include "cluster/src/gradebook/class_counts.hpp"

#include <fmt/format.h>

namespace ridge::cluster {

StudentState state_of(const Grade& g) {
  if (g.percent) return StudentState::with_grade;
  if (g.content.empty()) return g.problem.empty() ? StudentState::nothing : StudentState::not_graded;
  return g.state == "running"   ? StudentState::running
         : g.state == "waiting" ? StudentState::waiting
                                : StudentState::not_graded;
}

std::string why_no_grade(const Grade& g) {
  if (g.content.empty()) return g.problem;
  if (g.state.empty()) return "taken in for another backend than the lab's of now; `ridge cluster grade` grades it";
  if (g.reason.empty()) return g.state;
  return g.state == "not-graded" || g.state == "cancelled" ? g.reason : g.state + ": " + g.reason;
}

ClassCounts class_counts(const std::vector<Grade>& grades) {
  ClassCounts c;
  for (const Grade& g : grades) {
    ++c.students;
    switch (state_of(g)) {
      case StudentState::with_grade:
        ++c.with_grade;
        break;
      case StudentState::running:
        ++c.running;
        break;
      case StudentState::waiting:
        ++c.waiting;
        break;
      case StudentState::not_graded:
        ++c.not_graded;
        break;
      case StudentState::nothing:
        ++c.nothing;
        break;
    }
  }
  return c;
}

std::string counts_text(const ClassCounts& c) {
  std::string text = fmt::format("{} student{}: {} with a grade", c.students, c.students == 1 ? "" : "s", c.with_grade);
  const auto add = [&](int n, const char* what) {
    if (n > 0) text += fmt::format(", {} {}", n, what);
  };
  add(c.running, "in the queue or running");
  add(c.waiting, "waiting");
  add(c.not_graded, "not graded");
  add(c.nothing, "handed nothing in");
  return text;
}

std::string totals_text(const ClassCounts& c) {
  std::string text = fmt::format("{} student{}: {} with a total", c.students, c.students == 1 ? "" : "s", c.with_grade);
  if (c.without_grade() > 0) text += fmt::format(", {} with a lab that is not graded", c.without_grade());
  if (c.nothing > 0) text += fmt::format(", {} with nothing that counts yet", c.nothing);
  return text;
}

}  // namespace ridge::cluster
