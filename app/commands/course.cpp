// ridge course does what an instructor does with a course as a whole: it exports the copy for students.
#include <fmt/format.h>

#include <sstream>

#include "app/cli/command.hpp"
#include "app/package/course_copy.hpp"
#include "grader/base/error.hpp"
#include "grader/base/lab.hpp"

namespace ridge {

namespace {

int export_course(const std::string& folder, const std::string& labs) {
  needs_sources("course export");
  const fs::path to = fs::absolute(folder).lexically_normal();
  std::error_code ec;
  if (fs::exists(to, ec))
    throw Error(Exit::usage, fmt::format("{} is there already", shown(to)), "name a folder that is not, or remove it");
  const std::string inside = to.lexically_relative(root_dir()).generic_string();
  if (!inside.empty() && inside.rfind("..", 0) != 0)
    throw Error(Exit::usage, fmt::format("{} is inside of the course itself", shown(to)),
                "name a folder outside of it");
  CourseCopy what;
  std::set<std::string>& wanted = what.labs;
  std::istringstream list(labs);
  for (std::string key; std::getline(list, key, ',');) wanted.insert(find_lab(key).name);
  // The copy is made beside its place and renamed, so that an interrupted export leaves none.
  const fs::path temporary = to.string() + ".new";
  fs::remove_all(temporary, ec);
  const std::size_t count = copy_course(temporary, what, ec);
  if (!ec) fs::rename(temporary, to, ec);
  if (ec) {
    const std::string why = ec.message();
    fs::remove_all(temporary, ec);
    throw Error(Exit::environment, fmt::format("cannot make {}: {}", shown(to), why),
                "free some space, or name another folder");
  }
  const std::vector<Lab> all = load_labs();
  fmt::print(
      "{}: {} files, {} labs; without solutions/, wrong solutions, tests/, benchmarks/, slides/, stories and history.\n"
      "Try it as a student would: cd {} && ./ridge start {}\n",
      shown(to), count, wanted.empty() ? all.size() : wanted.size(), shown(to),
      (wanted.empty() ? all.front().name : *wanted.begin()).substr(0, 2));
  return 0;
}

struct CourseArguments {
  std::string folder, labs;
};

}  // namespace

void add_course(Commands& ridge) {
  CLI::App* command = ridge.add("course", "What an instructor does with a course as a whole",
                                "  ridge course export ../course-for-students");
  command->require_subcommand(1);
  auto a = std::make_shared<CourseArguments>();
  CLI::App* out =
      command->add_subcommand("export", "The copy for students: no solutions, wrong solutions, tests or history");
  out->add_option("folder", a->folder, "New folder to make")->required();
  out->add_option("--labs", a->labs, "Only these, as 01,02,03 (default: all)");
  ridge.set_action(out, [a] { return export_course(a->folder, a->labs); });
}

}  // namespace ridge
