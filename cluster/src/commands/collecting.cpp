#include "cluster/src/commands/collecting.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "cluster/src/collect/collector.hpp"
#include "cluster/src/collect/executors.hpp"
#include "cluster/src/gradebook/lab_report.hpp"
#include "cluster/src/intake/intake.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/build/check_module.hpp"
#include "grader/lab/lab.hpp"

namespace ridge::cluster {

namespace {

int verdict(Gradebook& book) {
  const auto nobodys = book.unmatched("");
  if (!nobodys.empty())
    fmt::print("{} entries belong to nobody on the roster, and stop exports; `ridge cluster export` lists them\n",
               nobodys.size());
  return static_cast<int>(book.counts("").not_graded == 0 && nobodys.empty() ? Exit::passed : Exit::environment);
}

}  // namespace

std::string user_name() {
  const passwd* p = getpwuid(getuid());
  return p != nullptr ? p->pw_name : std::to_string(getuid());
}

void make_checks(const Course& course, const std::string& lab) {
  if (course.program.empty()) load_checks(find_lab(lab), [](const std::string& what) { tell("{}\n", what); });
}

int collect_to_the_end(Gradebook& book, const std::string& lab, bool detach) {
  const auto executor = make_executor(book.course());
  Collector collector(book, *executor);
  if (detach) {
    collector.step();
    if (const std::string why = collector.no_answer(); !why.empty())
      throw Error(Exit::environment, why + ". Nothing was submitted",
                  "`ridge cluster resume` submits what waits, once it answers");
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

}  // namespace ridge::cluster
