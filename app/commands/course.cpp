// ridge course does what an instructor does with a course as a whole: it exports the copy for students.
#include <fmt/format.h>

#include <map>
#include <sstream>

#include "app/cli/command.hpp"
#include "app/package/course_copy.hpp"
#include "grader/base/error.hpp"
#include "grader/lab/lab.hpp"
#include "learn/questions/quiz.hpp"

namespace ridge {

namespace {

// The course's own quizzes, by lab: each file NN_name.toml of the folder. All are read before anything is copied.
std::map<std::string, fs::path> own_quizzes(const std::string& folder) {
  std::map<std::string, fs::path> all;
  if (folder.empty()) return all;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec))
    if (entry.path().extension() == ".toml") {
      loop::load_quiz(entry.path());
      all[find_lab(entry.path().stem().string()).name] = entry.path();
    }
  if (all.empty())
    throw Error(Exit::usage, fmt::format("{} holds no quiz", folder), "name each file by its lab: 01_coalescing.toml");
  return all;
}

int export_course(const std::string& folder, const std::string& labs, const std::string& quizzes) {
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
  const std::map<std::string, fs::path> own = own_quizzes(quizzes);
  for (const auto& [lab, file] : own)
    if (!wanted.empty() && wanted.count(lab) == 0)
      throw Error(Exit::usage, fmt::format("{} is for {}, which the copy leaves out", shown(file), lab),
                  "add the lab to --labs, or move the file elsewhere");
  // The copy is made beside its place and renamed, so that an interrupted export leaves none.
  const fs::path temporary = to.string() + ".new";
  fs::remove_all(temporary, ec);
  const std::size_t count = copy_course(temporary, what, ec);
  for (const auto& [lab, file] : own)
    if (!ec) fs::copy_file(file, temporary / "labs" / lab / "quiz.toml", fs::copy_options::overwrite_existing, ec);
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
  if (!own.empty()) fmt::print("With {} quiz{} from {}.\n", own.size(), own.size() == 1 ? "" : "zes", quizzes);
  return 0;
}

struct CourseArguments {
  std::string folder, labs, quizzes;
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
  out->add_option("--quiz", a->quizzes, "Folder of your own quizzes, NN_name.toml, in place of the labs' own");
  ridge.set_action(out, [a] { return export_course(a->folder, a->labs, a->quizzes); });
}

}  // namespace ridge
