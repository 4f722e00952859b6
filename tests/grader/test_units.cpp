// Parts of the judge on their own: points, statistics, manifests, the store, the worker's counts, processes.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "grader/base/error.hpp"
#include "grader/base/names.hpp"
#include "grader/base/patience.hpp"
#include "grader/base/source_text.hpp"
#include "grader/base/text.hpp"
#include "grader/compile/diagnostics.hpp"
#include "grader/lab/header_line.hpp"
#include "grader/lab/lab.hpp"
#include "grader/measure/counters.hpp"
#include "grader/measure/score.hpp"
#include "grader/measure/timing.hpp"
#include "grader/result/hashes.hpp"
#include "grader/result/result.hpp"
#include "grader/sandbox/process.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge;
using test::Folder;
using test::read_file;
using test::write_file;

namespace {

Goal goal(double zero, double full, double points) { return {"g", "", lab::Backend::cpu, "", zero, full, points, ""}; }

// What `body` throws, or an empty message.
template <class Body>
Error thrown(Body body) {
  try {
    body();
  } catch (const Error& e) {
    return e;
  }
  return {Exit::passed, "", ""};
}

std::vector<std::string> names_in(const std::string& dir) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(dir)) names.push_back(entry.path().filename());
  return names;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a limit of time does not count what was waited for a core, but ends all the same") {
  double waited = 2;
  Patience patience(0.05, [&] { return waited; });
  CHECK(patience.left() > 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  CHECK(patience.left() <= 0);  // it had a core all the time
  waited = 2.1;
  CHECK(patience.left() > 0);
  waited = 100;  // more than anybody waits
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  CHECK(patience.left() <= 0);
}

TEST_CASE("points run linearly from zero to full and are clamped") {
  Goal less = goal(4, 1, 15);  // smaller is better
  CHECK(points_for(less, 4) == 0);
  CHECK(points_for(less, 1) == 15);
  CHECK(points_for(less, 2.5) == Approx(7.5));
  CHECK(points_for(less, 100) == 0);
  CHECK(points_for(less, 0) == 15);
  Goal more = goal(0.5, 1, 10);
  CHECK(points_for(more, 0.5) == 0);
  CHECK(points_for(more, 1) == 10);
  CHECK(points_for(more, 0.6) == Approx(2));
  CHECK(points_for(more, -1) == 0);
  CHECK(points_for(more, 9) == 10);
  Goal exact = goal(3, 3, 10);  // no span: all or nothing
  CHECK(points_for(exact, 3) == 10);
  CHECK(points_for(exact, 2.999) == 0);
  CHECK(points_for(exact, 3.001) == 0);
}

TEST_CASE("goals count only for a right answer, in order, and for this backend") {
  Task spec;
  spec.points_correct = 5;
  spec.goals = {{"sectors", "", lab::Backend::cpu, "sectors_over_ideal", 4, 1, 15, ""},
                {"conflicts", "", lab::Backend::cpu, "conflicts_over_bound", 8, 0, 10, "sectors"},
                {"bandwidth", "", lab::Backend::cuda, "ratio_to_baseline", 0, 1, 99, ""}};
  Measured m;
  m.work = {1, "element", 3200, 3200};  // 200 sectors
  m.bounds = {{"conflicts_over_bound", 100}};
  m.counted = Counted{{}, 200, 10, 0};
  auto score = [&](double sectors, bool correct) {
    m.counted->global_sectors = sectors;
    TaskResult t;
    score_goals(t, spec, lab::Backend::cpu, m, correct);
    REQUIRE(t.goals.size() == 2);
    return t;
  };
  CHECK(score(200, true).points == 30);
  TaskResult half = score(500, true);  // 2.5 times the ideal
  CHECK(half.points == Approx(5 + 7.5));
  CHECK_FALSE(half.goals[1].value);
  CHECK(contains(half.goals[1].note, "sectors"));
  TaskResult wrong = score(200, false);
  CHECK(wrong.points == 0);
  CHECK_FALSE(wrong.goals[0].value);
  TaskResult moved_elsewhere = score(2, true);  // too good: a copy that no kernel did
  CHECK(moved_elsewhere.points == 5);
  CHECK_FALSE(moved_elsewhere.goals[0].value);
}

