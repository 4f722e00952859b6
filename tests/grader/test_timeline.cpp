// The timelines that `ridge check` and `ridge grade` write beside a result.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include "graded.hpp"
#include "grader/result/timeline_trace.hpp"
#include "support/catch.hpp"

using namespace ridge::test;
namespace fs = std::filesystem;

namespace {

const std::string kSolution = repository() + "/solutions/05_streams_graphs";

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<fs::path> traces_in(const Folder& home) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(home / "results"))
    if (entry.path().filename().string().ends_with(".trace.json")) found.push_back(entry.path());
  return found;
}

// The trace that a task's result names, read from beside the stored result.
json trace_of(const Folder& home, const Graded& g, const std::string& task) {
  const json file = g.task(task)["timeline"]["file"];
  INFO(g.run.out << g.run.err);
  REQUIRE(file == std::string(g.result["attempt"]) + "." + task + ".trace.json");
  const fs::path path = fs::path(home / "results/05_streams_graphs") / std::string(file);
  CHECK(contains(g.run.out, "  Timeline "));
  CHECK(contains(g.run.out, "/" + std::string(file)));
  return json::parse(read_file(path));
}

struct Box {
  double begin, end;
};

std::vector<Box> boxes(const json& trace, const std::set<std::string>& categories) {
  std::vector<Box> found;
  for (const json& e : trace["traceEvents"])
    if (e["ph"] == "X" && categories.count(e["cat"]) != 0)
      found.push_back({e["ts"], e["ts"].get<double>() + e["dur"].get<double>()});
  return found;
}

// Microseconds in which one of `a` and one of `b` are at work.
double together(const std::vector<Box>& a, const std::vector<Box>& b) {
  double sum = 0;
  for (const Box& x : a)
    for (const Box& y : b) sum += std::max(0.0, std::min(x.end, y.end) - std::max(x.begin, y.begin) - 1e-3);
  return sum;
}

double total(const std::vector<Box>& all) {
  double sum = 0;
  for (const Box& x : all) sum += x.end - x.begin;
  return sum;
}

std::vector<std::string> row_names(const json& trace) {
  std::vector<std::string> names;
  for (const json& e : trace["traceEvents"])
    if (e["ph"] == "M" && e["name"] == "thread_name") names.push_back(e["args"]["name"]);
  return names;
}

// Boxes of one row follow one another.
void check_rows(const json& trace) {
  std::map<int, double> ends;
  for (const json& e : trace["traceEvents"]) {
    if (e["ph"] != "X") continue;
    double& end = ends[e["tid"].get<int>()];
    INFO(e.dump());
    CHECK(e["ts"].get<double>() >= end - 1e-3);
    end = e["ts"].get<double>() + e["dur"].get<double>();
  }
}

const std::set<std::string> kIn = {"h2d"}, kOut = {"d2h"}, kKernel = {"kernel"},
                            kDevice = {"h2d", "d2h", "d2d", "fill", "kernel", "graph"};

}  // namespace

TEST_CASE("the pipeline's timeline: copies in both directions and kernels at the same time") {
  Folder home;
  const Graded g = check(home, "05", {"--task", "pipeline", "--submission", kSolution});
  const json trace = trace_of(home, g, "pipeline");
  check_rows(trace);
  const auto in = boxes(trace, kIn), out = boxes(trace, kOut), kernels = boxes(trace, kKernel);
  REQUIRE(in.size() > 3);
  CHECK(out.size() == in.size());
  CHECK(kernels.size() == in.size());
  // What overlaps is of different chunks: a chunk's kernel begins when its copy has ended.
  CHECK(together(in, kernels) > 0.8 * total(kernels));
  CHECK(together(in, out) > 0.7 * total(out));
  const std::vector<std::string> rows = row_names(trace);
  REQUIRE(rows.size() == 6);
  CHECK(rows[0] == "host");
  CHECK(rows[1] == "copy engine H2D");
  CHECK(rows[2] == "copy engine D2H");
  // As the solution calls them: `stream[s]` in a loop that counts s from 0.
  CHECK(rows[3] == "stream[0] (stream 2)");
  CHECK(rows[5] == "stream[2] (stream 4)");
  std::set<int> streams;
  double bytes = 0;
  for (const json& e : trace["traceEvents"]) {
    if (e["ph"] != "X" || e["cat"] == "host") continue;
    streams.insert(e["args"]["stream"].get<int>());
    if (e["cat"] == "h2d") bytes += e["args"]["bytes"].get<double>();
    if (e["cat"] == "kernel") {
      CHECK(e["name"] == "oscillate_kernel");
      CHECK(e["args"]["block"] == "256x1x1");
      CHECK(contains(e["args"]["grid"], "x1x1"));
    }
  }
  CHECK(streams.size() == 3);
  CHECK(bytes == 4.0 * (1 << 21));
  // From the first call to the last operation's end it is the time that is judged.
  double end = 0;
  for (const Box& b : boxes(trace, {"host", "h2d", "d2h", "kernel"})) end = std::max(end, b.end);
  const json& told = g.task("pipeline")["timeline"];
  CHECK(end == Approx(told["seconds"].get<double>() * 1e6).margin(1e-3));
  CHECK(trace["otherData"]["virtual_time_us"].get<double>() == Approx(end).margin(1e-3));
  CHECK(trace["otherData"]["left_out"] == 0);
  const json& goal = g.task("pipeline")["goals"][0];
  CHECK(goal["value"].get<double>() == Approx(told["seconds"].get<double>() * 55e9 / (4 << 21)).epsilon(0.01));
}

