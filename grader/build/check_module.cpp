#include "grader/build/check_module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "grader/base/error.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge {

namespace {

// The newest change in a folder's C++ files; of a folder that is not there, the beginning of time.
fs::file_time_type newest(const fs::path& folder) {
  fs::file_time_type latest = fs::file_time_type::min();
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec))
    if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp")
      latest = std::max(latest, entry.last_write_time(ec));
  return latest;
}

bool up_to_date(const fs::path& module, const Lab& lab) {
  std::error_code ec;
  const fs::file_time_type built = fs::last_write_time(module, ec);
  if (!ec && prebuilt()) return true;  // unpacking gives files any order in time
  return !ec && std::max({newest(lab.dir), newest(lab.dir / "check"), newest(root_dir() / "checks"),
                          newest(root_dir() / "runtime/nn")}) <= built;
}

// The course that this build was configured for; empty where nobody knows.
fs::path configured_course() {
  std::ifstream cache(build_dir() / "CMakeCache.txt");
  constexpr std::string_view key = "CMAKE_HOME_DIRECTORY:INTERNAL=";
  for (std::string line; std::getline(cache, line);)
    if (line.rfind(key, 0) == 0) return line.substr(key.size());
  return {};
}

// True where the build is this course's, though the two may have been moved together.
bool builds_this_course() {
  std::error_code ec;
  return fs::equivalent(build_dir().parent_path(), root_dir(), ec) ||
         fs::equivalent(configured_course(), root_dir(), ec);
}

// By the launcher, which knows this build's lock and whether the tree was moved.
void build_module(const Lab& lab) {
  const ProcessResult r = build_target("check_" + lab.name);
  if (r.exit_code != 0)
    throw Error(Exit::environment, fmt::format("the checks of {} could not be built:\n{}", lab.name, r.output),
                fmt::format("correct {} where the compiler says so; where it does not, run `./ridge build`",
                            shown(lab.dir / "check.cpp")));
}

}  // namespace

std::string cannot_build() {
  if (prebuilt()) return "this Ridge is a prebuilt one";
  if (std::getenv("RIDGE_NO_BUILD") != nullptr) return "RIDGE_NO_BUILD forbids building them";
  if (!fs::exists(root_dir() / "ridge")) return "there is no launcher in " + shown(root_dir());
  if (!fs::exists(build_dir() / "build.ninja")) return shown(build_dir()) + " was built elsewhere";
  if (!builds_this_course()) return shown(build_dir()) + " is another course's";
  if (access(build_dir().c_str(), W_OK) != 0) return shown(build_dir()) + " cannot be written";
  if (find_program({"cmake"}).empty() || find_program({"ninja"}).empty()) return "cmake and ninja are not installed";
  return {};
}

ProcessResult build_target(const std::string& target) {
  ProcessLimits limits;
  limits.seconds = 900;
  setenv("RIDGE_BUILD_DIR", build_dir().c_str(), 1);
  ProcessResult r =
      run_process({"sh", (root_dir() / "ridge").string(), "build", "--target", target}, root_dir(), limits);
  unsetenv("RIDGE_BUILD_DIR");
  return r;
}

lab::TaskChecks load_checks(const Lab& lab, const std::function<void(const std::string&)>& progress) {
  if (lab::TaskChecks loaded = lab::checks_of(lab.name); !loaded.empty()) return loaded;
  const fs::path module = check_module(lab);
  if (!up_to_date(module, lab)) {
    progress(fmt::format("building the checks of {}", lab.name));
    // An older module still judges where nothing can be built: a built tree that was copied to a compute node.
    const std::string why = cannot_build();
    if (why.empty()) {
      build_module(lab);
    } else if (!fs::exists(module)) {
      throw Error(Exit::environment, fmt::format("the checks of {} are not built: {}", lab.name, why),
                  "run `./ridge build` on the machine where this was built");
    }
  }
  auto load = [&] { return dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr; };
  bool loaded = load();
  if (!loaded && cannot_build().empty()) {  // a build that was interrupted leaves half a module
    std::error_code ec;
    fs::remove(module, ec);
    progress(fmt::format("building the checks of {} again", lab.name));
    build_module(lab);
    loaded = load();
  }
  if (!loaded)
    throw Error(Exit::environment, fmt::format("cannot load the checks of {}: {}", lab.name, dlerror()),
                "they belong to another version of this program: run `./ridge build`");
  lab::TaskChecks checks = lab::checks_of(lab.name);
  if (checks.empty())
    throw Error(Exit::environment, fmt::format("labs/{0}/check.cpp registers no checks of {0}", lab.name),
                fmt::format("end it with add_lab(\"{}\", make)", lab.name));
  return checks;
}

}  // namespace ridge