TEST_CASE("the median and its interval") {
  CHECK(median({}) == 0);
  CHECK(median({3}) == 3);
  CHECK(median({5, 1, 3}) == 3);
  CHECK(median({4, 1, 2, 3}) == 2.5);

  Timing same;
  same.submission_s = {2, 4, 8};
  same.baseline_s = {1, 2, 4};
  summarise(same);
  CHECK(same.median == 0.5);
  CHECK(same.low == 0.5);
  CHECK(same.high == 0.5);

  // Ratios 1 to 15. For a sample of 15 the bootstrap's median is at most the 3rd, 4th, 5th value with probability
  // 0.4%, 2.5%, 8.8% (binomial), so its 2.5% point is the 4th or the 5th; the upper end mirrors it.
  Timing spread;
  for (int i = 15; i >= 1; --i) {
    spread.submission_s.push_back(0.001);
    spread.baseline_s.push_back(0.001 * i);
  }
  Timing again = spread;
  summarise(spread);
  CHECK(spread.median == Approx(8));
  CHECK(spread.low > 3.9);
  CHECK(spread.low < 5.1);
  CHECK(spread.high > 10.9);
  CHECK(spread.high < 12.1);
  summarise(again);
  CHECK(again.low == spread.low);
  CHECK(again.high == spread.high);

  Timing none;
  summarise(none);
  CHECK(none.median == 0);
}

TEST_CASE("a value is told from its goal") {
  CHECK(value_text(1.0234, 1.5) == "1.02");
  CHECK(value_text(1.0204, 1.02) == "1.0204");
  CHECK(value_text(1.02, 1.02) == "1.02");
  CHECK(value_text(1.02000001, 1.02) == "1.02000001");
}

TEST_CASE("points are never rounded up to all of them") {
  CHECK(points_text(17.6, 18) == "17.6 / 18");
  CHECK(points_text(99.96, 100) == "99.9 / 100");
  CHECK(points_text(100, 100) == "100 / 100");
  CHECK(points_text(0, 12.5) == "0 / 12.5");
  CHECK(points_text(0.3, 1) == "0.3 / 1");
}

