// The comparison of the emulator with a recording: names of launches, equality, known differences, times.
#include "grader/base/error.hpp"
#include "grader/bench/fidelity.hpp"
#include "support/catch.hpp"

using namespace ridge;

namespace {

const std::string kLoads = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
const std::string kStores = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";

FidelityLaunch launch(const std::string& name, double loads, double stores = 0) {
  return {name, name.substr(0, name.find('.')), "4x1x1", "64x1x1", {{kLoads, loads}, {kStores, stores}}, "", 0};
}

Fidelity compared(const std::vector<FidelityLaunch>& emulator, const std::vector<FidelityLaunch>& hardware,
                  std::vector<KnownDifference> differences = {}, bool all = true) {
  return compare(emulator, hardware, {}, {}, std::move(differences), all);
}

}  // namespace

TEST_CASE("launches are numbered by kernel, setup kernels are left out") {
  auto json = nlohmann::json::parse(R"({"launches": [
    {"kernel": "init_flush", "grid": [1, 1, 1], "block": [32, 1, 1], "counters": {}},
    {"kernel": "copy", "grid": [4, 1, 1], "block": [64, 1, 1], "counters": {"x": 3}},
    {"kernel": "fill", "grid": [4, 2, 1], "block": [64, 1, 1], "counters": {}},
    {"kernel": "copy<4>", "grid": [4, 1, 1], "block": [64, 1, 1], "counters": {}}]})");
  auto launches = emulator_launches(json);
  REQUIRE(launches.size() == 3);
  CHECK(launches[0].name == "copy.1");
  CHECK(launches[0].counters.at("x") == 3);
  CHECK(launches[1].grid == "4x2x1");
  CHECK(launches[2].name == "copy.2");
}

TEST_CASE("equal counters pass, zeros on both sides are no values") {
  Fidelity f =
      compared({launch("copy.1", 8, 8), launch("fill.1", 0, 8)}, {launch("fill.1", 0, 8), launch("copy.1", 8, 8)});
  CHECK(f.equal == 3);
  CHECK(f.unknown == 0);
  CHECK(f.passed());
}

TEST_CASE("a difference fails unless a reason is known for that launch and counter") {
  Fidelity f = compared({launch("copy.1", 8, 8)}, {launch("copy.1", 2, 8)});
  CHECK(f.unknown == 1);
  CHECK_FALSE(f.passed());
  f = compared({launch("copy.1", 8, 8)}, {launch("copy.1", 2, 8)}, {{"copy.*", "*op_ld.sum", "merged", "", 0}});
  CHECK(f.known == 1);
  CHECK(f.passed());
  CHECK(f.rows[0].values[0].reason == "merged");
  f = compared({launch("copy.1", 8, 8)}, {launch("copy.1", 2, 8)}, {{"copy.*", "*op_st.sum", "other counter", "", 0}});
  CHECK_FALSE(f.passed());
  CHECK(f.unused.size() == 1);
}

TEST_CASE("a recording of other launches fails") {
  CHECK_FALSE(compared({launch("copy.1", 8)}, {}).passed());
  CHECK_FALSE(compared({}, {launch("copy.1", 8)}).passed());
  CHECK(compared({}, {launch("copy.1", 8)}, {}, false).passed());
  FidelityLaunch other = launch("copy.1", 8);
  other.grid = "5x1x1";
  Fidelity f = compared({launch("copy.1", 8)}, {other});
  CHECK_FALSE(f.passed());
  CHECK(f.equal == 0);
}

TEST_CASE("a counter that the recording lacks is named and not compared") {
  FidelityLaunch h = launch("copy.1", 8);
  h.counters.erase(kStores);
  Fidelity f = compared({launch("copy.1", 8, 4)}, {h});
  CHECK(f.passed());
  CHECK(std::find(f.missing.begin(), f.missing.end(), kStores) != f.missing.end());
}

TEST_CASE("a reason may hold for one kind of launch and for near values alone") {
  auto unknown = [](double hardware, KnownDifference d) {
    std::map<std::string, LaunchTime> times = {{"copy.1", {"time", 4}}};
    return compare({launch("copy.1", 100)}, {launch("copy.1", hardware)}, times, {}, {std::move(d)}, true).unknown;
  };
  CHECK(unknown(105, {"*", "*", "noise", "time", 0.1}) == 0);
  CHECK(unknown(120, {"*", "*", "noise", "time", 0.1}) == 1);
  CHECK(unknown(105, {"*", "*", "noise", "count", 0.1}) == 1);
}

