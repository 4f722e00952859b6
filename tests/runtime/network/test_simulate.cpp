// `ridge simulate` as people use it: what it prints and writes, and what it refuses.
#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::test;

namespace {

Run simulate(std::vector<std::string> words) {
  words.insert(words.begin(), {ridge_program(), "simulate"});
  return run(words);
}

}  // namespace

TEST_CASE("a step's figures and its timeline") {
  Folder home;
  const std::string json = home / "step.json", trace = home / "step.trace.json";
  const Run r = simulate({"--model",        "gpt3_175b", "--tensor",          "8",   "--pipeline",     "4",
                          "--data",         "4",         "--chunks",          "2",   "--global-batch", "32",
                          "--json",         json,        "--timeline",        trace, "--failures",     "50000",
                          "--save-seconds", "60",        "--restart-seconds", "600"});
  INFO(r.err);
  REQUIRE(r.code == 0);
  CHECK(r.out.find("128 ranks: 4 x data, 4 x pipeline, 8 x tensor") != std::string::npos);
  CHECK(r.out.find("a failure every 390.6 h") != std::string::npos);
  const auto j = nlohmann::json::parse(read_file(json));
  CHECK(j["schema"] == "ridge.simulation/1");
  double parts = 0;
  for (const auto& [name, seconds] : j["parts_s"].items()) parts += seconds.get<double>();
  CHECK(parts == Approx(j["step_s"].get<double>()));
  CHECK(j["fits"] == true);
  CHECK(j["goodput"]["fraction"].get<double>() > 0.98);
  int passes = 0;
  const auto events = nlohmann::json::parse(read_file(trace))["traceEvents"];
  for (const auto& event : events) passes += event.value("cat", "") == "kernel" && event["args"].contains("direction");
  CHECK(passes == 4 * 2 * 8 * 2);  // stages, chunks, micro-batches, directions
}

TEST_CASE("a checkpoint takes as long as its bytes take, and tokens of a day are those that failures leave") {
  Folder home;
  const std::string json = home / "step.json";
  const Run r = simulate({"--model", "llama3_8b", "--data", "1024", "--zero", "3", "--failures", "50000",
                          "--save-bandwidth", "1e9", "--restart-seconds", "600", "--json", json});
  INFO(r.err);
  REQUIRE(r.code == 0);
  const auto j = nlohmann::json::parse(read_file(json));
  CHECK(j["goodput"]["save_s"].get<double>() == Approx(12 * j["parameters"].get<double>() / 1e9));
  const double fraction = j["goodput"]["fraction"];
  CHECK(fraction < 0.98);
  CHECK(j["goodput"]["tokens_per_day"].get<double>() == Approx(fraction * j["tokens_per_s"].get<double>() * 86400));
  CHECK(r.out.find("which stops training for 96.4 s") != std::string::npos);
}

TEST_CASE("what does not fit is said, and is no failure") {
  const Run r = simulate({"--model", "llama3_405b"});
  CHECK(r.code == 0);
  CHECK(r.out.find("This does not fit") != std::string::npos);
}

TEST_CASE("a collective, with a fabric of one's own") {
  Folder home;
  const std::string file = home / "mine.toml";
  write_file(file,
             "title = \"mine\"\ngpus = 2\nnode_bandwidth = 1e11\nnode_latency = 0\nadapters = 1\nadapter_bandwidth = "
             "1e10\nlatency = 0\n");
  const Run r = simulate({"--collective", "reduce-scatter", "--bytes", "1e9", "--data", "8", "--fabric", file});
  CHECK(r.code == 0);
  CHECK(r.out.find("in 1 group of 8 ranks at once, mine") != std::string::npos);
  CHECK(r.out.find("time 87.5000 ms; bus bandwidth 10.0 GB/s") != std::string::npos);
}

TEST_CASE("wrong words are usage errors that say what to change") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"--gpu", "h1000"}, "there is no 'h1000'; there are a100"},
      {{"--tensor", "5"}, "no multiple of the tensor-parallel size (5)"},
      {{"--data", "65536", "--micro-batch", "65536", "--global-batch", "1024"}, "(4294967296)"},
      {{"--data", "1048576", "--tensor", "96", "--pipeline", "96"}, "more ranks than 1048576"},
      {{"--data", "65536", "--tensor", "65536", "--collective", "all-reduce", "--bytes", "8"}, "more ranks than"},
      {{"--global-batch", "1073741824"}, "more than this simulator runs"},
      {{"--collective", "all-reduce", "--data", "4"}, "needs --bytes"},
      {{"--collective", "all-reduce", "--bytes", "8"}, "have one rank"},
      {{"--collective", "all-reduce", "--bytes", "nan", "--data", "4"}, "not a number of 0 or more"},
      {{"--collective", "all-reduce", "--bytes", "8", "--data", "4", "--timeline", "x"}, "belong to a training step"},
      {{"--failures", "100"}, "needs --save-seconds"},
      {{"--zero", "3", "--data", "2", "--no-overlap-data"}, "need its overlap"},
      {{"--sequence", "8192"}, "longer than the model's 2048 positions"},
      {{"--sequence", "2044", "--tensor", "8"}, "tokens of a sequence (2044)"},
      {{"--gpu", "a100", "--precision", "fp8"}, "NVIDIA A100 SXM, 80 GB has no products in fp8"},
      {{"--gpu", "a100", "--attention", "cudnn"}, "cuDNN's attention on the NVIDIA A100"},
      {{"--fp8-gather"}, "for fp8 products alone"},
      {{"--fp8-gather", "--precision", "fp8", "--data", "2"}, "needs ZeRO stage 3"},
  };
  for (const auto& [words, said] : wrong) {
    const Run r = simulate(words);
    INFO(said << "\n" << r.err);
    CHECK(r.code == 2);
    CHECK(r.err.find(said) != std::string::npos);
    CHECK(r.out.empty());
  }
}
