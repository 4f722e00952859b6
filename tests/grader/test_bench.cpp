// `ridge bench fidelity` as a command: a small program in a repository of its own, stand-ins for nvcc, ncu and nvidia-smi.
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::test;
namespace fs = std::filesystem;

namespace {

const char* kProgram = R"(#include "harness.cuh"
__global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
int main() {
  float* in = device_array<float>(1000);
  float* out = device_array<float>(1000);
  copy<<<4, 256>>>(in, out, 1000);
  must(cudaDeviceSynchronize(), "copy");
  std::puts("{\"launch\": \"copy.1\", \"kind\": \"time\", \"us\": 4.0}");
}
)";

// 1000 floats: 32 requests, 125 sectors.
std::string table(int load_sectors) {
  return "==PROF== Connected\n\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\","
         "\"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\"\n"
         "\"\",\"\",\"\",\"\",\"\",\"\"\n\"0\",\"copy(const float *, float *, int)\",\"(256, 1, 1)\",\"(4, 1, "
         "1)\",\"32\",\"" +
         std::to_string(load_sectors) + "\"\n";
}

void script(const std::string& path, const std::string& body) {
  write_file(path, "#!/bin/sh\n" + body);
  fs::permissions(path, fs::perms::owner_all);
}

struct Root : Folder {
  Root() {
    fs::path bench = fs::path(path) / "benchmarks/fidelity";
    fs::create_directories(bench);
    for (const char* part : {"runtime", "labs"})
      fs::create_directory_symlink(fs::path(repository()) / part, fs::path(path) / part);
    fs::copy_file(fs::path(repository()) / "benchmarks/fidelity/harness.cuh", bench / "harness.cuh");
    write_file(bench / "streaming.cu", kProgram);
    write_file(bench / "metrics.txt", "# comment\nl1tex__t_requests_pipe_lsu_mem_global_op_ld.sum\nunknown__two.sum\n");
  }
  Run bench(std::vector<std::string> arguments, std::map<std::string, std::string> env = {}) {
    env["RIDGE_ROOT"] = path;
    arguments.insert(arguments.begin(), {ridge_program(), "bench", "fidelity", "streaming"});
    return run(arguments, env);
  }
};

}  // namespace

TEST_CASE("equal counters pass, a difference fails until a reason is given") {
  Root root;
  write_file(root / "good.csv", table(125));
  write_file(root / "times.jsonl", "{\"launch\": \"copy.1\", \"us\": 2.0}\n");
  Run good = root.bench({"--ncu", root / "good.csv", "--out", root / "out"});
  INFO(good.out << good.err);
  CHECK(good.code == 0);
  auto j = nlohmann::json::parse(read_file(root / "out.json"));
  CHECK(j["summary"]["equal"] == 2);
  CHECK(j["launches"][0]["measured_us"] == 2.0);
  CHECK(read_file(root / "out.md").find("| copy.1 | 4x1x1 | 256x1x1 | 2 | 2 |") != std::string::npos);

  write_file(root / "bad.csv", table(124));
  Run bad = root.bench({"--ncu", root / "bad.csv"});
  CHECK(bad.code == 1);
  CHECK(bad.out.find("copy.1 l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum: emulator 125, hardware 124") !=
        std::string::npos);
  write_file(root / "benchmarks/fidelity/differences.toml",
             "[[difference]]\nlaunch = \"copy.1\"\nmetric = \"*sectors*ld*\"\nreason = \"a test\"\n");
  CHECK(root.bench({"--ncu", root / "bad.csv"}).code == 0);
}

TEST_CASE("without a GPU and without a recording it says what to do") {
  Root root;
  Run r = root.bench({}, {{"CUDA_VISIBLE_DEVICES", "-1"}});
  CHECK(r.code == 3);
  CHECK(r.err.find("--record") != std::string::npos);
  CHECK(root.bench({"no_such_program"}).code == 2);
}

TEST_CASE("a program with a recording of its own is not compared with those of another") {
  Root root;
  write_file(root / "good.csv", table(125));
  const Run r = root.bench({"hopper", "--ncu", root / "good.csv", "--out", root / "out"});
  CHECK(r.code == 2);
  CHECK(r.err.find("hopper has a recording and known differences of its own") != std::string::npos);
  CHECK(r.err.find("ridge bench fidelity hopper") != std::string::npos);
  CHECK_FALSE(fs::exists(root / "out.md"));
}

TEST_CASE("a comparison of some programs leaves the repository's tables of all as they are") {
  Root root;
  const fs::path tables = fs::path(root.path) / "benchmarks/fidelity";
  fs::create_directories(tables / "h200");
  write_file((tables / "h200/ncu.csv").string(), table(125));
  write_file((tables / "h200.md").string(), "all programs\n");
  const Run r = root.bench({}, {{"CUDA_VISIBLE_DEVICES", "-1"}});
  INFO(r.out << r.err);
  CHECK(r.code == 0);
  CHECK(read_file((tables / "h200.md").string()) == "all programs\n");
}

TEST_CASE("a recording: counters, times, machine; metrics that ncu does not know are left out") {
  Root root;
  write_file(root / "table.csv", table(125));
  script(root / "nvcc",
         "case $1 in --version) echo 'nvcc 13'; exit;; esac\nfor a; do last=$a; done\n"
         "printf '#!/bin/sh\\necho \"{\\\\\"launch\\\\\": \\\\\"copy.1\\\\\", \\\\\"us\\\\\": 2.5}\"\\n' > $last\n"
         "chmod +x $last\n");
  script(root / "nvidia-smi", "echo 'a GPU'\n");
  script(
      root / "ncu",
      "case $1 in --version) echo 'ncu 1'; exit;; esac\ncase \"$*\" in *unknown__two*) echo \"==ERROR== Failed to find "
      "metric unknown__two.sum\"; exit 1;; esac\nwhile [ $1 != --log-file ]; do shift; done\ncp " +
          root.path + "/table.csv $2\n");
  std::map<std::string, std::string> tools = {{"PATH", root.path + ":" + std::getenv("PATH")}};
  Run r = root.bench({"--record", root / "rec"}, tools);
  INFO(r.out << r.err);
  REQUIRE(r.code == 0);
  CHECK(r.err.find("does not know unknown__two.sum") != std::string::npos);
  CHECK(read_file(root / "rec/times.jsonl").find("2.5") != std::string::npos);
  auto machine = nlohmann::json::parse(read_file(root / "rec/machine.json"));
  CHECK(machine["device"] == "a GPU");
  CHECK(machine["command"].get<std::string>().find(
            "--metrics l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum PROGRAM") != std::string::npos);
  Run compared = root.bench({"--ncu", root / "rec/ncu.csv", "--out", root / "out"});
  CHECK(compared.code == 0);
  auto j = nlohmann::json::parse(read_file(root / "out.json"));
  CHECK(j["about"]["recording"]["device"] == "a GPU");
  CHECK(j["launches"][0]["measured_us"] == 2.5);
}
