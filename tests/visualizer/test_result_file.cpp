#include <string>

#include "roofline/result_file.hpp"
#include "support/catch.hpp"

using namespace ridge::viz;

namespace {

std::string error_of(const std::string& text) {
  try {
    parse_result(text, "some/file.json");
  } catch (const ResultError& e) {
    return e.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string with_task(const std::string& task) { return R"({"schema": "ridge.result/1", "tasks": [)" + task + "]}"; }

}  // namespace

TEST_CASE("a counted result is read") {
  const Result r = read_result(RIDGE_VIZ_DATA "/counted_three.json");
  CHECK(r.lab == "01_coalescing");
  CHECK(r.title == "Memory coalescing");
  CHECK(r.attempt == "20261121T030405.123Z-3f9a2c");
  CHECK(r.backend == "cpu");
  CHECK(r.device == "SIMT emulator, h200");
  CHECK(r.points == 62.5);
  CHECK(r.max == 100);
  REQUIRE(r.tasks.size() == 3);
  const Task& transpose = r.tasks[1];
  CHECK(transpose.id == "transpose");
  CHECK(transpose.status == "failed");
  CHECK(transpose.points == 12.5);
  CHECK(transpose.first_failure.rfind("sectors: stores touch 4.50 times", 0) == 0);
  REQUIRE(transpose.roofline);
  CHECK(transpose.roofline->operations == 131070.0);
  CHECK(transpose.roofline->bytes == 4718592.0);
  CHECK(transpose.roofline->bytes_ideal == 1048560.0);
  CHECK_FALSE(transpose.roofline->seconds);  // null is "not measured", not 0
  CHECK(transpose.roofline->basis == Basis::counted);
  CHECK(r.tasks[0].first_failure.empty());
}

TEST_CASE("ceilings without a value are left out") {
  const Result r = read_result(RIDGE_VIZ_DATA "/timed_three.json");
  REQUIRE(r.ceilings.size() == 4);
  for (const Ceiling& c : r.ceilings) CHECK(c.id != "fp8");
  CHECK(r.ceilings[0].kind == CeilingKind::bandwidth);
  CHECK(r.ceilings[2].value == 7.94e14);
  CHECK(r.tasks[0].roofline->basis == Basis::timed);
}

TEST_CASE("a skipped task has a reason and no roofline") {
  const Result r = read_result(RIDGE_VIZ_DATA "/close_points.json");
  CHECK(r.tasks.back().status == "skipped");
  CHECK(r.tasks.back().reason == "needs 4 ranks, this machine has 1");
  CHECK_FALSE(r.tasks.back().roofline);
}

TEST_CASE("a failed case counts where no check failed") {
  const auto r =
      parse_result(with_task(R"({"id": "t", "status": "failed", "checks": [{"name": "correct", "status": "passed"}],
                    "cases": [{"name": "rows 1", "status": "failed", "message": "off by one"}]})"),
                   "f");
  CHECK(r.tasks[0].first_failure == "rows 1: off by one");
}

TEST_CASE("unknown fields are ignored") {
  CHECK(parse_result(with_task(R"({"id": "t", "colour": [1, {"a": 2}]})"), "f").tasks[0].id == "t");
}

TEST_CASE("errors name the file, the fault and what to try") {
  for (const auto& [text, part] : {std::pair<std::string, std::string>{"{", "not JSON"},
                                   {"[1]", "not a JSON object"},
                                   {"{}", "no field 'schema'"},
                                   {R"({"schema": "ridge.result/2"})", "schema is 'ridge.result/2'"},
                                   {R"({"schema": "ridge.result/1", "tasks": []})", "no tasks"},
                                   {R"({"schema": "ridge.result/1"})", "no tasks"},
                                   {R"({"schema": "ridge.result/1", "outcome": "build-failed"})", "did not build"}}) {
    const auto error = error_of(text);
    INFO(error);
    CHECK(has(error, "some/file.json"));
    CHECK(has(error, part));
    CHECK(has(error, "try:"));
  }
}

TEST_CASE("errors name the field") {
  CHECK(has(error_of(with_task("{}")), "'tasks[0].id'"));
  CHECK(has(error_of(with_task(R"({"id": 7})")), "'tasks[0].id' is not a string"));
  CHECK(has(error_of(with_task("7")), "'tasks[0]' is not an object"));
  CHECK(has(error_of(with_task(R"({"id": "t", "roofline": {"bytes": "many"}})")), "'tasks[0].roofline.bytes'"));
  CHECK(has(error_of(with_task(R"({"id": "t", "roofline": {"bytes": -1}})")), "'tasks[0].roofline.bytes'"));
  CHECK(has(error_of(with_task(R"({"id": "t", "roofline": {"basis": "guessed"}})")), "'tasks[0].roofline.basis'"));
  CHECK(has(error_of(R"({"schema": "ridge.result/1", "tasks": [{"id": "t"}],
                         "ceilings": [{"kind": "latency", "value": 5}]})"),
            "'ceilings[0].kind'"));
}

TEST_CASE("files that cannot be read") {
  CHECK_THROWS_AS(read_result(RIDGE_VIZ_DATA "/absent.json"), ResultError);
  CHECK_THROWS_AS(read_result(RIDGE_VIZ_DATA), ResultError);
}
