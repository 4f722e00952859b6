// Programs built with `ridge cc` as people do. programs/*.cu check themselves; broken/*.cu say in their first line what
// must be reported; programs/multi/*/ are programs of several files, whose build.txt holds the arguments of `ridge cc`
// (nvcc needs -rdc=true besides). Adding a file or folder there adds a test.
#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/run.hpp"

namespace fs = std::filesystem;
using namespace ridge::test;

namespace {

using Environment = std::map<std::string, std::string>;

fs::path folder(const char* name) { return fs::path(repository()) / "tests/simt" / name; }

std::vector<fs::path> sources(const char* name) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder(name)))
    if (entry.path().extension() == ".cu") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  REQUIRE(!found.empty());
  return found;
}

void build(const fs::path& source, const std::string& program, Environment env = {}) {
  env["RIDGE_ROOT"] = repository();
  Run r = run({ridge_program(), "cc", source.string(), "-o", program}, env, 60);
  INFO(r.out + r.err);
  REQUIRE(r.code == 0);
}

// A number from RIDGE_COUNTERS: one line a launch.
long counter(const std::string& json, const std::string& kernel, const std::string& name) {
  auto at = json.find("{\"kernel\": \"" + kernel + "\"");
  if (at == std::string::npos) return -1;
  std::string line = json.substr(at, json.find('\n', at) - at);
  at = line.find("\"" + name + "\": ");
  return at == std::string::npos ? -1 : std::stol(line.substr(at + name.size() + 4));
}

}  // namespace

TEST_CASE("programs run right in every lane order") {
  Folder scratch;
  const std::string program = scratch / "program";
  for (const fs::path& source : sources("programs")) {
    build(source, program);
    for (const char* order : {"forward", "1", "2", "12345"}) {
      Run r = run({program}, {{"RIDGE_LANE_ORDER", order}}, 20);
      INFO(source.filename().string() << ", lane order " << order << "\n" << r.out << r.err);
      CHECK(r.code == 0);
      CHECK(r.out == "ok\n");
    }
  }
}

TEST_CASE("programs of several files build and run right") {
  Folder scratch;
  const std::string program = scratch / "program";
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder("programs") / "multi")) {
    std::vector<std::string> command = {ridge_program(), "cc"};
    std::istringstream words(read_file((entry.path() / "build.txt").string()));
    for (std::string word; words >> word;) command.push_back(word);
    command.insert(command.end(), {"-o", program});
    INFO(entry.path().filename().string());
    Run built = run(command, {{"RIDGE_ROOT", repository()}}, 120, entry.path().string());
    INFO(built.out + built.err);
    REQUIRE(built.code == 0);
    for (const char* order : {"forward", "1", "2", "12345"}) {
      Run r = run({program}, {{"RIDGE_LANE_ORDER", order}}, 20);
      INFO("lane order " << order << "\n" << r.out << r.err);
      CHECK(r.code == 0);
      CHECK(r.out == "ok\n");
    }
    ++count;
  }
  CHECK(count > 0);
}

TEST_CASE("broken programs hear what is wrong, and where") {
  Folder scratch;
  const std::string program = scratch / "program";
  for (const fs::path& source : sources("broken")) {
    // "// expects: KIND at LINE, ERROR" or "// expects: wrong result"
    std::string first = read_file(source.string());
    first.resize(first.find('\n'));
    const std::string head = "// expects: ";
    INFO(source.filename().string() << ": " << first);
    REQUIRE(first.rfind(head, 0) == 0);
    std::string wanted = first.substr(head.size());

    build(source, program);
    // One worker, so that what a block leaves behind is where the next one looks.
    Run r = run({program}, {{"RIDGE_LANE_ORDER", "1"}, {"RIDGE_WORKERS", "1"}}, 20);
    INFO(r.out + r.err);
    CHECK(r.code == 1);
    if (wanted == "wrong result") {
      CHECK(r.out == "wrong result\n");
      CHECK(r.err.empty());
      continue;
    }
    auto at = wanted.rfind(" at "), comma = wanted.rfind(", ");
    REQUIRE((at != std::string::npos && comma != std::string::npos && at < comma));
    std::string line = wanted.substr(at + 4, comma - at - 4);
    CHECK(r.out == wanted.substr(comma + 2) + "\n");
    CHECK(r.err.rfind("ridge: " + wanted.substr(0, at) + " in kernel ", 0) == 0);
    CHECK(r.err.find("\n  at " + source.filename().string() + ":" + line + ", block (") != std::string::npos);
  }
}

TEST_CASE("counters are exact, and the same for every order, worker count and compiler") {
  const char* compiler = GENERATE("clang++", "g++");
  INFO(compiler);
  Folder scratch;
  const std::string program = scratch / "program", file = scratch / "counters.json";
  build(folder("programs") / "access_patterns.cu", program, {{"RIDGE_CXX", compiler}});
  std::string json;
  for (Environment env : {Environment{}, Environment{{"RIDGE_LANE_ORDER", "forward"}, {"RIDGE_WORKERS", "1"}},
                          Environment{{"RIDGE_LANE_ORDER", "1"}, {"RIDGE_WORKERS", "4"}},
                          Environment{{"RIDGE_LANE_ORDER", "2"}}, Environment{{"RIDGE_LANE_ORDER", "12345"}}}) {
    env["RIDGE_COUNTERS"] = file;
    fs::remove(file);
    Run r = run({program}, env, 20);
    REQUIRE(r.out + r.err == "ok\n");
    std::string text = read_file(file);
    if (json.empty()) json = text;
    CHECK(text == json);
  }

  const std::string ld = "global_op_ld.sum", st = "global_op_st.sum", requests = "l1tex__t_requests_pipe_lsu_mem_",
                    sectors = "l1tex__t_sectors_pipe_lsu_mem_", ideal = "ridge__ideal_sectors_";
  struct Global {
    const char* kernel;
    long load_requests, load_sectors, ideal, store_requests, store_sectors;
  };
  for (const Global& g : {Global{"coalesced", 32, 128, 128, 32, 128}, Global{"misaligned", 32, 160, 128, 32, 128},
                          Global{"strided", 32, 1024, 128, 32, 128}, Global{"vector", 32, 512, 512, 32, 512},
                          Global{"triangle", 32, 80, 80, 1, 4}, Global{"odd_lanes", 1, 4, 2, 1, 4},
                          Global{"transpose<32>", 32, 128, 128, 32, 128}}) {
    INFO(g.kernel);
    CHECK(counter(json, g.kernel, requests + ld) == g.load_requests);
    CHECK(counter(json, g.kernel, sectors + ld) == g.load_sectors);
    CHECK(counter(json, g.kernel, ideal + ld) == g.ideal);
    CHECK(counter(json, g.kernel, requests + st) == g.store_requests);
    CHECK(counter(json, g.kernel, sectors + st) == g.store_sectors);
  }
  const std::string wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_",
                    conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_";
  CHECK(counter(json, "transpose<32>", "smsp__sass_inst_executed_op_shared_ld.sum") == 32);
  CHECK(counter(json, "transpose<32>", wavefronts + "ld.sum") == 1024);
  CHECK(counter(json, "transpose<32>", conflicts + "ld.sum") == 992);
  CHECK(counter(json, "transpose<32>", conflicts + "st.sum") == 0);
  CHECK(counter(json, "transpose<32>", "ridge__block_barriers.sum") == 1);
  CHECK(counter(json, "transpose<33>", wavefronts + "ld.sum") == 32);
  CHECK(counter(json, "transpose<33>", conflicts + "ld.sum") == 0);
}