TEST_CASE("a lab's manifest") {
  Folder home;
  auto load = [&](const std::string& text) {
    write_file(home / "07_mini/lab.toml", text);
    return load_lab(home / "07_mini");
  };
  const std::string good =
      "title = \"Mini\"\norder = 7\nminutes = 30\nbackends = [\"cpu\"]\nfiles = [\"a.cu\", \"b.cu\"]\n"   // 1 to 5
      "[[task]]\nid = \"one\"\ntitle = \"One\"\nfile = \"a.cu\"\npoints_correct = 40\nhints = [\"h\"]\n"  // 6 to 11
      "[[task.goal]]\nid = \"g\"\ntitle = \"G\"\nbackend = \"cpu\"\nmetric = \"m\"\nzero = 4\nfull = 1.5\n"
      "points = 60\nafter = \"f\"\n";
  Lab lab = load(good);
  CHECK(lab.name == "07_mini");
  CHECK(lab.title == "Mini");
  CHECK(lab.order == 7);
  CHECK(lab.minutes == 30);
  CHECK(lab.files == std::vector<std::string>{"a.cu", "b.cu"});
  REQUIRE(lab.tasks.size() == 1);
  REQUIRE(lab.tasks[0].hints.size() == 1);
  CHECK(lab.tasks[0].hints[0].text == "h");
  CHECK(lab.tasks[0].hints[0].answers.empty());
  auto with_hints = [&](const std::string& hints) {
    std::string text = good;
    return text.replace(text.find("[\"h\"]"), 5, hints);
  };
  const Lab answered = load(with_hints(R"(["h", { answers = ["g", "race-shared", "deadlock"], text = "i" }])"));
  REQUIRE(answered.tasks[0].hints.size() == 2);
  CHECK(answered.tasks[0].hints[1].text == "i");
  CHECK(answered.tasks[0].hints[1].answers == std::vector<std::string>{"g", "race-shared", "deadlock"});
  CHECK(lab.tasks[0].points(lab::Backend::cpu) == 100);
  CHECK(lab.tasks[0].points(lab::Backend::cuda) == 40);
  REQUIRE(lab.tasks[0].goals.size() == 1);
  CHECK(lab.tasks[0].goals[0].zero == 4);
  CHECK(lab.tasks[0].goals[0].full == 1.5);
  CHECK(lab.tasks[0].goals[0].after == "f");

  auto without = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    Error e = thrown([&] { load(text); });
    CHECK(e.code == Exit::environment);
    CHECK_FALSE(e.advice.empty());
    return std::string(e.what());
  };
  std::string message = without("title = \"Mini\"\n", "");
  CHECK(contains(message, "lab.toml:1"));
  CHECK(contains(message, "'title'"));
  message = without("points_correct = 40\n", "");  // a task is named by its first line
  CHECK(contains(message, "lab.toml:6"));
  CHECK(contains(message, "'points_correct'"));
  message = without("order = 7", "order = \"seven\"");
  CHECK(contains(message, "lab.toml:2"));
  CHECK(contains(message, "'order'"));
  message = without("minutes = 30", "minuets = 30");
  CHECK(contains(message, "lab.toml:3"));
  CHECK(contains(message, "unknown key 'minuets'"));
  message = without("after = \"f\"", "unit = \"x\"");
  CHECK(contains(message, "lab.toml:20"));
  CHECK(contains(message, "'unit'"));
  message = without("metric = \"m\"", "metric = \"ratio_to_baseline\"");
  CHECK(contains(message, "task 'one' is measured against a baseline"));
  message = without("zero = 4", "zero = \"4\"");
  CHECK(contains(message, "lab.toml:17"));
  CHECK(contains(message, "'zero'"));
  message = without("backend = \"cpu\"", "backend = \"emulator\"");
  CHECK(contains(message, "lab.toml:15: 'backend' has the value 'emulator'"));
  message = without("backends = [\"cpu\"]", "backends = [\"cpu\", \"tpu\"]");
  CHECK(contains(message, "lab.toml:4: 'backends' has the value 'tpu'"));
  message = without("[\"h\"]", R"([{ answers = ["sectrs"], text = "i" }])");
  CHECK(contains(message, "lab.toml:11: 'sectrs' is no goal of the task"));
  CHECK(contains(without("[\"h\"]", R"([{ text = "i", answer = [] }])"), "unknown key 'answer'"));
  CHECK(contains(without("[\"h\"]", "[7]"), "'hints' holds something else than texts"));
  message = without("file = \"a.cu\"", "file = \"a.cu\"\nfrom = [\"one\"]");  // its own answer is none yet
  CHECK(contains(message, "no task 'one' comes before 'one'"));
  CHECK(load(good + "[[task]]\nid = \"two\"\ntitle = \"Two\"\nfile = \"b.cu\"\npoints_correct = 0\nfrom = [\"one\"]\n")
            .tasks[1]
            .from == std::vector<std::string>{"one"});
  message = without("minutes = 30", "minutes = = 30");
  CHECK(contains(message, "lab.toml:3"));
}