TEST_CASE("differences.toml") {
  auto d = load_differences("[[difference]]\nlaunch = \"a.*\"\nmetric = \"*\"\nreason = \"r\"\nwithin = 0.25\n",
                            "d.toml", "g++ 12");
  REQUIRE(d.size() == 1);
  CHECK(d[0].within == 0.25);
  CHECK(d[0].launch == "a.*");
  CHECK(load_differences("", "d.toml", "g++ 12").empty());
  const std::string of_gcc = "[[difference]]\nlaunch = \"a\"\nmetric = \"*\"\nreason = \"r\"\ncompiler = \"g++\"\n";
  CHECK(load_differences(of_gcc, "d.toml", "g++ 12.2.0").size() == 1);
  CHECK(load_differences(of_gcc, "d.toml", "clang++ 14.0.6").empty());
  CHECK_THROWS_AS(load_differences("[[difference]]\nlaunch = \"a.*\"\nmetric = \"*\"\n", "d.toml", "g++ 12"), Error);
  CHECK_THROWS_AS(load_differences("[[difference]\n", "d.toml", "g++ 12"), Error);
}

TEST_CASE("patterns") {
  CHECK(matches("copy.*", "copy.12"));
  CHECK(matches("*shared*ld.sum", "x_shared_op_ld.sum"));
  CHECK(matches("*", ""));
  CHECK_FALSE(matches("copy.1", "copy.12"));
  CHECK_FALSE(matches("*.2", "copy.12.3"));
}

TEST_CASE("times: only launches of kind time count") {
  auto virtual_times = parse_times(
      "noise\n{\"launch\": \"a.1\", \"kind\": \"time\", \"us\": 20}\n{\"launch\": \"b.1\", \"kind\": \"time\", \"us\": "
      "30}\n"
      "{\"launch\": \"c.1\", \"kind\": \"count\", \"us\": 900}\n{\"launch\": \"d.1\", \"kind\": \"time\", \"us\": "
      "500}\n");
  auto measured = parse_times(
      "{\"launch\": \"a.1\", \"us\": 10}\n{\"launch\": \"b.1\", \"us\": 40}\n{\"launch\": \"c.1\", \"us\": 1}\n"
      "{\"launch\": \"d.1\", \"us\": 100}\n");
  std::vector<FidelityLaunch> launches = {launch("a.1", 1), launch("b.1", 1), launch("c.1", 1), launch("d.1", 1)};
  Fidelity f = compare(launches, launches, virtual_times, measured, {}, true);
  CHECK(f.time.launches == 3);
  CHECK(f.time.median_ratio == Approx(2));
  CHECK(f.time.median_error == Approx(1));
  CHECK(f.time.within_twice == Approx(2.0 / 3));
  CHECK(f.time.rank_correlation == Approx(1));
  CHECK(f.rows[1].virtual_us == 30);
}

TEST_CASE("rank correlation") {
  CHECK(spearman({1, 2, 3, 4}, {10, 20, 30, 1000}) == Approx(1));
  CHECK(spearman({1, 2, 3, 4}, {4, 3, 2, 1}) == Approx(-1));
  CHECK(spearman({1, 2, 2, 3}, {1, 2, 2, 3}) == Approx(1));
  CHECK(spearman({1, 2, 3}, {1, 3, 2}) == Approx(0.5));
  CHECK(spearman({1}, {1}) == 0);
}

TEST_CASE("both reports hold the values") {
  Fidelity f =
      compared({launch("copy.1", 8, 8)}, {launch("copy.1", 2, 8)}, {{"copy.*", "*op_ld.sum", "merged by nvcc", "", 0}});
  nlohmann::json about = {{"ridge", "1"}, {"recording", {{"device", "GPU"}}}};
  std::string text = fidelity_markdown(f, about);
  CHECK(text.find("| copy.1 | `requests_global_op_ld` | 8 | 2 | 4.000 | merged by nvcc |") != std::string::npos);
  CHECK(text.find("| recording device | GPU |") != std::string::npos);
  auto j = fidelity_json(f, about);
  CHECK(j["summary"]["known_differences"] == 1);
  CHECK(j["launches"][0]["exact"][0]["hardware"] == 2);
  CHECK(j["launches"][0]["exact"][0]["reason"] == "merged by nvcc");
}
