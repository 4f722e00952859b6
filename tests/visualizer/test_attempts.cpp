#include "roofline/attempts.hpp"
#include "roofline/scene.hpp"
#include "support/catch.hpp"

using namespace ridge::viz;

namespace {

// 4 TB/s, 8 TB/s of L2, 64 Top/s and 512 Top/s.
const std::vector<Ceiling> kRoofs{{"hbm", CeilingKind::bandwidth, "HBM", 4e12, "B/s", ""},
                                  {"l2", CeilingKind::bandwidth, "L2", 8e12, "B/s", ""},
                                  {"fp32", CeilingKind::compute, "fp32", 64e12, "flop/s", ""},
                                  {"bf16", CeilingKind::compute, "tensor cores, bf16", 512e12, "flop/s", ""}};

Task task(const std::string& id, double bytes, std::optional<double> seconds = {}) {
  Task t;
  t.id = id;
  t.roofline = Roofline{"flop", 1e9, bytes, 1e8, seconds, seconds ? Basis::timed : Basis::counted};
  return t;
}

Result attempt(const std::string& name, std::vector<Task> tasks, const std::string& path = "work/02_tiling") {
  Result r;
  r.attempt = r.time = name;
  r.lab = "02_tiling";
  r.backend = "cpu";
  r.submission = path;
  r.tasks = std::move(tasks);
  r.ceilings = kRoofs;
  return r;
}

}  // namespace

TEST_CASE("attempts come by time, in groups by lab, backend and device") {
  auto other = attempt("2", {task("x", 1e9)});
  other.backend = "cuda";
  const auto groups = grouped({attempt("3", {task("b", 1e9)}), other, attempt("1", {task("a", 1e9)})});
  REQUIRE(groups.size() == 2);
  REQUIRE(groups[0].attempts.size() == 2);
  CHECK(groups[0].attempts[0].attempt == "1");
  CHECK(groups[0].tasks == std::vector<std::string>{"a", "b"});
  CHECK(groups[0].series("b") == 1);  // also in the attempt that has no other task
}

TEST_CASE("the reference solution is held beside attempts, and is one where it is alone") {
  const auto groups = grouped({attempt("1", {task("a", 4e9)}), attempt("2", {task("a", 1e8)}, "solutions/02_tiling"),
                               attempt("3", {task("a", 2e9)})});
  REQUIRE(groups[0].attempts.size() == 2);
  REQUIRE(groups[0].reference);
  const auto dots = dots_of(groups[0], 1, roofs_of(kRoofs));
  REQUIRE(dots.size() == 3);
  CHECK(dots[0].attempt == 0);
  CHECK(dots[1].attempt == 1);
  CHECK(dots[2].rival == Rival::reference);
  CHECK(dots[2].point.at.intensity == 10);
  const auto alone = grouped({attempt("2", {task("a", 1e8)}, "solutions/02_tiling")});
  CHECK(alone[0].attempts.size() == 1);
  CHECK_FALSE(alone[0].reference);
}

TEST_CASE("the vendor's library does the same work in its own time") {
  Task t = task("a", 1e8, 1e-4);
  t.vendor_seconds = 5e-5;
  t.vendor = "cuBLAS";
  const auto groups = grouped({attempt("1", {t})});
  const auto dots = dots_of(groups[0], 0, roofs_of(kRoofs));
  REQUIRE(dots.size() == 2);
  CHECK(dots[1].rival == Rival::vendor);
  CHECK(dots[1].who == "cuBLAS");
  CHECK(dots[1].point.at.rate == Approx(2e13));
  CHECK(dots[1].point.at.intensity == dots[0].point.at.intensity);
}

TEST_CASE("the compute roof is the first that no rate exceeds, or the one that was chosen") {
  const auto groups = grouped({attempt("1", {task("a", 1e8, 1e-5)})});  // 100 Tflop/s
  CHECK(fastest(groups[0]) == Approx(1e14));
  Chosen chosen;
  CHECK(Scene(groups, {}, chosen).roofs.compute->id == "bf16");
  chosen.precision = "fp32";
  CHECK(Scene(groups, {}, chosen).roofs.compute->id == "fp32");
  chosen.precision = "fp4";
  CHECK(Scene(groups, {}, chosen).roofs.compute->id == "fp32");  // there is none
}