TEST_CASE("choices have the words of records") {
  CHECK(parse<Outcome>("build-failed") == Outcome::build_failed);
  CHECK(parse<lab::Backend>("cuda") == lab::Backend::cuda);
  for (const char* none : {"", "Passed", "passed ", "pass"}) CHECK_FALSE(parse<Status>(none));
  CHECK(fmt::format("{:>8}|{}", Status::failed, Standing::official) == "  failed|official");
  const nlohmann::json j = {{"mode", lab::Mode::grade}, {"backends", std::vector{lab::Backend::cpu}}};
  CHECK(j.dump() == R"({"backends":["cpu"],"mode":"grade"})");
}

TEST_CASE("files are written whole or not at all") {
  Folder home;
  std::string file = home / "deep/er/result.json";
  write_durably(file, "first");
  CHECK(read_file(file) == "first");
  write_durably(file, "");
  CHECK(read_file(file).empty());

  // A reader sees one text or the other, never a part.
  const std::string a(300000, 'a'), b(200000, 'b');
  write_durably(file, a);
  std::atomic<bool> done{false};
  std::atomic<int> parts{0}, reads{0};
  std::thread reader([&] {
    for (; !done; ++reads) {
      std::string text = read_file(file);
      if (text != a && text != b) ++parts;
    }
  });
  while (reads == 0) std::this_thread::yield();  // the writes must not be over before the first read
  for (int i = 0; i < 20; ++i) write_durably(file, i % 2 == 0 ? b : a);
  done = true;
  reader.join();
  CHECK(parts == 0);
  CHECK(names_in(home / "deep/er") == std::vector<std::string>{"result.json"});

  write_file(home / "plain", "x");
  Error e = thrown([&] { write_durably(home / "plain/below/result.json", "x"); });
  CHECK(e.code == Exit::environment);
  CHECK(contains(e.what(), "result.json"));
}

// Makes `dir` a disk of 64 KiB for this process only. False where the machine does not let it.
static bool small_disk(const std::string& dir) {
  auto put = [](const char* file, const std::string& text) {
    int fd = open(file, O_WRONLY);
    bool ok = fd >= 0 && write(fd, text.data(), text.size()) > 0;
    close(fd);
    return ok;
  };
  const std::string user = "0 " + std::to_string(getuid()) + " 1", group = "0 " + std::to_string(getgid()) + " 1";
  if (unshare(CLONE_NEWNS) != 0) {  // not root: become the root of a user namespace
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    if (!put("/proc/self/uid_map", user) || !put("/proc/self/setgroups", "deny") || !put("/proc/self/gid_map", group))
      return false;
  }
  return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", dir.c_str(), "tmpfs", 0, "size=64k") == 0;
}