TEST_CASE("a trace is no result: the list of labs finds the student's own result") {
  Folder home;
  std::filesystem::create_directories(home / "work");
  std::filesystem::copy(kSolution, home / "work/05_streams_graphs", std::filesystem::copy_options::recursive);
  const Graded g = check(home, "05", {"--task", "pipeline"});
  INFO(g.run.out << g.run.err);
  CHECK(traces_in(home).size() == 1);
  const Run labs = run_ridge(home, {"labs"});
  INFO(labs.out);
  CHECK(contains(labs.out, "30 / 100"));
}

TEST_CASE("the timeline of one stream: nothing at the same time") {
  Folder home;
  const Graded g = check(home, "05", {"--wrong", "pipeline_one_stream", "--task", "pipeline"});
  const json trace = trace_of(home, g, "pipeline");
  const auto in = boxes(trace, kIn), out = boxes(trace, kOut), kernels = boxes(trace, kKernel);
  CHECK(g.run.code == 1);
  REQUIRE(!in.empty());
  CHECK(together(in, kernels) == 0);
  CHECK(together(in, out) == 0);
  CHECK(together(kernels, out) == 0);
  CHECK(g.task("pipeline")["timeline"]["seconds"].get<double>() * 1e6 >=
        total(in) + total(out) + total(kernels) - 1e-3);
}

TEST_CASE("the timeline of a graph: its launches by number; one file a task, and none for what has no such goal") {
  Folder home;
  const Graded g = check(home, "05", {"--task", "decode", "--submission", kSolution});
  const json trace = trace_of(home, g, "decode");
  CHECK(traces_in(home).size() == 1);
  std::map<int, int> nodes;
  int calls = 0;
  for (const json& e : trace["traceEvents"]) {
    if (e["ph"] == "X" && e["cat"] == "graph") ++nodes[e["args"]["graph_launch"].get<int>()];
    if (e["ph"] == "X" && e["cat"] == "host" && e["name"] == "cudaGraphLaunch") ++calls;
  }
  REQUIRE(nodes.size() == 6);
  CHECK(calls == 6);
  for (const auto& [number, count] : nodes) CHECK(count == 17);
  CHECK(nodes.begin()->first == 1);
  const Graded other = check(home, "01", {"--task", "copy", "--submission", repository() + "/solutions/01_coalescing"});
  CHECK(other.task("copy")["timeline"].is_null());
  CHECK_FALSE(contains(other.run.out, "Timeline"));
  CHECK(traces_in(home).size() == 1);
}

TEST_CASE("a timeline's rows: streams whose kernels run side by side get more than one, and names are made fit") {
  ridge::Result r;
  r.lab = "99_x";
  ridge::TaskResult t;
  t.id = "t";
  t.timeline = ridge::Timeline{};
  t.timeline->seconds = 4e-6;
  t.timeline->left_out = 7;
  auto item = [](const std::string& name, const std::string& kind, int stream, double start, double end) {
    ridge::Timeline::Item i;
    i.name = name;
    i.kind = kind;
    i.stream = stream;
    i.start = start * 1e-6;
    i.end = end * 1e-6;
    return i;
  };
  t.timeline->items = {item("b\x1B[31m\xFF", "kernel", 1, 1, 3), item("a", "kernel", 1, 0, 2),
                       item("c", "kernel", 1, 2, 4), item("", "d2h", 9, 0, 1), item("", "fill", 0, 0, 1)};
  t.timeline->streams = {{1, {"the\x1B[1mname\xFF" + std::string(999, 'x')}}, {7, {"unused"}}};
  t.timeline->calls = {{"a", 0, 1e-6}, {"cudaMemcpyAsync", 1e-6, 2e-6}, {"the judge waits", 2e-6, 3e-6}};
  const json trace = json::parse(ridge::timeline_trace(r, t));
  check_rows(trace);
  const std::string name = row_names(trace).at(3);
  CHECK(name.starts_with("the"));
  CHECK(name.ends_with(" (stream 1)"));
  CHECK(name.size() < 80);
  CHECK_FALSE(contains(name, "\n"));
  CHECK(row_names(trace) ==
        std::vector<std::string>{"host", "copy engine D2H", "default stream", name, name + ", row 2"});
  CHECK(trace["otherData"]["left_out"] == 7);
  CHECK(contains(trace.dump(), "\"launch a\""));
  CHECK_FALSE(contains(trace.dump(), "launch cuda"));
  CHECK_FALSE(contains(trace.dump(), "launch the judge"));
  CHECK_FALSE(contains(trace.dump(), "u001b"));
}