TEST_CASE("a calibration replaces the file's roofs of the same name and adds others") {
  const auto groups = grouped({attempt("1", {task("a", 1e8)})});
  const std::vector<Ceiling> measured{{"hbm", CeilingKind::bandwidth, "copy", 3e12, "B/s", "", 2.9e12, 3.1e12},
                                      {"int8", CeilingKind::compute, "int8", 1e15, "op/s", ""}};
  const Scene scene(groups, measured, {});
  CHECK(scene.roofs.memory->value == 3e12);
  CHECK(scene.ceilings.size() == 4);  // without int8: its unit is not these tasks'
}

TEST_CASE("the next roof is the one that asks for the second longest time") {
  Task t = task("a", 4e8);
  t.kernels = {{"k", 1, 5e8, 2e8, 1e8}, {"k2", 1, 1e8, 2e8, 1e8}};
  const auto point = place(t, 0, roofs_of(kRoofs));
  REQUIRE(point);
  CHECK(point->level_bytes[static_cast<std::size_t>(Level::l2)] == 4e8);
  CHECK(point->level_bytes[static_cast<std::size_t>(Level::l1)] == 6e8);
  // HBM 100 us, L2 50 us, fp32 15.6 us.
  const auto text = next_roof(*point, roofs_of(kRoofs), kRoofs);
  CHECK(text == "Without the limit of HBM, that of L2 would bind: at most 2.0\u00d7 faster.");
}

TEST_CASE("two attempts are compared number by number") {
  const auto groups = grouped({attempt("1", {task("a", 4e8, 4e-4)}), attempt("2", {task("a", 2e8, 1e-4)})});
  const Scene scene(groups, {}, {});
  const auto lines = differences(scene.dot(0, "a"), scene.dot(1, "a"), nullptr, nullptr);
  const auto find = [&](const std::string& what) {
    for (const Difference& d : lines)
      if (d.what == what) return d;
    return Difference{};
  };
  CHECK(find("time").a == "400 \u00b5s");
  CHECK(find("time").b == "100 \u00b5s");
  CHECK(find("time").change == "4.0\u00d7 less");
  CHECK(find("time").better == 1);
  CHECK(find("rate").change == "4.0\u00d7 more");
  CHECK(find("bytes").better == 1);
  CHECK(find("intensity").better == 0);
}

TEST_CASE("steps of a climb are attempts; a task with fewer stays at its solution") {
  const auto step = [](const char* id, double s) {
    return R"({"task": ")" + std::string(id) +
           R"(", "status": "passed", "idea": "i", "baseline": "cuBLAS", "operation_unit": "flop",
      "timing": {"operations": 1e9, "bytes": 1e8, "submission_s": [)" +
           std::to_string(s) + R"(], "baseline_s": [0.5]}})";
  };
  const auto results = parse_steps(R"({"schema": "ridge.steps/1", "lab": "02", "steps": [)" + step("a", 3) + "," +
                                       step("a", 2) + "," + step("b", 1) + "," + step("a", 1) + "]}",
                                   "f");
  REQUIRE(results.size() == 3);
  for (const Result& r : results) REQUIRE(r.tasks.size() == 2);
  CHECK(results[2].tasks[0].id == "a");
  CHECK(results[2].tasks[1].roofline->seconds == 1.0);
  CHECK(results[1].tasks[0].vendor_seconds == 0.5);
  CHECK_THROWS_AS(parse_steps(R"({"schema": "ridge.steps/1", "steps": [7]})", "f"), ResultError);
  CHECK_THROWS_AS(parse_steps(R"({"schema": "ridge.steps/1"})", "f"), ResultError);
}

TEST_CASE("a calibration's spread is kept, its links are no roofs") {
  const auto roofs = parse_calibration(R"({"schema": "ridge.calibration/1", "ceilings": [
      {"id": "h2d", "kind": "bandwidth", "name": "link", "unit": "B/s", "value": 5e10},
      {"id": "launch", "kind": "latency", "name": "launch", "unit": "s", "value": 3e-6},
      {"id": "fp32", "kind": "compute", "name": "fp32", "unit": "flop/s", "value": 6e13, "low": 5e13, "high": 7e13},
      {"id": "copy", "kind": "bandwidth", "name": "copy", "unit": "B/s", "value": 4e12, "low": 5e12, "high": 3e12}]})",
                                       "f");
  REQUIRE(roofs.size() == 2);
  CHECK(roofs[0].id == "hbm");
  CHECK_FALSE(roofs[0].low);  // its ends do not enclose the value
  CHECK(roofs[1].low == 5e13);
}
