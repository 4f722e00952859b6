// Each metric by name, from counters and timings made by hand; and which tasks a device can run.
#include "grader/base/error.hpp"
#include "grader/lab/lab.hpp"
#include "grader/measure/metrics.hpp"
#include "grader/measure/score.hpp"
#include "support/catch.hpp"

using namespace ridge;

namespace {

Measured counted(std::map<std::string, std::uint64_t> counters, std::map<std::string, std::uint64_t> more = {}) {
  Measured m;
  m.counted.emplace();
  m.counted->kernels.push_back({.kernel = "a", .counters = std::move(counters), .lines = {}});
  m.counted->kernels.push_back({.kernel = "b", .counters = std::move(more), .lines = {}});
  return m;
}

Timing timing(const std::string& name, double ratio, double seconds) {
  Timing t;
  t.name = name;
  t.median = ratio;
  t.low = ratio - 0.01;
  t.high = ratio + 0.01;
  t.submission_s = {seconds};
  t.bytes = 1e9;
  t.operations = 2e12;
  return t;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("metrics: counters of all kernels over the lab's bound") {
  Measured m = counted({{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 60},
                        {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 7},
                        {"smsp__sass_inst_executed_op_shared_ld.sum", 10},
                        {"smsp__sass_inst_executed_op_shared_st.sum", 20},
                        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 100},
                        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 200},
                        {"ridge__warp_instructions.sum", 5000}},
                       {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 40}, {"ridge__block_barriers.sum", 12}});
  m.bounds = {{"load_sectors_over_bound", 50},    {"store_sectors_over_bound", 7},
              {"shared_requests_over_bound", 20}, {"shared_wavefronts_over_bound", 100},
              {"barriers_over_bound", 6},         {"instructions_over_bound", 1000}};
  auto value = [&](const char* metric) { return measure(metric, m, "").value.value(); };
  CHECK(value("load_sectors_over_bound") == 2);
  CHECK(value("store_sectors_over_bound") == 1);
  CHECK(value("shared_requests_over_bound") == 1.5);
  CHECK(value("shared_wavefronts_over_bound") == 3);
  CHECK(value("barriers_over_bound") == 2);
  CHECK(value("instructions_over_bound") == 5);
  CHECK(
      has(measure("load_sectors_over_bound", m, "").note, "100 sectors loaded from global memory, where 50 would do"));

  m.bounds.clear();
  CHECK_THROWS_AS(measure("barriers_over_bound", m, ""), Error);  // the lab gives none
  CHECK_THROWS_AS(measure("barrier_over_bound", m, ""), Error);   // no such metric
  CHECK_THROWS_AS(measure("ratio_to_baseline", m, ""), Error);    // nothing was timed
}