TEST_CASE("the fork's waits for other streams are arrows from the operation that is waited for") {
  Folder home;
  const Graded g = check(home, "05", {"--task", "fork_join", "--submission", kSolution});
  const json trace = trace_of(home, g, "fork_join");
  std::map<int, json> begins;
  int waits = 0;
  for (const json& e : trace["traceEvents"]) {
    if (e["ph"] == "s") begins[e["id"]] = e;
    if (e["ph"] != "f") continue;
    ++waits;
    const json& from = begins.at(e["id"]);
    CHECK(e["name"] == "wait");
    CHECK(from["ts"].get<double>() <= e["ts"].get<double>());
    CHECK(from["tid"] != e["tid"]);
  }
  CHECK(row_names(trace)[1] == "argument stream (stream 1)");
  CHECK(row_names(trace)[2] == "stream[1] (stream 3)");
  // Each branch waits for the preparation, and the join for each branch.
  CHECK(waits >= 4);
  CHECK_FALSE(trace["otherData"].contains("wrong_case"));
}

TEST_CASE("a stream's row is called as its submission calls it, by NVTX or by a variable") {
  Folder home;
  const fs::path own = home / "own";
  fs::copy(kSolution, own, fs::copy_options::recursive);
  std::string text = read_file(own / "fork_join.cu");
  const auto put = [&](const std::string& before, const std::string& after) {
    REQUIRE(contains(text, before));
    text.replace(text.find(before), before.size(), after);
  };
  put("#include \"streams.hpp\"", "#include \"streams.hpp\"\n#include <nvtx3/nvToolsExtCudaRt.h>");
  put("cudaStreamCreateWithFlags(&stream[b], cudaStreamNonBlocking);",
      "make(&stream[b]);\n      if (b == 2) nvtxNameCudaStreamA(stream[b], \"second branch\");");
  put("struct Branches {",
      "void make(cudaStream_t* made) { cudaStreamCreateWithFlags(made, cudaStreamNonBlocking); }\n\nstruct Branches {");
  write_file((own / "fork_join.cu").string(), text);
  const json trace =
      trace_of(home, check(home, "05", {"--task", "fork_join", "--submission", own.string()}), "fork_join");
  CHECK(row_names(trace) == std::vector<std::string>{"host", "argument stream (stream 1)", "made (stream 3)",
                                                     "second branch (stream 4)", "made (stream 5)"});
  for (const json& e : trace["traceEvents"])
    if (e["ph"] == "X" && e["cat"] == "kernel" && e["args"]["stream"] == 4)
      CHECK(e["args"]["stream_name"] == "second branch (stream 4)");
}

TEST_CASE("a wrong answer has the timeline of its case: the arrow that is missing can be seen") {
  Folder home;
  const Graded g = check(home, "05", {"--wrong", "fork_join_no_join_event", "--task", "fork_join"});
  const json trace = trace_of(home, g, "fork_join");
  CHECK(g.run.code == 1);
  CHECK(contains(g.run.out, "Timeline of fork_join, the wrong case: "));
  const std::string wrong = trace["otherData"]["wrong_case"];
  CHECK(g.task("fork_join")["timeline"]["wrong_case"] == wrong);
  CHECK(contains(first_failed(g.task("fork_join"))["message"], wrong + ": "));
  CHECK(boxes(trace, kKernel).size() > 2);
}

TEST_CASE("an official result keeps its timelines back") {
  Folder home;
  auto env = environment(home);
  env["RIDGE_SIGNING_KEY"] = home / "key";
  if (run({ridge_program(), "key", "new"}, env).code != 0) return;  // built without libsodium
  const std::string file = home / "official.json";
  const Run r = run({ridge_program(), "grade", "05", "--backend", "cpu", "--task", "decode", "--submission", kSolution,
                     "--official", "--json", file},
                    env);
  INFO(r.out << r.err);
  REQUIRE(r.code == 0);
  const json told = json::parse(read_file(file))["tasks"][0]["timeline"];
  CHECK(told["file"].is_null());
  CHECK(told["seconds"].get<double>() > 0);
  CHECK(traces_in(home).empty());
}
