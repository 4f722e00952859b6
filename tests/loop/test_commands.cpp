// The loop as a student goes through it: start, check with a hypothesis, hints, solution, diff, log, explain, watch.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <regex>
#include <thread>

#include "grader/graded.hpp"
#include "support/catch.hpp"

using namespace ridge::test;
namespace fs = std::filesystem;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kStub = repository() + "/labs/01_coalescing/copy.cu";
const std::string kSolution = repository() + "/solutions/01_coalescing/copy.cu";

// `ridge` in the background, with its output in a file.
struct Background {
  Background(const Folder& home, std::vector<std::string> arguments) : out(home / "background") {
    arguments.insert(arguments.begin(), ridge_program());
    pid = fork();
    if (pid != 0) return;
    for (const auto& [name, value] : environment(home)) setenv(name.c_str(), value.c_str(), 1);
    if (freopen(out.c_str(), "w", stdout) == nullptr) _exit(99);
    std::vector<char*> argv;
    for (auto& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(99);
  }
  ~Background() {
    if (pid > 0) kill(pid, SIGKILL), waitpid(pid, nullptr, 0);
  }
  bool says(const std::string& part, double seconds = 40) const {
    for (int i = 0; i < seconds * 20; ++i) {
      if (fs::exists(out) && contains(read_file(out), part)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  int end(int signal) {
    kill(pid, signal);
    int status = 0;
    waitpid(pid, &status, 0);
    pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string out;
  pid_t pid;
};

}  // namespace

TEST_CASE("a copy gets the files that its lab has gained, and keeps its own") {
  Folder home;
  REQUIRE(run_ridge(home, {"start", "02"}).code == 0);
  const std::string copy = home / "work/02_tiling", all = read_file(copy + "/compile_commands.json");
  write_file(copy + "/stencil.cu", "// mine\n");
  fs::remove(copy + "/sgemm_async.cu");
  write_file(copy + "/compile_commands.json", "[]\n");
  const Run r = run_ridge(home, {"check", "02", "--task", "stencil", "--backend", "cpu"});
  INFO(r.out + r.err);
  CHECK(r.code == 2);
  CHECK(contains(r.err, "has no sgemm_async.cu"));
  CHECK(contains(r.err, "`ridge start 02` adds"));
  CHECK(contains(run_ridge(home, {"start", "02"}).out, "sgemm_async.cu. The lab has these files since"));
  CHECK(read_file(copy + "/sgemm_async.cu") == read_file(repository() + "/labs/02_tiling/sgemm_async.cu"));
  CHECK(read_file(copy + "/stencil.cu") == "// mine\n");
  CHECK(read_file(copy + "/compile_commands.json") == all);
  CHECK(contains(run_ridge(home, {"start", "02"}).out, "nothing was changed"));
}

TEST_CASE("from nothing to the first task that passes") {
  Folder home;
  Run r = run_ridge(home, {});
  CHECK(r.code == 0);
  CHECK(contains(r.out, "none started yet"));
  CHECK(contains(r.out, "./ridge start 01"));

  CHECK(run_ridge(home, {"start", "01"}).code == 0);
  Run first = run_ridge(home, {"check", "01", "--task", "copy", "--backend", "cpu"});
  INFO(first.out + first.err);
  CHECK(first.code == 1);
  CHECK(contains(first.out, "What to look at next"));
  CHECK(contains(first.out,
                 "copy.cu:12 asks for 32 sectors per request (ideal 4): neighbouring lanes read addresses 128"));
  CHECK(contains(first.out, "README.md#task-1-copy"));
  CHECK_FALSE(contains(first.out, "\033"));

  r = run_ridge(home, {});
  INFO(r.out);
  CHECK(contains(r.out, "Next: lab 01, task copy"));
  CHECK(contains(r.out, "sectors is 8 x (goal 1.02)"));
  CHECK(contains(r.out, "./ridge check 01 --task copy"));

  // Hints come one by one, and again only when asked.
  Run one = run_ridge(home, {"hint", "01"}), two = run_ridge(home, {"hint", "01", "copy"});
  CHECK(contains(one.out, "task copy, hint 1 of 4 (sectors failed in your last attempt)"));
  CHECK(contains(two.out, "hint 2 of 4"));
  Run again = run_ridge(home, {"hint", "01", "copy", "--again"});
  CHECK(contains(again.out, "hint 1 of 4"));
  CHECK(contains(again.out, "hint 2 of 4"));
  CHECK_FALSE(contains(again.out, "hint 3 of 4"));
  CHECK(contains(run_ridge(home, {"hint", "01", "transpose"}).out, "hint 1 of 4"));

  // The solution stays closed until the task passes.
  Run closed = run_ridge(home, {"solution", "01", "copy"});
  CHECK(closed.code == 1);
  CHECK_FALSE(contains(closed.out, "__global__"));
  CHECK(contains(closed.err, "2 hints left"));

  fs::copy_file(kSolution, home / "work/01_coalescing/copy.cu", fs::copy_options::overwrite_existing);
  Run second = run_ridge(
      home, {"check", "01", "--task", "copy", "--backend", "cpu", "--note", "neighbours *should* be neighbours"});
  CHECK(second.code == 0);
  CHECK_FALSE(contains(second.out, "What to look at next"));
  CHECK(contains(run_ridge(home, {"hint", "01", "copy"}).out, "Task copy has full marks"));
  Run open = run_ridge(home, {"solution", "01", "copy"});
  CHECK(open.code == 0);
  CHECK(contains(open.out, "copy_kernel"));

  Run d = run_ridge(home, {"diff", "01"});
  INFO(d.out + d.err);
  CHECK(d.code == 0);
  CHECK(contains(d.out, "-  const std::size_t chunk = 32;"));
  CHECK(contains(d.out, "sectors      8 -> 1 x (goal 1.02), ok"));
  CHECK(contains(d.out, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum: 262144 -> 32768 (-88%)"));
  CHECK(run_ridge(home, {"diff", "01", "1", "-1"}).out == d.out);
  CHECK(run_ridge(home, {"diff", "01", "7"}).code == 2);

  CHECK(run_ridge(home, {"solution", "01", "gather", "--give-up"}).code == 0);
  Run l = run_ridge(home, {"log", "01"});
  INFO(l.out);
  CHECK(contains(l.out, "**Hypothesis.** neighbours *should* be neighbours"));
  CHECK(contains(l.out, "`copy.cu` +14 -8"));
  CHECK(contains(l.out, "`copy`: 5 -> 15 of 15 points. sectors 8 -> 1 x"));
  CHECK(contains(l.out, "a hint for `copy` was taken"));
  CHECK(contains(l.out, "the solution of `gather` was opened before it passed"));
  CHECK(contains(run_ridge(home, {"labs"}).out, "gather*"));

  Run e = run_ridge(home, {"explain", "sectors", "01"});
  INFO(e.out + e.err);
  CHECK(contains(e.out, "sectors_over_ideal"));
  CHECK(contains(e.out, "task copy: 1 x (goal 1.02)"));
  CHECK(contains(e.out, "copy.cu:14"));
  CHECK(contains(run_ridge(home, {"explain", "conflicts_over_bond"}).err, "did you mean conflicts_over_bound"));
  CHECK(contains(run_ridge(home, {"explain", "traffic", "07"}).out, "messages between ranks"));
  CHECK(contains(run_ridge(home, {"explain", "in-flight", "08"}).out, "more forwards"));  // the lesson's own

  // The page of one's own results stands alone.
  CHECK(run_ridge(home, {"report", "--html", home / "me.html"}).code == 0);
  const std::string page = read_file(home / "me.html");
  CHECK(contains(page, "<svg"));
  CHECK(contains(page, "Matrix transpose") == false);  // not tried
  // The same person, however the results are named.
  const std::string results = home / "results";
  for (const std::string& named : {results, results + "/", results + "/01_coalescing"}) {
    const Run once_more = run_ridge(home, {"report", "--html", home / "again.html", named});
    INFO(named + "\n" + once_more.out + once_more.err);
    CHECK(contains(once_more.out, "1 record of My results"));
    CHECK(contains(read_file(home / "again.html"), "<title>Ridge: My results</title>"));
  }
  std::vector<std::string> each = {"report", "--html", home / "again.html"};
  for (const auto& entry : fs::directory_iterator(results + "/01_coalescing"))
    if (contains(entry.path().filename().string(), "Z-") && !contains(entry.path().filename().string(), ".warp.json"))
      each.push_back(entry.path().string());
  REQUIRE(each.size() > 4);
  CHECK(contains(run_ridge(home, each).out, "1 record of My results"));
  for (const char* outside : {"http://", "https://", "src=", "@import", "url("}) CHECK_FALSE(contains(page, outside));

  // A journal that a crash cut short, and a result that is gone, stop nothing.
  write_file(home / "work/.ridge/journal/01_coalescing.jsonl",
             read_file(home / "work/.ridge/journal/01_coalescing.jsonl") + "{\"kind\":\"att");
  for (const auto& entry : fs::directory_iterator(home / "work/.ridge/files")) fs::remove(entry.path());
  for (const char* command : {"log", "diff"}) CHECK(run_ridge(home, {command, "01"}).code == 0);
  for (const char* next : {"hint 2 of 4", "hint 3 of 4", "hint 4 of 4"})
    CHECK(contains(run_ridge(home, {"hint", "01", "transpose"}).out, next));

  // A goal that a wrong answer kept from being measured has not failed.
  run_ridge(home, {"check", "01", "--task", "aos_to_soa", "--no-predict"});
  CHECK(
      contains(run_ridge(home, {"hint", "01", "aos_to_soa"}).out, "hint 4 of 4 (correct failed in your last attempt)"));
  CHECK(contains(run_ridge(home, {"hint", "01", "aos_to_soa"}).out, "hint 1 of 4:"));
}

TEST_CASE("watch checks the task of the file that was saved, and Ctrl-C ends it") {
  Folder home;
  CHECK(run_ridge(home, {"start", "01"}).code == 0);
  Background watch(home, {"watch", "01", "--task", "copy", "--backend", "cpu"});
  REQUIRE(watch.says("from the save"));
  CHECK(contains(read_file(watch.out), "copy         failed 5 / 15"));
  const std::string file = home / "work/01_coalescing/copy.cu";
  write_file(file + "~", read_file(kSolution));
  fs::rename(file + "~", file);
  REQUIRE(watch.says("copy         passed 15 / 15"));
  CHECK(watch.says("sectors 8 -> 1 x (goal 1.02), ok"));
  write_file(file, "no C++ at all\n");
  REQUIRE(watch.says("did not compile"));
  const Run broken = run_ridge(home, {"check", "01", "--task", "copy", "--backend", "cpu"});
  CHECK(contains(broken.err, "work/01_coalescing/copy.cu:1:"));  // a path that a terminal opens
  CHECK_FALSE(contains(read_file(watch.out), "\033"));
  CHECK(watch.end(SIGINT) == 1);  // not all passed
  CHECK(contains(read_file(watch.out), "Ended after 3 checks."));
  CHECK(fs::is_empty(home / "tmp"));
}

TEST_CASE("mistyped words are answered with the nearest, and shells are told what there is") {
  Folder home;
  CHECK(contains(run_ridge(home, {"chekc", "01"}).err, "did you mean `ridge check`?"));
  CHECK(contains(run_ridge(home, {"check", "01", "--tsak", "copy"}).err, "did you mean --task?"));
  CHECK(contains(run_ridge(home, {"check", "coalesing"}).err, "did you mean coalescing?"));
  CHECK(contains(run_ridge(home, {"hint", "01", "transpoes"}).err, "did you mean transpose?"));
  CHECK(run_ridge(home, {"chekc"}).code == 2);
  // A command of a command acts in its place: `bench` alone would measure for minutes.
  CHECK(contains(run_ridge(home, {"bench", "fidelity", "nothing"}).err, "there is no program nothing"));
  CHECK(run_ridge(home, {"completion", "words", "--", "wa"}).out == "watch\n");
  CHECK(run_ridge(home, {"completion", "words", "--", "hint", "01", "tr"}).out == "transpose\n");
  CHECK(contains(run_ridge(home, {"completion", "words", "--", "check", "01", "--"}).out, "--backend\n"));
  CHECK(contains(run_ridge(home, {"completion", "bash"}).out, "complete -F"));
  for (const char* command : {"labs",      "start",   "check",      "grade",  "watch",  "hint", "solution", "diff",
                              "log",       "explain", "completion", "report", "verify", "key",  "demo",     "doctor",
                              "calibrate", "bench",   "new-lab",    "course", "live",   "serve"}) {
    INFO(command);
    CHECK(contains(run_ridge(home, {command, "--help"}).out, "Examples:"));
  }
}

TEST_CASE("the copy for students has no answers, and works as a course") {
  Folder home;
  const std::string copy = home / "course";
  Run r = run_ridge(home, {"course", "export", copy, "--labs", "01,03"});
  INFO(r.out + r.err);
  REQUIRE(r.code == 0);
  for (const char* withheld : {"solutions", "tests", "benchmarks", ".git", "labs/01_coalescing/wrong", "labs/02_tiling",
                               "visualizer/stories", "figures", "labs/01_coalescing/figures/figures.mjs"}) {
    INFO(withheld);
    CHECK_FALSE(fs::exists(copy + "/" + withheld));
  }
  // A lesson shows its figures in the copy, too.
  const std::regex image(R"(!\[[^\]]*\]\(([^)]+)\))");
  const std::string lesson = read_file(copy + "/labs/01_coalescing/README.md");
  REQUIRE(std::regex_search(lesson, image));
  for (std::sregex_iterator at(lesson.begin(), lesson.end(), image), end; at != end; ++at) {
    INFO((*at)[1].str());
    CHECK(fs::exists(copy + "/labs/01_coalescing/" + (*at)[1].str()));
  }
  CHECK(fs::exists(copy + "/labs/03_warp_shuffle/lab.toml"));
  CHECK(fs::exists(copy + "/CMakeLists.txt"));
  const std::string answer = "copy_kernel(const float* in, float* out, std::size_t n) {";  // a line of the solution
  REQUIRE(contains(read_file(kSolution), answer));
  for (const auto& entry : fs::recursive_directory_iterator(copy))
    if (entry.is_regular_file() && entry.path().extension() != ".png") {
      INFO(entry.path());
      CHECK_FALSE(contains(read_file(entry.path()), answer));
    }
  const std::string readme = read_file(copy + "/README.md");
  CHECK(contains(readme, "# For students"));
  const std::regex link(R"(\]\(([^)#:]+)[^)]*\))");
  for (std::sregex_iterator at(readme.begin(), readme.end(), link), end; at != end; ++at) {
    INFO((*at)[1].str());
    CHECK(fs::exists(copy + "/" + (*at)[1].str()));
  }
  // No link of any page leads to what the copy has not.
  REQUIRE(run({"git", "init", "-q", copy}, environment(home)).code == 0);
  REQUIRE(run({"git", "-C", copy, "add", "-A"}, environment(home)).code == 0);
  const Run links = run({"python3", repository() + "/tests/docs/links.py", copy}, environment(home));
  INFO(links.out);
  CHECK(links.code == 0);
  CHECK(run_ridge(home, {"course", "export", copy}).code == 2);  // never overwritten
  for (const char* command : {"test", "slides"}) {
    const Run refused = run({copy + "/ridge", command, "--yes"}, environment(home));
    INFO(refused.out + refused.err);
    CHECK(refused.code == 77);
    CHECK(contains(refused.err, "./ridge check"));
  }
  auto env = environment(home);
  env["RIDGE_ROOT"] = copy;
  CHECK(contains(run({ridge_program(), "labs"}, env).out, "03_warp_shuffle"));
  CHECK(run({ridge_program(), "solution", "01", "copy", "--give-up"}, env).code == 3);
}

TEST_CASE("a new lab is complete but for its TODOs") {
  Folder home;
  fs::create_directories(home / "course/labs");
  fs::create_directories(home / "course/runtime");
  auto env = environment(home);
  env["RIDGE_ROOT"] = home / "course";
  Run r = run({ridge_program(), "new-lab", "07_histogram"}, env);
  INFO(r.out + r.err);
  CHECK(r.code == 0);
  Run labs = run({ridge_program(), "labs", "--json"}, env);
  const json list = json::parse(labs.out);
  REQUIRE(list.size() == 1);
  CHECK(list[0]["lab"] == "07_histogram");
  CHECK(contains(read_file(home / "course/labs/07_histogram/lab.toml"), "order = 7\n"));
  CHECK(contains(read_file(home / "course/labs/07_histogram/check.cpp"), "add_lab(\"07_histogram\", make)"));
  for (const char* bad : {"histogram", "07_other", "7_x", "08_UPPER", "../../x", "08_a/b", ""}) {
    INFO(bad);
    CHECK(run({ridge_program(), "new-lab", bad}, env).code == 2);
  }
}
