// `ridge doctor` as people run it: here, and on a machine with GPUs that two stand-ins for the driver's libraries make up.
// What a real driver does differently, they do not show.
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "grader/graded.hpp"
#include "support/catch.hpp"

using namespace ridge::test;
namespace fs = std::filesystem;

namespace {

bool contains(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex(pattern));
}

Run doctor(const Folder& home, const std::map<std::string, std::string>& more, bool links = true) {
  auto env = environment(home);
  for (const auto& [name, value] : more) env[name] = value;
  std::vector<std::string> argv = {ridge_program(), "doctor"};
  if (links) argv.push_back("--links");
  return run(argv, env, 60);
}

// The stand-ins under the names that a driver's libraries have; empty where this ridge has no CUDA part to load them.
std::map<std::string, std::string> fake_driver(const Folder& home) {
#ifdef RIDGE_FAKE_CUDA
  fs::create_directories(home / "driver");
  fs::copy(RIDGE_FAKE_CUDA, home / "driver/libcuda.so.1");
  fs::copy(RIDGE_FAKE_NVML, home / "driver/libnvidia-ml.so.1");
  const char* path = std::getenv("LD_LIBRARY_PATH");
  return {{"LD_LIBRARY_PATH", home / "driver" + (path != nullptr ? ":" + std::string(path) : "")}};
#else
  WARN("not tested: this ridge was built without the CUDA Toolkit");
  return {};
#endif
}

}  // namespace

TEST_CASE("doctor --links on this machine") {
  Folder home;
  Run r = doctor(home, {});
  INFO(r.out + r.err);
  CHECK(r.seconds < 30);  // 10 for the links; the rest asks compilers and libraries
  CHECK(contains(r.out, "(yes +NUMA +\\d+ node|-- +NUMA )"));
  CHECK(contains(r.out, "GPUDirect RDMA"));
  CHECK(contains(r.out, "\nLinks\n"));
  if (contains(r.out, "no +NVIDIA driver")) {
    CHECK(contains(r.out, "-- +links of the GPUs +skipped: no GPU"));
    CHECK(r.code == 0);
  }
  // Ranks were measured, or it says why not.
  CHECK(contains(r.out,
                 "yes +ranks on this machine +\\d: round trip|(note|--) +ranks on this machine +(\\d of|skipped: )"));
  CHECK(fs::is_empty(home / "tmp"));
}

TEST_CASE("doctor without --links touches none") {
  Folder home;
  Run r = doctor(home, {}, false);
  CHECK(r.code == 0);
  CHECK_FALSE(contains(r.out, "\nLinks\n"));
}

TEST_CASE("doctor names what the environment changes, with no other exit code") {
  Folder home;
  Run r = doctor(home, {{"NCCL_P2P_DISABLE", "1"}, {"PMIX_RANK", "0"}}, false);
  INFO(r.out + r.err);
  CHECK(r.code == 0);
  CHECK(contains(r.out, "note +NCCL_P2P_DISABLE +NCCL_P2P_DISABLE=1: "));
  CHECK(contains(r.out, "no +inside an MPI rank +PMIX_RANK is set"));
}

TEST_CASE("doctor without Open MPI on PATH") {
  Folder home;
  Run r = doctor(home, {{"PATH", home / "nothing"}});
  INFO(r.out + r.err);
  CHECK(contains(r.out, "-- +ranks on this machine +skipped: "));
}

TEST_CASE("GPUs that a driver shows") {
  Folder home;
  auto driver = fake_driver(home);
  if (driver.empty()) return;
  driver["FAKE_SLOW"] = "0 2";
  Run r = doctor(home, driver);
  INFO(r.out + r.err);
  CHECK(contains(r.out, "yes +GPU 0 +Fake GPU, 0000:1a:00.0"));
  CHECK(contains(r.out, "GPU0 +X +NV18 +NV17 "));
  CHECK(contains(r.out, "no +NVLink of GPU 2 +17 active, other GPUs have 18"));
  CHECK(contains(r.out, "yes +NVLink +up to 18 a GPU of 26.6 GB/s each way, 478 GB/s together, through NVSwitch"));
  CHECK(contains(r.out, "the driver runs up to CUDA 13.0"));
  for (const char* kind : {"host to GPU", "GPU to host"})
    CHECK(contains(r.out, std::string("yes +") + kind + " +.* GB/s, median .*, 3 links"));
  CHECK(contains(r.out, "yes +GPU to GPU NV18 +.* 2 links"));  // both ways between GPUs 0 and 1
  CHECK(contains(r.out, "yes +GPU to GPU NV17 +.* 4 links"));
  CHECK(contains(r.out, "no +GPU 0 to GPU 2 +suspect: .* of the median"));
  CHECK(contains(r.out, "A link failed or is suspect"));
  CHECK(r.code == 3);
}

TEST_CASE("a copy that fails") {
  Folder home;
  auto driver = fake_driver(home);
  if (driver.empty()) return;
  driver["FAKE_FAILED"] = "h 1";
  Run r = doctor(home, driver);
  INFO(r.out + r.err);
  CHECK(contains(r.out, "no +host to GPU 1 +failed: CUDA_ERROR_ILLEGAL_ADDRESS"));
  CHECK(contains(r.out, "yes +GPU to host +.* 3 links"));  // the others are measured all the same
  CHECK(r.code == 3);
}

TEST_CASE("a copy that never ends") {
  Folder home;
  auto driver = fake_driver(home);
  if (driver.empty()) return;
  driver["FAKE_HUNG"] = "1 h";
  Run r = doctor(home, driver);
  INFO(r.out + r.err);
  CHECK(r.seconds < 30);
  CHECK(contains(r.out, "no +GPU 1 to host +suspect: its copies did not end in time"));
  CHECK(contains(r.out, "ranks on this machine"));  // still looked at
  CHECK(r.code == 3);
}

#ifdef RIDGE_FAKE_CUDA
TEST_CASE("a lab of several ranks takes the emulator where there are too few GPUs") {
  const Folder home;
  auto environment = fake_driver(home);
  environment["FAKE_GPUS"] = "1";
  environment["RIDGE_WORK"] = home / "work";
  const Run one = run({ridge_program(), "check", "06", "--task", "staged", "--submission",
                       repository() + "/solutions/06_ring_allreduce"},
                      environment, 120);
  INFO(one.out + one.err);
  CHECK(one.code == 0);
  CHECK(contains(one.out, "on SIMT emulator"));
}
#endif
