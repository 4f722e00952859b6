#include "cluster/src/pages/class_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "cluster/src/base/strings.hpp"
#include "cluster/src/gradebook/exports.hpp"
#include "cluster/src/gradebook/lab_report.hpp"
#include "cluster/src/slurm/slurm.hpp"
#include "grader/base/error.hpp"
#include "grader/build/wrong_solution.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge::cluster {

namespace {

// The GPUs of "billing=4,cpu=4,gres/gpu=2,mem=8G".
int allocated_gpus(const std::string& tres) {
  for (const std::string& part : split(tres, ','))
    if (part.starts_with("gres/gpu=")) return std::max(0, std::atoi(part.c_str() + 9));
  return 0;
}

// A cluster without accounting has no sacct, or one that fails: then only the records tell.
void add_accounting(Gradebook& book, const std::string& lab, Costs& costs) {
  constexpr std::size_t kJobsACall = 500;
  if (book.course().executor != "slurm" || find_program({"sacct"}).empty()) return;
  std::vector<std::string> jobs;
  for (Rows r = book.db().query("SELECT DISTINCT job FROM batch WHERE lab = ? AND job <> '' ORDER BY job", lab);
       r.next();)
    jobs.push_back(r.text(0));
  double hours = 0, gpu_hours = 0;
  bool any = false;
  for (std::size_t from = 0; from < jobs.size(); from += kJobsACall) {
    const std::vector<std::string> some(
        jobs.begin() + static_cast<std::ptrdiff_t>(from),
        jobs.begin() + static_cast<std::ptrdiff_t>(std::min(from + kJobsACall, jobs.size())));
    std::string why;
    const auto text = slurm({"sacct", "-X", "-n", "-P", "-j", fmt::format("{}", fmt::join(some, ",")), "-o",
                             "JobName,ElapsedRaw,AllocTRES"},
                            why);
    if (!text) return;
    for (const std::string& line : split(*text, '\n')) {
      const auto f = split(line, '|');
      if (f.size() < 2 || !f[0].starts_with(book.jobs_prefix())) continue;  // Slurm may begin its numbers anew
      any = true;
      const double took = std::atof(f[1].c_str()) / 3600;
      hours += took, gpu_hours += took * (f.size() > 2 ? allocated_gpus(f[2]) : 0);
    }
  }
  if (any) costs.slurm_hours = hours, costs.slurm_gpu_hours = gpu_hours;
}

// Students' copies of a course have no wrong solutions, and one that cannot be read is no reason to give no page.
std::vector<WrongSolution> known_mistakes(const Lab& lab) {
  try {
    return wrong_solutions(lab);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

ClassData class_data(Gradebook& book, const std::string& lab) {
  ClassData d{find_lab(lab), book.course().lab(lab), book.course().name, book.grades(lab), {}, hand_ins(book, lab)};
  for (const Grade& g : d.grades)
    if (!g.token.empty())
      if (const auto record = counting_record(book, lab, g.content))
        if (auto result = result_of(*record)) d.results.emplace(g.student.id, std::move(*result));
  return d;
}

std::vector<Failing> failing_most(const ClassData& d) {
  std::map<std::string, int> count;
  for (const auto& [student, result] : d.results)
    for (const std::string& check : failing_checks(result)) ++count[check];
  std::vector<Failing> all;
  for (const auto& [check, students] : count) all.push_back({check, students, {}});
  std::stable_sort(all.begin(), all.end(), [](const Failing& a, const Failing& b) { return a.students > b.students; });
  for (const WrongSolution& w : known_mistakes(d.lab))
    for (Failing& f : all)
      if (w.backend == d.rules.backend && f.check == w.task + "/" + w.check)
        f.misconceptions.emplace_back(w.why, w.name);
  return all;
}

Costs costs_of(Gradebook& book, const ClassData& d) {
  Costs costs;
  costs.gpus = gpus_of(d.rules, d.lab);
  Rows r = book.db().query(
      "SELECT count(*), COALESCE(sum(r.seconds), 0) FROM result r JOIN work w ON w.id = r.work WHERE w.lab = ?",
      d.lab.name);
  r.next();
  costs.results = static_cast<int>(r.integer(0)), costs.hours = r.number(1) / 3600;
  add_accounting(book, d.lab.name, costs);
  return costs;
}

}  // namespace ridge::cluster
