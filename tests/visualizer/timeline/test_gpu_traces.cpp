// Traces of two real GPUs, PyTorch's and ours: the timeline's share of exposed messages is the judge's metric `exposed_messages`, made of
// the same files by another parser.
#include <nlohmann/json.hpp>

#include "grader/measure/metrics.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"
#include "timeline/analysis/overlap.hpp"
#include "timeline/reader/loader.hpp"

using namespace ridge;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

json events_of(const fs::path& file) {
  const auto source = viz::timeline::open_trace(file);
  std::string text, piece(1 << 20, '\0');
  while (const std::size_t n = source->read(piece.data(), piece.size())) text.append(piece, 0, n);
  return json::parse(text).at("traceEvents");
}

// What the judge says of the kernels of each process of the files, in the order of their numbers.
std::vector<double> judged(const std::vector<fs::path>& files) {
  std::vector<double> all;
  for (const fs::path& file : files) {
    std::map<int, Timeline> processes;
    for (const json& e : events_of(file)) {
      if (e.value("ph", "") != "X" || e.value("cat", "") != "kernel") continue;
      Timeline::Item i;
      i.name = e.at("name");
      i.kind =
          i.name.rfind("nccl", 0) == 0 || i.name.find("ncclDevKernel") != std::string::npos ? "exchange" : "kernel";
      i.start = e.at("ts").get<double>() * 1e-6, i.end = i.start + e.at("dur").get<double>() * 1e-6;
      processes[e.at("pid").get<int>()].items.push_back(i);
    }
    for (auto& [process, timeline] : processes) {
      Measured m;
      m.counted.emplace();
      m.counted->timeline = std::move(timeline);
      all.push_back(measure_timeline("exposed_messages", m).value.value());
    }
  }
  return all;
}

std::vector<double> drawn(const std::vector<fs::path>& files) {
  std::vector<double> all;
  for (const auto& rank : viz::timeline::overlap_of(viz::timeline::load_traces(files)))
    all.push_back(rank.exposed_share());
  return all;
}

// `recorded`: of ranks 0 and 1, as benchmarks/visualizer/README.md has them.
void check_equal(const std::vector<fs::path>& files, const std::vector<double>& recorded) {
  const std::vector<double> picture = drawn(files), judge = judged(files);
  REQUIRE(picture.size() == 2);
  REQUIRE(judge.size() == 2);
  for (std::size_t r = 0; r < 2; ++r) {
    INFO("rank " << r);
    CHECK(picture[r] == Approx(judge[r]).margin(1e-6));
    CHECK(picture[r] == Approx(recorded[r]).margin(0.0005));
  }
}

}  // namespace

TEST_CASE("exposed messages of two PyTorch ranks are those of the judge") {
  const fs::path benchmarks = fs::path(test::repository()) / "benchmarks";
  check_equal({benchmarks / "visualizer/torch_ddp.0.json.gz", benchmarks / "visualizer/torch_ddp.1.json.gz"},
              {0.800, 0.805});
  check_equal({benchmarks / "training/h100x2/torch_compiled.0.json.gz",
               benchmarks / "training/h100x2/torch_compiled.1.json.gz"},
              {0.199, 0.251});
}

TEST_CASE("exposed messages of a data parallel step of ours on two GPUs are those of the judge") {
  const fs::path training = fs::path(test::repository()) / "benchmarks/training";
  check_equal({training / "h200x2/ddp_graph.trace.json.gz"}, {0.405, 0.406});
  check_equal({training / "h100x2/ddp_step.trace.json.gz"}, {0.393, 0.307});
  check_equal({training / "h100x2/sharded_step.trace.json.gz"}, {0.387, 0.373});
}
