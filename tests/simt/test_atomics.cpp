// An atomic whose old value nobody uses is a RED request, any other an ATOM, under both compilers.
#include <string>

#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::test;

TEST_CASE("unused atomics count as RED, used ones as ATOM") {
  const char* compiler = GENERATE("clang++", "g++");
  INFO(compiler);
  Folder scratch;
  const std::string program = scratch / "program", file = scratch / "counters.json";
  Run built =
      run({ridge_program(), "cc", std::string(repository()) + "/tests/simt/programs/atomic_requests.cu", "-o", program},
          {{"RIDGE_ROOT", repository()}, {"RIDGE_CXX", compiler}}, 60);
  INFO(built.out + built.err);
  REQUIRE(built.code == 0);
  REQUIRE(run({program}, {{"RIDGE_COUNTERS", file}}, 20).out == "ok\n");
  const std::string json = read_file(file);
  auto requests = [&](const std::string& kernel, const std::string& op) {
    auto at = json.find("{\"kernel\": \"" + kernel + "\"");
    REQUIRE(at != std::string::npos);
    const std::string name = "\"l1tex__t_requests_pipe_lsu_mem_global_op_" + op + ".sum\": ";
    at = json.find(name, at);
    REQUIRE(at != std::string::npos);
    return std::stol(json.substr(at + name.size()));
  };
  CHECK(requests("unused", "red") == 5);
  CHECK(requests("unused", "atom") == 0);
  CHECK(requests("used", "red") == 0);
  CHECK(requests("used", "atom") == 5);
  CHECK(requests("exchanges", "red") == 0);
  CHECK(requests("exchanges", "atom") == 2);
  CHECK(requests("polls", "red") + requests("polls", "atom") == 2);  // of two addresses
  CHECK(requests("load_and_add", "red") == 100);
  CHECK(requests("load_and_add", "ld") == 100);
}
