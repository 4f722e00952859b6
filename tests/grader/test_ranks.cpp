// Ranks that end badly: what is said, how soon, and that nothing stays behind.
#include <chrono>
#include <fstream>

#include "graded.hpp"
#include "support/catch.hpp"

using namespace ridge::test;

namespace {

constexpr const char* kLab = "06_ring_allreduce";

// The solution's ring, which does `what` on rank 1 first.
Graded ring_with(const std::string& what, double& seconds) {
  static const Folder home;
  std::string text = read_file(repository() + "/solutions/" + kLab + "/ring.cu");
  const std::string after = "  ncclCommCount(comm, &p);\n";
  const std::size_t at = text.find(after);
  REQUIRE(at != std::string::npos);
  text.insert(at + after.size(), "  if (r == 1) {" + what + "}\n");
  std::ofstream(home / "ring.cu") << "// replaces: ring.cu; on purpose\n" << text;
  const auto begin = std::chrono::steady_clock::now();
  Graded g = check(home, kLab,
                   {"--submission", repository() + "/solutions/" + kLab, "--replace", home / "ring.cu", "--task",
                    "ring", "--time-limit", "6"});
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 1);
  // After each run the judge looks for what its sandboxes left: a line in the report.
  CHECK(g.run.out.find("left behind") == std::string::npos);
  return g;
}

}  // namespace

TEST_CASE("a rank that crashes is named, and the others do not wait for it") {
  double seconds = 0;
  Graded g = ring_with("volatile int* nowhere = nullptr; *nowhere = 1;", seconds);
  const json failed = first_failed(g.task("ring"));
  CHECK(failed["name"] == "run");
  const std::string message = failed["message"];
  CHECK(message.find("rank 1 of 2: crashed: Segmentation fault") != std::string::npos);
  CHECK(seconds < 30);
}

TEST_CASE("a rank that hangs is named, within the time limit") {
  double seconds = 0;
  Graded g = ring_with("for (volatile int i = 0; i >= 0; i = 0) {}", seconds);
  const json failed = first_failed(g.task("ring"));
  const std::string name = failed["name"], message = failed["message"];
  INFO(name << ": " << message);
  // Whoever waits for it says so after some seconds; otherwise the limit ends it.
  CHECK((name == "deadlock" || name == "time-limit"));
  CHECK((message.find("rank 1 is in no call of NCCL") != std::string::npos ||
         message.find("rank 1 of 2: did not finish within 6 s") != std::string::npos));
  CHECK(seconds < 40);
}

TEST_CASE("a rank that leaves early is named") {
  double seconds = 0;
  Graded g = ring_with("return;", seconds);
  const json failed = first_failed(g.task("ring"));
  CHECK(failed["name"] == "deadlock");
  const std::string message = failed["message"];
  CHECK(message.find("(ring.cu:") != std::string::npos);
  CHECK(message.find("rank 1 is in no call of NCCL") != std::string::npos);
}
