#include "roofline/ncu_file.hpp"
#include "roofline/roofline_model.hpp"
#include "support/catch.hpp"

using namespace ridge::viz;

TEST_CASE("launches of one kernel and shape are one task, the longest first") {
  const Result r = read_ncu(RIDGE_VIZ_DATA "/ncu_three.csv");
  REQUIRE(r.tasks.size() == 3);
  CHECK(r.tasks[0].id == "sgemm 64x64x1/256x1x1");
  CHECK(*r.tasks[0].roofline->operations == Approx(2 * 68719476736.0 + 1048576));
  CHECK(*r.tasks[0].roofline->bytes == Approx(201.5e6));
  CHECK(*r.tasks[0].roofline->seconds == Approx(2.758e-3));
  CHECK(*r.tasks[0].kernels[0].l2 == Approx(1610.6e6));
  CHECK(*r.tasks[0].kernels[0].l1 == Approx(3221.2e6));
  CHECK(r.tasks[1].title.substr(0, 10) == "2 launches");
  CHECK(*r.tasks[1].roofline->seconds == Approx(4e-6));  // of one launch
  CHECK(*r.tasks[1].roofline->operations == Approx(2097152));
}

TEST_CASE("without counts of operations there is no point, and the reason is said") {
  const Result r = read_ncu(RIDGE_VIZ_DATA "/ncu_three.csv");
  CHECK_FALSE(place(r.tasks[2], 2, {}));
  CHECK(why_no_point(r.tasks[2], {}) == "No point: its operations were not counted.");
}

TEST_CASE("rates a second and a cycle are as good as sums") {
  const Result r = parse_ncu(
      "\"ID\",\"Kernel "
      "Name\",\"dram__bytes.sum.per_second\",\"gpu__time_duration.sum\",\"smsp__cycles_elapsed.avg.per_second\","
      "\"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed\",\"lts__lts2xbar_cycles_active.sum.per_"
      "second\"\n"
      "\"\",\"\",\"Tbyte/s\",\"ms\",\"Ghz\",\"inst/cycle\",\"cycle/ns\"\n"
      "\"0\",\"k(int)\",\"2\",\"1\",\"1.5\",\"1000\",\"10\"\n",
      "f.csv");
  const Roofline& roof = *r.tasks[0].roofline;
  CHECK(*roof.bytes == Approx(2e9));
  CHECK(*roof.operations == Approx(2 * 1000 * 1.5e9 * 1e-3));
  CHECK(*r.tasks[0].kernels[0].l2 == Approx(32 * 10e9 * 1e-3));
}

TEST_CASE("numbers are read as the table's locale writes them") {
  const auto bytes = [](const std::string& first, const std::string& second) {
    const Result r = parse_ncu(
        "\"ID\",\"Kernel Name\",\"dram__bytes.sum\",\"gpu__time_duration.sum\"\n\"\",\"\",\"byte\",\"ns\"\n"
        "\"0\",\"a(int)\",\"" +
            first + "\",\"1\"\n\"1\",\"b(int)\",\"" + second + "\",\"2\"\n",
        "f.csv");
    return r.tasks[1].roofline->bytes.value_or(-1);  // of a
  };
  CHECK(bytes("1,234", "1") == Approx(1234));
  CHECK(bytes("1.234", "1") == Approx(1.234));
  CHECK(bytes("1.234", "0,5") == Approx(1234));
  CHECK(bytes("1.234,5", "1") == Approx(1234.5));
  CHECK(bytes("1.234.567", "1") == Approx(1234567));
  CHECK(bytes("1,234,567", "1") == Approx(1234567));
  CHECK(bytes("1,234", "1.234.567") == Approx(1.234));
  CHECK(bytes("1,2345", "1") == Approx(1.2345));
  CHECK(bytes("1\u202f234,5", "1") == Approx(1234.5));
  CHECK(bytes("1\u00a0234", "1") == Approx(1234));
  CHECK(bytes("1'234.5", "1") == Approx(1234.5));
  CHECK(bytes("n/a", "1") == -1);
  CHECK_THROWS_AS(bytes("1,5", "1.5"), ResultError);
}

TEST_CASE("what is no table of ncu is refused") {
  CHECK_THROWS_AS(parse_ncu("==ERROR== no permission\n", "f.csv"), ResultError);
  CHECK_THROWS_AS(parse_ncu("\"ID\",\"Kernel Name\"\n\"0\"\n", "f.csv"), ResultError);
  CHECK_THROWS_AS(parse_ncu("\"ID\",\"Kernel Name\"\n", "f.csv"), ResultError);
}
