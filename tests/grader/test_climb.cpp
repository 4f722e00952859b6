// `ridge bench --steps` and `--tables`: the climbs to the solutions, their records and the pages made of them.
#include <filesystem>

#include "graded.hpp"
#include "support/catch.hpp"

using namespace ridge::test;
namespace fs = std::filesystem;

namespace {

const std::string kLab = "02_tiling";

// A repository of its own, with the labs and one solution without steps.
struct Root : Folder {
  Root() {
    for (const char* part : {"runtime", "labs"})
      fs::create_directory_symlink(fs::path(repository()) / part, fs::path(path) / part);
    fs::create_directories(*this / "benchmarks/h200");
    fs::create_directories(*this / "solutions/02_tiling/steps");
    for (const auto& entry : fs::directory_iterator(repository() + "/solutions/" + kLab))
      if (entry.is_regular_file()) fs::copy_file(entry, *this / "solutions/02_tiling/" / entry.path().filename());
  }
  // `file` of the repository, with another first line.
  void step(const std::string& name, const std::string& header, const std::string& file) {
    const std::string text = read_file(repository() + "/" + file);
    write_file(*this / ("solutions/02_tiling/steps/" + name), header + text.substr(text.find('\n')));
  }
  Run bench(std::vector<std::string> arguments) {
    auto env = environment(*this);
    env["RIDGE_ROOT"] = path;
    arguments.insert(arguments.begin(), {ridge_program(), "bench", "--lab", "02"});
    return run(arguments, env);
  }
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

json timed_step(int number, double seconds, double ratio) {
  return {{"task", "sgemm"},
          {"step", number},
          {"file", "steps/" + std::to_string(number) + ".cu"},
          {"idea", "an idea"},
          {"needs", ""},
          {"status", "passed"},
          {"reason", ""},
          {"baseline", "cublasSgemm"},
          {"case", "4096 x 4096 x 4096"},
          {"operation_unit", "flop"},
          {"counts", nullptr},
          {"timing",
           {{"submission_s", {seconds * 2, seconds, seconds / 2}},
            {"ratio", {{"median", ratio}, {"low", ratio - 0.01}, {"high", ratio + 0.01}}},
            {"operations", 1e12},
            {"bytes", 1e9},
            {"floor_s", 0.02},
            {"disturbed", number == 2 ? "clocks changed" : ""}}}};
}

}  // namespace

TEST_CASE("steps in order, the solution last; what needs a GPU is skipped, what is wrong fails") {
  Root root;
  const std::string steps = "solutions/02_tiling/steps/";
  root.step("b.cu", "// replaces: stencil.cu; task: stencil; step: 1; idea: each cell alone",
            steps + "stencil_1_direct.cu");
  root.step("a.cu", "// replaces: stencil.cu; task: stencil; step: 2; idea: needs more; needs: sm_100",
            steps + "stencil_2_shared.cu");
  root.step("c.cu", "// replaces: stencil.cu; task: stencil; step: 10; idea: wrong",
            "labs/02_tiling/wrong/stencil_wrapped.cu");
  Run r = root.bench({"--steps", "--check", "--backend", "cpu"});
  INFO(r.out << r.err);
  REQUIRE(r.code == 1);  // one is wrong
  const std::string text = read_file(root / "benchmarks/emulator/02_tiling.steps.json");
  CHECK_FALSE(contains(text, root.path));
  const json j = json::parse(text);
  CHECK(j["schema"] == "ridge.steps/1");
  CHECK(j["lab"] == kLab);
  CHECK(j["mode"] == "check");
  CHECK(j["complete"] == true);
  CHECK(j["device"]["kind"] == "emulated");
  for (const char* key : {"date", "ridge", "compiler"}) CHECK(j.contains(key));
  REQUIRE(j["steps"].size() == 4);
  const json &first = j["steps"][0], &second = j["steps"][1], &third = j["steps"][2], &last = j["steps"][3];
  CHECK(first["status"] == "passed");  // though it misses its goals
  CHECK(first["step"] == 1);
  CHECK(first["file"] == "steps/b.cu");
  CHECK(first["case"] == "256 x 512");
  CHECK(first["counts"]["counters"]["ridge__block_barriers.sum"] == 0);
  CHECK(second["status"] == "skipped");
  CHECK(second["reason"] == "needs a GPU (sm_100)");
  CHECK(third["status"] == "failed");
  CHECK(contains(third["reason"], "correct: "));
  CHECK(last["status"] == "passed");
  CHECK(last["step"].is_null());
  CHECK(last["file"] == "stencil.cu");
  CHECK(last["counts"]["sectors_over_ideal"] < first["counts"]["sectors_over_ideal"]);

  r = root.bench({"--tables"});
  INFO(r.out << r.err);
  CHECK(r.code == 0);
  const std::string page = read_file(root / "solutions/02_tiling/README.md");
  CHECK(contains(page, "| [1](steps/b.cu) | each cell alone | "));
  CHECK(contains(page, "| [2](steps/a.cu) | needs more | skipped | | | | | |\n| [10](steps/c.cu) | wrong | failed | "));
}

TEST_CASE("a step that does not say what it is, a lab without steps, and a record that is none") {
  Root root;
  CHECK(root.bench({"--steps", "--backend", "cpu"}).code == 2);
  root.step("a.cu", "// replaces: stencil.cu; step: 2", "solutions/02_tiling/stencil.cu");
  Run r = root.bench({"--steps", "--backend", "cpu"});
  CHECK(r.code == 2);
  CHECK(contains(r.err, "a.cu does not say what step it is"));
  write_file(root / "benchmarks/h200/02_tiling.steps.json", "{\"schema\": \"ridge.result/1\"}");
  CHECK(root.bench({"--tables"}).code == 2);
  CHECK(root.bench({"--tables", "--steps"}).code == 2);
}

TEST_CASE("the page of a GPU's record: rates, ratios, the part of the roof, and the gain") {
  Root root;
  json failed = timed_step(3, 1, 1);
  failed["status"] = "failed";
  failed["case"] = failed["timing"] = nullptr;
  json j = {{"schema", "ridge.steps/1"},
            {"lab", kLab},
            {"backend", "cuda"},
            {"mode", "grade"},
            {"complete", false},
            {"date", "2001-02-03T04:05:06Z"},
            {"device", {{"kind", "gpu"}, {"name", "A GPU"}, {"driver", "1.2"}, {"clocks", "1 MHz"}}},
            {"compiler", {{"name", "nvcc 13"}, {"flags", ""}}},
            {"ridge", {{"version", "0"}, {"commit", "0123"}}},
            {"steps", {timed_step(1, 0.16, 0.125), timed_step(2, 0.04, 0.5), failed}}};
  write_file(root / "benchmarks/h200/02_tiling.steps.json", j.dump());
  Run r = root.bench({"--tables", "--out", root / "pages"});
  INFO(r.out << r.err);
  REQUIRE(r.code == 0);
  const std::string page = read_file(root / "pages/02_tiling/README.md");
  INFO(page);
  CHECK(contains(page, "## A GPU\n\nRecorded in [benchmarks/h200/02_tiling.steps.json]"));
  CHECK(contains(page, "`ridge bench --steps --lab 02` on such a GPU repeats it.\n2001-02-03T04:05:06Z, driver 1.2"));
  CHECK(contains(page, "The run was cut short"));
  CHECK(contains(page, "### sgemm: 4096 x 4096 x 4096, against cublasSgemm"));
  CHECK(contains(page,
                 "| [1](steps/1.cu) | an idea | 160 ms | 6.25 TFLOP/s | 0.125 | 0.115 to 0.135 | 12.5% | - |\n"
                 "| [2](steps/2.cu) | an idea | 40 ms | 25 TFLOP/s | 0.500 | 0.490 to 0.510 | 50.0% | 4.00 x |\n"
                 "| [3](steps/3.cu) | an idea | failed | | | | | |\n"));
  CHECK(contains(page, "Disturbed: steps/2.cu (clocks changed).\n"));
}

TEST_CASE("the page of a task that is judged in virtual time: that time and the launches") {
  Root root;
  auto counted = [](int number, double seconds) {
    json s = timed_step(number, 1, 1);
    s["timing"] = nullptr;
    s["counts"]["timeline"] = {{"seconds", seconds}, {"virtual_time_over_bound", seconds / 1e-4}, {"launches", 7.0}};
    return s;
  };
  json waits = counted(1, 4e-4);  // another goal was missed, and so this one has no value
  waits["counts"]["timeline"]["virtual_time_over_bound"] = nullptr;
  json failed = counted(3, 1);
  failed["status"] = "failed";
  failed["case"] = failed["counts"] = nullptr;
  const json j = {{"schema", "ridge.steps/1"},
                  {"lab", kLab},
                  {"backend", "cpu"},
                  {"mode", "grade"},
                  {"device", {{"kind", "emulated"}, {"name", "An emulator"}}},
                  {"steps", {waits, counted(2, 1e-4), failed}}};
  write_file(root / "benchmarks/h200/02_tiling.steps.json", j.dump());
  Run r = root.bench({"--tables", "--out", root / "pages"});
  INFO(r.out << r.err);
  REQUIRE(r.code == 0);
  const std::string page = read_file(root / "pages/02_tiling/README.md");
  INFO(page);
  CHECK(contains(page, "Virtual time: the emulator's time"));
  CHECK(contains(page,
                 "| [1](steps/1.cu) | an idea | 400 us | - | 7 | - |\n"
                 "| [2](steps/2.cu) | an idea | 100 us | 1.00 | 7 | 4.00 x |\n"
                 "| [3](steps/3.cu) | an idea | failed | | | |\n"));
}

TEST_CASE("the emulator in place of GPUs: the case that two of them are timed on, and its virtual time") {
  Folder home;
  Run r = run_ridge(
      home, {"bench", "--emulate-gpus", "2", "--check", "--lab", "06", "--task", "hierarchical", "--out", home / "x2"});
  INFO(r.out << r.err);
  REQUIRE(r.code == 0);
  const json j = json::parse(read_file(home / "x2/06_ring_allreduce.hierarchical.json"));
  CHECK(j["schema"] == "ridge.emulated/1");
  CHECK(j["gpus"] == 2);
  REQUIRE(j["tasks"].size() == 1);
  const json& task = j["tasks"][0];
  CHECK(task["case"] == "2 ranks, n 4194304, 1 a node");
  CHECK(task["correct"] == true);
  // Two exchanges of 8 MiB over NVLink, not over the network that the emulator's own case has.
  CHECK(task["messages_s"].get<double>() > 40e-6);
  CHECK(task["messages_s"].get<double>() < 70e-6);
  CHECK(task["seconds"].get<double>() > task["messages_s"].get<double>());
}

TEST_CASE("the page of ranks on several GPUs says how many there were") {
  Root root;
  json j = json::parse(read_file(repository() + "/benchmarks/h200/02_tiling.json"));
  j["device"]["gpus"] = "2";
  write_file(root / "benchmarks/h200x2/02_tiling.json", j.dump());
  Run r = root.bench({"--tables", "--out", root / "pages"});
  INFO(r.out << r.err);
  REQUIRE(r.code == 0);
  CHECK(contains(read_file(root / "pages/h200x2/README.md"), "# 2 x NVIDIA H200\n"));
}

TEST_CASE("a page says which tasks a lab has gained since it was recorded") {
  Root root;
  json j = json::parse(read_file(repository() + "/benchmarks/h200/02_tiling.json"));
  json all = json::array();
  const json manifest = {"stencil", "sgemm_shared", "sgemm_registers", "sgemm_async", "sgemm"};
  for (const json& id : manifest) {
    all.push_back(j["tasks"].back());
    all.back()["id"] = id;
  }
  j["tasks"] = all;
  auto page = [&] {
    write_file(root / "benchmarks/h200/02_tiling.json", j.dump());
    Run r = root.bench({"--tables", "--out", root / "pages"});
    INFO(r.out << r.err);
    REQUIRE(r.code == 0);
    return read_file(root / "pages/h200/README.md");
  };
  CHECK_FALSE(contains(page(), "recorded before"));
  j["tasks"].erase(1);
  CHECK(contains(page(), "recorded before they had the following tasks"));
  CHECK(contains(page(), "\n- 02_tiling: sgemm_shared\n"));
}

TEST_CASE("the pages of the solutions are those of the recorded files") {
  Folder home;
  Run r = run_ridge(home, {"bench", "--tables", "--out", home / "pages"});
  INFO(r.out << r.err);
  REQUIRE(r.code == 0);
  int pages = 0;
  for (const auto& entry : fs::directory_iterator(repository() + "/solutions")) {
    const std::string name = entry.path().filename();
    INFO(name << ": is a record newer than its page? `ridge bench --tables` makes it again");
    const bool made = fs::exists(home / ("pages/" + name + "/README.md"));
    CHECK(fs::exists(entry.path() / "README.md") == made);
    CHECK(fs::exists(entry.path() / "steps") == made);
    if (!made) continue;
    ++pages;
    CHECK(read_file(entry.path() / "README.md") == read_file(home / ("pages/" + name + "/README.md")));
  }
  CHECK(pages >= 3);
  // And the pages of the results.
  int results = 0;
  for (const auto& entry : fs::directory_iterator(repository() + "/benchmarks")) {
    const std::string name = entry.path().filename();
    INFO(name);
    if (!fs::exists(home / ("pages/" + name + "/README.md")) || fs::exists(repository() + "/solutions/" + name))
      continue;
    ++results;
    CHECK(read_file(entry.path() / "README.md") == read_file(home / ("pages/" + name + "/README.md")));
  }
  CHECK(results >= 2);
  const std::string h200 = read_file(repository() + "/benchmarks/h200/README.md");
  CHECK(contains(h200, "| [02_tiling](02_tiling.json) | sgemm | 4096 x 4096 x 4096 | "));
}