TEST_CASE("metrics: every way of doing a thing counts") {
  Measured m = counted({{"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", 10},
                        {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", 3},
                        {"smsp__sass_inst_executed_op_shared_atom.sum", 5},
                        {"ridge__shared_wavefronts_atom.sum", 7},
                        {"ridge__requests_constant.sum", 20},
                        {"ridge__turns_constant.sum", 22},
                        {"ridge__requests_local_op_ld.sum", 100},
                        {"ridge__requests_local_op_st.sum", 50},
                        {"ridge__block_barriers.sum", 2},
                        {"ridge__memory_barriers.sum", 9}});
  m.counted->on_device = 64, m.counted->filled = 32;
  m.bounds = {{"load_sectors_over_bound", 1},      {"store_sectors_over_bound", 1}, {"shared_requests_over_bound", 1},
              {"shared_wavefronts_over_bound", 1}, {"barriers_over_bound", 1},      {"conflicts_over_bound", 1}};
  auto value = [&](const char* metric) { return measure(metric, m, "").value.value(); };
  CHECK(value("load_sectors_over_bound") == 10 + 4 * 100 + 2 + 2);
  CHECK(value("store_sectors_over_bound") == 10 + 3 + 4 * 50 + 2 + 1);
  CHECK(value("shared_requests_over_bound") == 5 + 100 + 50 + 2);
  CHECK(value("shared_wavefronts_over_bound") == 7 + 100 + 50 + 2);
  CHECK(value("barriers_over_bound") == 11);
  CHECK(value("conflicts_over_bound") == 2);
  m.work = {0, "", 320, 0};
  m.counted->global_sectors = 10;
  CHECK(value("sectors_over_ideal") == Approx((10 + 4 * 150 + 2 + (2 * 64 + 32) / 32.0) / 10));
}

TEST_CASE("metrics: costs are sums, which harmless work does not dilute") {
  Measured m = counted({{"ridge__warp_instructions.sum", 100}, {"ridge__lane_instructions.sum", 2400}},
                       {{"ridge__warp_instructions.sum", 9000}, {"ridge__lane_instructions.sum", 32 * 9000}});
  m.counted->shared_conflicts = 30, m.counted->shared_requests = 1e6;
  m.bounds = {{"idle_lanes_over_bound", 50}, {"conflicts_over_bound", 60}};
  CHECK(measure("idle_lanes_over_bound", m, "").value.value() == Approx(0.5));
  CHECK(has(measure("idle_lanes_over_bound", m, "").note, "25 instructions of a warp, where 50"));
  CHECK(measure("conflicts_over_bound", m, "").value.value() == Approx(0.5));
  m.bounds.clear();
  CHECK_THROWS_AS(measure("idle_lanes_over_bound", m, ""), Error);
  CHECK_THROWS_AS(measure("conflicts_over_bound", m, ""), Error);
}

TEST_CASE("metrics: the thread that works alone, in each kernel") {
  Measured m = counted({{"ridge__warps.sum", 4},
                        {"ridge__lane_instructions.sum", 4 * 32 * 100},
                        {"ridge__longest_thread_instructions.max", 700}},
                       {{"ridge__warps.sum", 1},
                        {"ridge__lane_instructions.sum", 32 * 50},
                        {"ridge__longest_thread_instructions.max", 90}});
  for (KernelCount& k : m.counted->kernels) k.launches = 1;
  m.bounds = {{"tail_over_bound", 1000}};
  const MetricValue v = measure("tail_over_bound", m, "");
  CHECK(v.value.value() == Approx(0.64));
  CHECK(has(v.note, "640 instructions more than the mean of its kernel, where 1000"));
}

TEST_CASE("metrics: what nothing can have that does the work is not measured") {
  Measured m = counted({{"ridge__block_barriers.sum", 1}});
  m.bounds = {{"barriers_over_bound", 1}, {"virtual_time_over_bound", 1e-3}};
  m.work = {0, "", 320, 320};
  m.counted->global_sectors = 19;
  CHECK_FALSE(measure("barriers_over_bound", m, "").value);
  CHECK(has(measure("barriers_over_bound", m, "").note, "not measured: the kernels moved only 0.95"));
  m.counted->global_sectors = 20;
  CHECK(measure("barriers_over_bound", m, "").value == 1);
  m.counted->timeline.seconds = 0.49e-3;
  CHECK_FALSE(measure("virtual_time_over_bound", m, "").value);
  m.counted->timeline.seconds = 0.51e-3;
  CHECK(measure("virtual_time_over_bound", m, "").value == Approx(0.51));
  m.bounds[1].least = 0.6;
  CHECK_FALSE(measure("virtual_time_over_bound", m, "").value);
}

TEST_CASE("metrics: what hides what in virtual time") {
  Measured m = counted({});
  Timeline& t = m.counted->timeline;
  auto item = [](const char* kind, double start, double end) {
    Timeline::Item i;
    i.kind = kind, i.start = start, i.end = end;
    return i;
  };
  auto value = [&](const char* metric) { return measure(metric, m, "").value; };
  CHECK(value("exposed_messages") == 1);  // none was sent: nothing was hidden
  CHECK(value("exposed_compute") == 1);
  // Messages: 0 to 4 (two that overlap) and 6 to 8; kernels: 3 to 7, and 1 us twice within; copies count for neither.
  t.items = {item("exchange", 6, 8), item("kernel", 3, 7),     item("exchange", 0, 3),
             item("exchange", 2, 4), item("kernel", 4.5, 5.5), item("h2d", 0, 10)};
  CHECK(value("exposed_messages").value() == Approx(4.0 / 6));
  CHECK(value("exposed_compute").value() == Approx(0.5));
  // Kernels of 4 us in all where 2 would do: 1.9 of them are beyond the bound and its twentieth.
  m.bounds = {{"exposed_messages", 4}};
  CHECK(value("exposed_messages").value() == Approx(4.0 / 6));
  m.bounds = {{"exposed_messages", 2}};
  CHECK(value("exposed_messages").value() == Approx((4 + 1.9) / 6));
  // Kernels of 4 us in all where 2 would do: the 2 us that nothing hides are the share of 2.4.
  m.bounds = {{"exposed_compute", 2}};
  CHECK(value("exposed_compute").value() == Approx(2 / 2.4));
  m.bounds = {{"exposed_compute", 4}};
  CHECK(value("exposed_compute").value() == Approx(0.5));
  t.left_out = 1;
  CHECK(!value("exposed_messages"));
}

TEST_CASE("metrics: the bubble is what all ranks wait") {
  Measured m = counted({});
  auto rank = [](double seconds, double from, double to) {
    Timeline t;
    t.seconds = seconds;
    t.items.resize(1);
    t.items[0].kind = "kernel", t.items[0].start = from, t.items[0].end = to;
    return t;
  };
  CHECK_THROWS_AS(measure("bubble_over_bound", m, ""), Error);
  m.bounds = {{"bubble_over_bound", 0.2}};
  m.ranks = {rank(4, 0, 4), rank(10, 2, 10)};  // 40% and 80% of the 10 s
  CHECK(measure("bubble_over_bound", m, "").value.value() == Approx(2));
  CHECK(has(measure("bubble_over_bound", m, "").note, "rank 0 waits most, 60.0%"));
  // Of 20 s of the ranks, the schedule needs 0.8 x 2 x 5 s of kernels: what others fill is no less of a bubble.
  m.bounds.push_back({"virtual_time_over_bound", 5});
  CHECK(measure("bubble_over_bound", m, "").value.value() > 2.9);
  CHECK(has(measure("bubble_over_bound", m, "").note, "The task's kernels take 40.0% of that time"));
  m.bounds.pop_back();
  m.ranks[1].left_out = 3;
  CHECK(!measure("bubble_over_bound", m, "").value);
}

TEST_CASE("metrics: several measured cases are judged by the worst") {
  Measured m;
  m.timings = {timing("2048", 0.97, 1e-3), timing("4096", 0.91, 2e-3), timing("8192", 0.95, 3e-3)};
  m.work.operation_unit = "flop";
  MetricValue v = measure("ratio_to_baseline", m, "cublasSgemm");
  CHECK(v.value == 0.91);
  CHECK(v.best == Approx(0.92));
  CHECK(v.unit == "x cublasSgemm");
  CHECK(has(v.note, "1000.0 TFLOP/s"));
  CHECK(has(v.note, "the worst of 2048: 0.970, 4096: 0.910, 8192: 0.950"));
  m.work.operation_unit = "element";
  CHECK(has(measure("ratio_to_baseline", m, "x").note, "500 GB/s"));
}

TEST_CASE("metrics: a task that needs a GPU has points on the emulator where it has a goal there") {
  Task t;
  t.points_correct = 5;
  t.goals = {{"g", "", lab::Backend::cuda, "ratio_to_baseline", 0, 1, 20, ""},
             {"c", "", lab::Backend::cpu, "idle_lanes_over_bound", 1, 0, 10, ""}};
  CHECK(t.points(lab::Backend::cpu) == 15);
  CHECK(t.points(lab::Backend::cuda) == 25);
  t.needs = "sm_90a";
  CHECK(t.points(lab::Backend::cpu) == 15);
  t.needs = "sm_100";  // the emulator is an H200
  CHECK(t.points(lab::Backend::cpu) == 0);
  t.needs = "sm_90a";
  t.goals.pop_back();
  CHECK(t.points(lab::Backend::cpu) == 0);
  CHECK(t.points(lab::Backend::cuda) == 25);
  CHECK(runs_on("sm_90a", "9.0"));
  CHECK_FALSE(runs_on("sm_90a", "10.0"));
  CHECK_FALSE(runs_on("sm_90a", ""));
  CHECK(runs_on("sm_80", "9.0"));
  CHECK(runs_on("sm_80", "8.0"));
  CHECK(runs_on("sm_80", "12.0"));
  CHECK_FALSE(runs_on("sm_80", "7.5"));
  CHECK_FALSE(runs_on("sm_80", ""));
  CHECK_FALSE(runs_on("a GPU", "9.0"));
}

TEST_CASE("metrics: ranks are a task's, and a lab's are those of all its tasks") {
  const std::string head = "title = \"t\"\norder = 1\nbackends = [\"cpu\", \"cuda\"]\nfiles = [\"a.cu\"]\n";
  const std::string first = "[[task]]\nid = \"a\"\ntitle = \"a\"\nfile = \"a.cu\"\npoints_correct = 1\n";
  const std::string second = "[[task]]\nid = \"b\"\ntitle = \"b\"\nfile = \"a.cu\"\npoints_correct = 1\n";
  const Lab own = parse_lab(head + first + second + "ranks = [1, 3]\n", "07_mini");
  CHECK(own.tasks[0].ranks.empty());
  CHECK(own.tasks[1].ranks == std::vector<int>{1, 3});
  CHECK(own.ranks == std::vector<int>{1, 3});
  CHECK(own.least_gpus() == 1);  // one GPU judges the first task
  CHECK(own.most_gpus(8) == 3);
  const Lab all = parse_lab(head + "ranks = [1, 2]\n" + first + second + "ranks = [4]\n", "07_mini");
  CHECK(all.tasks[0].ranks == std::vector<int>{1, 2});
  CHECK(all.ranks == std::vector<int>{1, 2, 4});
  CHECK(all.least_gpus() == 2);
}

TEST_CASE("metrics: marks of a check are judged by the case that earns least, whichever way is better") {
  Goal share{"share", "right entries", lab::Backend::cpu, "marked", 0, 1, 10, {}};
  Goal ratio{"ratio", "time", lab::Backend::cpu, "marked", 2, 1, 10, {}};
  Task spec;
  spec.goals = {share, ratio};
  Measured m;
  m.marks = {{"share", 0.9, "right", "first", ""},
             {"share", 0.4, "right", "second", ""},
             {"ratio", 1.5, "x", "slow", ""},
             {"ratio", 1.2, "x", "near", ""},
             {"other", 7, "x", "", ""}};
  TaskResult task;
  score_goals(task, spec, lab::Backend::cpu, m, true);
  REQUIRE(task.goals.size() == 2);
  CHECK(task.goals[0].value == 0.4);
  CHECK(task.goals[0].note == "second");
  CHECK(task.goals[0].points == Approx(4));
  CHECK(task.goals[1].value == 1.5);
  CHECK(task.points == Approx(4 + 5));

  m.marks.clear();
  TaskResult none;
  score_goals(none, spec, lab::Backend::cpu, m, true);
  CHECK_FALSE(none.goals[0].value);
  CHECK(none.points == 0);
}