TEST_CASE("a full disk keeps the old file and leaves no temporary") {
  Folder home;
  fs::create_directories(home / "disk");
  std::string report = home / "report";
  pid_t pid = fork();
  if (pid == 0) {  // only this process has the small disk, and it must never return into the test program
    try {
      bool mounted = small_disk(home / "disk");
      if (!mounted) {  // the next best thing: a file may not grow that far
        signal(SIGXFSZ, SIG_IGN);
        rlimit limit{65536, 65536};
        setrlimit(RLIMIT_FSIZE, &limit);
      }
      std::string file = home / "disk/result.json", said;
      write_durably(file, "old");
      Error e = thrown([&] { write_durably(file, std::string(200000, 'x')); });
      said += e.code == Exit::environment ? "environment;" : "no error;";
      said += contains(e.what(), mounted ? "No space left on device" : "File too large") ? "says why;" : e.what();
      said += read_file(file) + ";";
      for (const auto& name : names_in(home / "disk")) said += name + ";";
      write_durably(file, "new");  // and there is room again
      said += read_file(file);
      write_file(report, said);
    } catch (const std::exception& e) {
      write_file(report, e.what());
    }
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK(read_file(report) == "environment;says why;old;result.json;new");
}

TEST_CASE("attempt names sort by time and are unique") {
  std::set<std::string> all;
  std::string last, time;
  for (int i = 0; i < 20; ++i) {
    std::string id = new_attempt_id(time);
    REQUIRE(id.size() == std::string("20261121T030405.123Z-3f9a2c").size());
    CHECK(time.substr(11, 2) == id.substr(9, 2));
    CHECK(id.substr(0, 19) > last.substr(0, std::min<std::size_t>(19, last.size())));
    CHECK(all.insert(id).second);
    last = id;
    usleep(2000);
  }
}

TEST_CASE("launch records of a worker are not trusted") {
  const fs::path self = "/proc/self/exe";
  const std::string record = R"({"kernel":"k","grid":[2,1,1],"block":[32,1,1],"counters":{"sectors.sum":8},"lines":[)"
                             R"({"pc":1,"op":"global_ld","requests":1,"sectors":8,"ideal_sectors":4},)"
                             R"({"pc":2,"op":"shared_st","requests":3,"wavefronts":5,"conflicts":2}]})";
  Counted good = count_launches("{\"launches\":[" + record + "," + record + "]}", self);
  CHECK(good.global_sectors == 16);
  CHECK(good.shared_requests == 6);
  CHECK(good.shared_conflicts == 4);
  REQUIRE(good.kernels.size() == 1);
  CHECK(good.kernels[0].launches == 2);
  CHECK(good.kernels[0].grid[0] == 2);
  CHECK(good.kernels[0].counters["sectors.sum"] == 16);

  const std::string hostile[] = {
      "",
      "{",
      "null",
      "[]",
      "{}",
      "\"launches\"",
      "{\"launches\":null}",
      "{\"launches\":{\"a\":1}}",
      "{\"launches\":[" + record,
      "{\"launches\":[null,5,\"x\",[],{},{\"kernel\":5},{\"lines\":5},{\"lines\":[null,5,{}]}]}",
      "{\"launches\":[{\"kernel\":\"\xff\xfe\"}]}",
      "{\"launches\":[{\"kernel\":\"k\",\"counters\":{\"a\":1e999}}]}",
      "{\"launches\":" + std::string(100000, '['),
      std::string(1 << 20, '\0'),
  };
  for (const auto& text : hostile) {
    INFO(text.substr(0, 80));
    Counted c = count_launches(text, self);
    CHECK(c.kernels.empty());
    CHECK(c.global_sectors == 0);
  }
  // A kernel with nothing but nonsense in it counts nothing.
  Counted c = count_launches(
      R"({"launches":[{"kernel":"k","grid":5,"block":[-1,"x",1e300],"counters":{"a":-1,"b":"x","c":1.5},"lines":[)"
      R"({"op":5},{"op":"global_ld","sectors":-5,"requests":1e300},{"pc":18446744073709551615,"op":"global_st"},)"
      R"({"pc":99999999999999999999999,"op":"shared_ld","requests":"many"}]}]})",
      self);
  CHECK(c.global_sectors == 0);
  CHECK(c.shared_requests == 0);
  REQUIRE(c.kernels.size() <= 1);
  if (!c.kernels.empty()) CHECK(c.kernels[0].counters.empty());
}

TEST_CASE("endless launch records do not hold up the judge") {
  std::string text = "{\"launches\":[{\"kernel\":\"k\",\"lines\":[{}";
  for (int pc = 1; text.size() < (15u << 20); ++pc) text += ",{\"op\":\"shared_ld\",\"pc\":" + std::to_string(pc) + "}";
  text += "]}]}";
  const std::clock_t start = std::clock();  // of this process: others may keep the machine busy
  count_launches(text, "/proc/self/exe");
  CHECK((std::clock() - start) / CLOCKS_PER_SEC < 20);
}

TEST_CASE("programs are found on PATH") {
  Folder home;
  std::string old = std::getenv("PATH");
  fs::create_directories(home / "a/tool");  // a folder of that name is no program
  write_file(home / "b/tool", "");          // nor is a file that can't be run
  write_file(home / "c/tool", "#!/bin/sh\n");
  fs::permissions(home / "c/tool", fs::perms::owner_all);
  setenv("PATH", (home / "a:" + (home / "b") + "::" + (home / "c") + ":/bin").c_str(), 1);
  CHECK(find_program({"no-such-tool", "tool"}) == fs::path(home / "c/tool"));
  CHECK(find_program({home / "c/tool"}) == fs::path(home / "c/tool"));
  CHECK(find_program({home / "b/tool", "no-such-tool"}).empty());
  CHECK(find_program({}).empty());
  setenv("PATH", old.c_str(), 1);
}

TEST_CASE("a program's end, output, folder and descriptors") {
  ProcessResult r = run_process({"sh", "-c", "echo out; echo err >&2; exit 7"}, {}, {});
  CHECK(r.exit_code == 7);
  CHECK(r.signal == 0);
  CHECK(r.output == "out\nerr\n");
  CHECK_FALSE(r.timed_out);
  r = run_process({"sh", "-c", "kill -SEGV $$"}, {}, {});
  CHECK(r.signal == SIGSEGV);
  CHECK(r.exit_code == -1);
  CHECK(run_process({"/no/such/program"}, {}, {}).exit_code == 127);

  Folder home;
  fs::path where = fs::canonical(home.path);
  CHECK(run_process({"pwd", "-P"}, where, {}).output == where.string() + "\n");
  int leak = open("/dev/null", O_RDONLY);  // inherited by a plain fork and exec
  REQUIRE(leak > 2);
  r = run_process({"sh", "-c", "test -e /proc/self/fd/" + std::to_string(leak)}, {}, {});
  CHECK(r.exit_code == 1);
  close(leak);
}

// A process that has ended, though its parent may not have noticed yet.
static bool gone(const std::string& pid) {
  for (int i = 0; i < 100; ++i) {
    std::string stat = read_file("/proc/" + pid + "/stat");
    if (stat.empty() || contains(stat, ") Z ")) return true;
    usleep(20000);
  }
  return false;
}

TEST_CASE("the time limit ends a program and its children") {
  Folder home;
  ProcessLimits limits;
  limits.seconds = 2;
  // The grandchild ignores SIGTERM and holds the output open.
  std::string script = "sh -c 'trap \"\" TERM HUP; echo $$ > pid; while :; do sleep 1; done' & wait";
  ProcessResult r = run_process({"sh", "-c", script}, home.path, limits);
  CHECK(r.timed_out);
  CHECK(r.seconds > 1.9);
  CHECK(r.seconds < 20);
  std::string pid = read_file(home / "pid");
  REQUIRE(pid.size() > 1);
  CHECK(gone(pid.substr(0, pid.size() - 1)));

  // Closes its output and sleeps on.
  r = run_process({"sh", "-c", "exec >&- 2>&-; sleep 30"}, {}, limits);
  CHECK(r.timed_out);
  CHECK(r.seconds < 20);
  limits.seconds = 20;
  r = run_process({"sh", "-c", "exec >&- 2>&-; sleep 0.2; exit 5"}, {}, limits);
  CHECK_FALSE(r.timed_out);
  CHECK(r.exit_code == 5);

  // Ends in time, but leaves somebody behind.
  r = run_process({"sh", "-c", "sleep 30 > /dev/null 2>&1 & echo $!"}, {}, limits);
  CHECK(r.exit_code == 0);
  CHECK(r.seconds < 20);
  REQUIRE(r.output.size() > 1);
  CHECK(gone(r.output.substr(0, r.output.size() - 1)));
}

TEST_CASE("compiler messages keep to the student's lines") {
  const std::string clang =
      "copy.cu:26:93: error: use of undeclared identifier 'copy_kernl'\n"
      "  ::ridge_simt::Launch(\"copy_kernl\", grid)([=](auto... a) { copy_kernl(a...); })(in);\n"
      "                                                            ^\n"
      "/usr/include/c++/12/tuple:1: note: in instantiation of something\n"
      "In file included from <built-in>:1:\n"
      "/ridge/runtime/simt/include/cuda_runtime.h:60:1: error: no matching function\n"
      "  call(std::get<I>(arguments)...);\n"
      "2 errors generated.\n";
  CHECK(ridge::own_messages(clang) == "copy.cu:26:93: error: use of undeclared identifier 'copy_kernl'\n");
  const std::string gcc =
      "copy.cu: In function 'void copy()':\n"
      "copy.cu:4:11: error: 'x' was not declared\n"
      "    4 |   int y = x;\n"
      "      |           ^\n";
  CHECK(ridge::own_messages(gcc) ==
        "copy.cu:4:11: error: 'x' was not declared\n    4 |   int y = x;\n      |           ^\n");
  // Nothing of the student's own: better all of it than nothing.
  const std::string foreign = "/usr/include/stdio.h:1:1: error: broken installation\n";
  CHECK(ridge::own_messages(foreign) == foreign);
  CHECK(ridge::own_messages("").empty());
}

TEST_CASE("compiler messages have the columns of what was written") {
  const std::string written = "int a;\n  kernel<<<grid, block>>>(in); kernel<<<grid, blok>>>(out); x();\n";
  const std::string launch = "::ridge_simt::Launch(\"kernel\", grid, {})([=](auto... a) {{ kernel(a...); }})({})";
  const std::string rewritten = "#line 1 \"c.cu\"\nint a;\n  " + fmt::format(fmt::runtime(launch), "block", "in") +
                                "; " + fmt::format(fmt::runtime(launch), "blok", "out") + "; x();\n";
  const std::string line = rewritten.substr(rewritten.find("  ::"));
  auto said = [&](std::size_t at) {
    return fmt::format("c.cu:2:{}: error: what?\n{}\n{}^\n", at + 1, line.substr(0, line.size() - 1),
                       std::string(at, ' '));
  };
  auto told = [&](std::size_t at) {
    return fmt::format("c.cu:2:{}: error: what?\n{}\n{}^\n", at + 1,
                       "  kernel<<<grid, block>>>(in); kernel<<<grid, blok>>>(out); x();", std::string(at, ' '));
  };
  auto own = [&](const std::string& text) { return in_own_columns(text, "c.cu", rewritten, written); };
  CHECK(own(said(line.find("kernel(a...)"))) == told(2));
  CHECK(own(said(line.rfind("kernel(a...)"))) == told(31));
  CHECK(own(said(line.find("blok"))) == told(46));
  CHECK(own(said(line.find("x()"))) == told(60));
  const std::string other = "c.cu:1:5: error: what?\n  int a;\n      ^\nd.h:2:70: error: what?\n  text\n  ^\n";
  CHECK(own(other) == other);
  CHECK(own("c.cu:2:300: error: what?\n").rfind("c.cu:2:", 0) == 0);
}

TEST_CASE("a program that prints without end is stopped") {
  ProcessLimits limits;
  limits.output_bytes = 1000;
  limits.flood_bytes = 1 << 20;
  ProcessResult r = run_process({"yes"}, {}, limits);
  CHECK(r.flooded);
  CHECK_FALSE(r.timed_out);
  CHECK(r.seconds < 20);
  CHECK(r.output.size() == 1000);
  r = run_process({"sh", "-c", "head -c 5000 /dev/zero"}, {}, limits);  // a lot, but not too much
  CHECK_FALSE(r.flooded);
  CHECK(r.exit_code == 0);
  CHECK(r.output.size() == 1000);
}

TEST_CASE("messages name the command as the user types it") {
  const std::string text = "run `./ridge check 01`, then ./ridge log";
  CHECK(ridge::as_typed(text) == text);
  setenv("RIDGE_COMMAND", "ridge", 1);
  CHECK(ridge::as_typed(text) == "run `ridge check 01`, then ridge log");
  setenv("RIDGE_COMMAND", "rm -rf", 1);  // nobody's but the launcher's word
  CHECK(ridge::as_typed(text) == text);
  unsetenv("RIDGE_COMMAND");
}

TEST_CASE("the first line of a solution names what it replaces, and more") {
  using Fields = std::vector<std::pair<std::string, std::string>>;
  CHECK(header_fields("// replaces: copy.cu; fails: copy/memory; backend: cpu") ==
        Fields{{"replaces", "copy.cu"}, {"fails", "copy/memory"}, {"backend", "cpu"}});
  CHECK(header_fields("// replaces: a.cu; idea: tiles: two; on purpose") ==
        Fields{{"replaces", "a.cu"}, {"idea", "tiles: two"}, {"on purpose", ""}});
  CHECK(header_fields("replaces: copy.cu").empty());
  CHECK(header_fields("// : copy.cu").empty());
  CHECK(header_fields("").empty());
}

TEST_CASE("sources are read as editors save them") {
  using namespace std::literals;
  const std::string plain = "// gr\xC3\xBC\xC3\x9F \xE4\xBD\xA0 \xF0\x9F\x98\x80\r\nint x;\r\n";
  const std::u16string wide = u"// gr\u00FC\u00DF \u4F60 \U0001F600\r\nint x;\r\n";
  auto utf16 = [&](bool little) {
    std::string bytes;
    for (const char16_t c : wide)
      for (const int half : {0, 1}) bytes += static_cast<char>((half == 0) == little ? c & 0xFF : c >> 8);
    return bytes;
  };
  CHECK(source_text(plain) == plain);
  CHECK(source_text("\xEF\xBB\xBF" + plain) == plain);
  CHECK(source_text("\xEF\xBB\xBF\xEF\xBB\xBF" + plain) == plain);
  CHECK(source_text("\xFF\xFE" + utf16(true)) == plain);
  CHECK(source_text("\xFE\xFF" + utf16(false)) == plain);
  CHECK(source_text("i\0n\0t\0 \0x\0;\0"sv) == "int x;");
  CHECK(source_text("\0i\0n\0t\0 \0x\0;"sv) == "int x;");
  CHECK(source_text("\xFF\xFE"sv) == "");
  CHECK(source_text("") == "");
  CHECK(source_text("// one\r// two\r") == "// one\n// two\n");
  CHECK(source_text("// one\r\n// \r two\r\n") == "// one\r\n// \r two\r\n");
  const std::string latin1 = "// gr\xFC\xDF\n";  // compilers take any bytes in comments
  CHECK(source_text(latin1) == latin1);
  // No text: an odd byte, half a surrogate pair, a zero character, a program, a picture's zeros.
  CHECK_FALSE(source_text("\xFF\xFE" + utf16(true) + "x"));
  CHECK_FALSE(source_text("\xFF\xFE\x3D\xD8;\0"sv));
  CHECK_FALSE(source_text("\xFF\xFE\0\0i\0"sv));
  CHECK_FALSE(source_text("\x7F\x45LF\2\1\1\0\0\0\0\0\0\0\0\0"sv));
  CHECK_FALSE(source_text("int x;\n/* a zero: \0 */ int y, z, w;\n"sv));

  CHECK(valid_utf8(plain));
  CHECK(valid_utf8(""));
  CHECK_FALSE(valid_utf8(latin1));
  CHECK_FALSE(valid_utf8("\xE4\xBD"));
  CHECK_FALSE(valid_utf8("\xC0\x80"));
}

TEST_CASE("a submission's hash is of the text that compilers read") {
  Folder plain, marked;
  const Lab lab = find_lab("01");
  write_file(plain / "copy.cu", "int x;\n");
  write_file(marked / "copy.cu", "\xEF\xBB\xBFint x;\n");
  CHECK(submission_hashes(plain.path, lab) == submission_hashes(marked.path, lab));
  write_file(marked / "copy.cu", "int y;\n");
  CHECK(submission_hashes(plain.path, lab) != submission_hashes(marked.path, lab));
}
