// The checks of a lab are a module that the judge loads, and that the launcher builds when it is missing or old. Each test
// has a copy of the program in a folder of its own, with the modules that it wants.
#include <filesystem>
#include <string>

#include "grader/graded.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace ridge::test;

namespace {

const fs::path kBuild = fs::path(ridge_program()).parent_path().parent_path();
const fs::path kModules = kBuild / "lib/labs";

// HOME/course with links to the repository's folders and a stand-in for the launcher; HOME/course/build with the program.
struct Copy {
  Folder home;
  fs::path course = home / "course", build = course / "build", modules = build / "lib/labs";

  Copy() {
    fs::create_directories(modules);
    fs::create_directories(build / "bin");
    for (const char* part : {"runtime", "solutions", "docs"})
      fs::create_symlink(fs::path(repository()) / part, course / part);
    fs::create_directories(course / "labs");
    fs::copy(fs::path(repository()) / "labs/01_coalescing", course / "labs/01_coalescing", fs::copy_options::recursive);
    for (const auto& entry : fs::directory_iterator(kBuild / "bin"))
      if (entry.path().filename().string().rfind("ridge", 0) == 0) fs::copy(entry.path(), build / "bin");
    for (const auto& entry : fs::directory_iterator(kBuild / "lib"))
      if (!entry.is_directory()) fs::create_hard_link(entry.path(), build / "lib" / entry.path().filename());
    write_file(course / "ridge",
               "echo \"$@\" in \"$RIDGE_BUILD_DIR\" >>" + home / "launched" + "\n. " + home / "launcher");
    write_file(home / "launcher", "exit 0\n");
  }
  void take_module(const std::string& from = "01_coalescing") const {
    fs::copy(kModules / (from + ".so"), modules / "01_coalescing.so", fs::copy_options::overwrite_existing);
  }
  void can_build() const { write_file(build / "build.ninja", ""); }
  // `check 01 --task copy` of the reference solution.
  Run check(const std::map<std::string, std::string>& more = {}) const {
    auto env = environment(home);
    env["RIDGE_ROOT"] = course;
    env.insert(more.begin(), more.end());
    return run({build / "bin/ridge", "check", "01", "--task", "copy", "--backend", "cpu", "--submission",
                fs::path(repository()) / "solutions/01_coalescing"},
               env, 60);
  }
  std::string launched() const { return fs::exists(home / "launched") ? read_file(home / "launched") : ""; }
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("The judge loads the checks of a lab from its module") {
  Copy copy;
  copy.take_module();
  const Run r = copy.check();
  CHECK(r.code == 0);
  CHECK(contains(r.out, "PASS copy"));
  CHECK(copy.launched().empty());
}

TEST_CASE("A missing module is built by the launcher, for this build folder") {
  Copy copy;
  copy.can_build();
  write_file(copy.home / "launcher",
             "cp " + (kModules / "01_coalescing.so").string() + " " + copy.modules.string() + "\n");
  const Run r = copy.check();
  CHECK(r.code == 0);
  CHECK(copy.launched() == "build --target check_01_coalescing in " + copy.build.string() + "\n");
}

TEST_CASE("A module that is older than its sources is built again") {
  Copy copy;
  copy.can_build();
  copy.take_module();
  for (const char* source : {"labs/01_coalescing/check.cpp"})
    fs::last_write_time(copy.course / source,
                        fs::last_write_time(copy.modules / "01_coalescing.so") + std::chrono::hours(1));
  CHECK(copy.check().code == 0);
  CHECK(contains(copy.launched(), "check_01_coalescing"));
}

TEST_CASE("Half a module, which an interrupted build leaves, is built again") {
  Copy copy;
  copy.can_build();
  write_file(copy.modules / "01_coalescing.so",
             "\x7f"
             "ELF");
  write_file(copy.home / "launcher",
             "cp " + (kModules / "01_coalescing.so").string() + " " + copy.modules.string() + "\n");
  const Run r = copy.check();
  CHECK(r.code == 0);
  CHECK(contains(copy.launched(), "check_01_coalescing"));
}

TEST_CASE("An older module judges where nothing can be built") {
  Copy copy;  // without build.ninja: a built tree that was copied to a compute node
  copy.take_module();
  fs::last_write_time(copy.course / "labs/01_coalescing/check.cpp",
                      fs::last_write_time(copy.modules / "01_coalescing.so") + std::chrono::hours(1));
  CHECK(copy.check().code == 0);
  CHECK(copy.launched().empty());
}

TEST_CASE("A program with RIDGE_ROOT set does not build into another course's folder") {
  Copy copy;
  copy.can_build();
  fs::rename(copy.build, copy.home / "build");
  copy.build = copy.home / "build";
  write_file(copy.build / "CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL=" + repository() + "\n");
  const Run r = copy.check();
  CHECK(r.code == 3);
  CHECK(contains(r.err, "is another course's"));
  CHECK(copy.launched().empty());
}

TEST_CASE("Checks that cannot be had are the machine's fault, with the reason") {
  Copy copy;
  Run r = copy.check();
  CHECK(r.code == 3);
  CHECK(contains(r.err, "the checks of 01_coalescing are not built"));
  CHECK(contains(r.err, "was built elsewhere"));

  copy.can_build();
  r = copy.check({{"RIDGE_NO_BUILD", "1"}});
  CHECK(r.code == 3);
  CHECK(contains(r.err, "RIDGE_NO_BUILD"));
  CHECK(copy.launched().empty());

  write_file(copy.home / "launcher", "echo check.cpp:7: no such thing; exit 3\n");
  r = copy.check();
  CHECK(r.code == 3);
  CHECK(contains(r.err, "check.cpp:7: no such thing"));

  write_file(copy.modules / "01_coalescing.so", "not a module");
  r = copy.check({{"RIDGE_NO_BUILD", "1"}});
  CHECK(r.code == 3);
  CHECK(contains(r.err, "cannot load the checks of 01_coalescing"));

  copy.take_module("02_tiling");
  r = copy.check();
  CHECK(r.code == 3);
  CHECK(contains(r.err, "registers no checks of 01_coalescing"));
}
