// ncu's raw CSV: quoting, units, several reports in one file, what is printed around the table.
#include "grader/base/error.hpp"
#include "grader/bench/ncu_csv.hpp"
#include "support/catch.hpp"

using namespace ridge;

namespace {

const char* kReport =
    "==PROF== Connected to process 17\n"
    "==PROF== Profiling \"copy\" - 0: 0%....100%\n"
    "{\"launch\": \"copy.1\", \"us\": 3.2}\n"
    "\"ID\",\"Process Name\",\"Kernel Name\",\"Context\",\"Block Size\",\"Grid Size\",\"dram__bytes_read.sum\","
    "\"smsp__inst_executed.sum\",\"l1tex__x.sum\"\n"
    "\"\",\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"inst\",\"\"\n"
    "\"0\",\"a\",\"void copy<(int)4, float>(const float *, \"\"x\"\", int)\",\"1\",\"(256, 1, 1)\",\"(391, 2, 1)\","
    "\"1.5\",\"1,234,567\",\"n/a\"\n";

}  // namespace

TEST_CASE("a row of ncu's table") {
  auto launches = parse_ncu_csv(kReport);
  REQUIRE(launches.size() == 1);
  CHECK(launches[0].kernel == "copy");
  CHECK(launches[0].block == "256x1x1");
  CHECK(launches[0].grid == "391x2x1");
  CHECK(launches[0].metrics.at("smsp__inst_executed.sum") == 1234567);
  CHECK(launches[0].metrics.at("dram__bytes_read.sum") == Approx(1.5e6));
  CHECK(launches[0].metrics.count("l1tex__x.sum") == 0);
}

TEST_CASE("reports one after the other keep their own headers and units") {
  std::string second =
      "\r\n\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\"\r\n\"\",\"\",\"byte\"\r\n\"0\",\"fill(float *)\",\"64\"\r\n";
  auto launches = parse_ncu_csv(kReport + second);
  REQUIRE(launches.size() == 2);
  CHECK(launches[1].kernel == "fill");
  CHECK(launches[1].metrics.at("dram__bytes_read.sum") == 64);
}

TEST_CASE("a file without the table, and one that breaks off, are refused") {
  CHECK_THROWS_AS(parse_ncu_csv("==ERROR== no permission\n"), Error);
  std::string text = kReport;
  CHECK_THROWS_AS(parse_ncu_csv(text.substr(0, text.size() - 9)), Error);
}

TEST_CASE("kernel names without types") {
  CHECK(bare_kernel_name("void copy<float>(float *)") == "copy");
  CHECK(bare_kernel_name("space::copy(int)") == "space::copy");
  CHECK(bare_kernel_name("copy<4>") == "copy");
  CHECK(bare_kernel_name("copy") == "copy");
}
