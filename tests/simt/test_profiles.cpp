// Device profiles: every file can be read, and its numbers agree with each other.
#include "src/device/device_profile.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::simt;
using namespace ridge::test;

TEST_CASE("every built-in profile is complete and consistent") {
  const char* id = GENERATE("h200", "a100", "l40s", "rtx4090");
  INFO(id);
  DeviceProfile p;
  std::string error;
  bool good = parse_device_profile(built_in_profile(id), p, error);
  INFO(error);
  REQUIRE(good);
  CHECK(p.name.rfind("NVIDIA ", 0) == 0);
  // Bandwidth = bus width / 8 x 2 transfers a clock.
  CHECK(p.dram_bandwidth == Approx(p.memory_bus_bits / 8 * 2 * p.memory_clock_hz).epsilon(0.03));
  CHECK(p.shared_per_block_optin + p.shared_reserved_per_block == p.shared_per_sm);
  CHECK(p.dram_efficiency > 0.5);
  CHECK(p.dram_efficiency < 1);
  CHECK(p.pcie_pageable < p.pcie_pinned);
  CHECK(p.l2_bandwidth > p.dram_bandwidth);
  CHECK(p.graph_node_latency < p.kernel_latency);
  CHECK(p.l1_latency < p.l2_latency);
  CHECK(p.l2_latency < p.dram_latency);
}

TEST_CASE("what is wrong with a profile is said with its line") {
  DeviceProfile p;
  std::string error, text(built_in_profile("h200"));
  CHECK_FALSE(parse_device_profile(text + "warp_size = 32\n", p, error));
  CHECK(error.find("unknown key 'warp_size'") != std::string::npos);
  CHECK(error.rfind("line ", 0) == 0);
  CHECK_FALSE(parse_device_profile(text + "sms = many\n", p, error));
  CHECK(error.find("'many' is not a number") != std::string::npos);
  CHECK_FALSE(parse_device_profile("[device]\nsms = 1\n", p, error));
  CHECK(error.find("has no 'major'") != std::string::npos);
  CHECK(built_in_profile("abacus").empty());
}

TEST_CASE("RIDGE_DEVICE selects the device") {
  Folder scratch;
  const std::string source = scratch / "device.cu", program = scratch / "device";
  write_file(source, R"(
#include <cstdio>
int main() {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  std::printf("%d.%d %d %zu\n", p.major, p.minor, p.multiProcessorCount, p.sharedMemPerBlockOptin);
}
)");
  Run built = run({ridge_program(), "cc", source, "-o", program}, {{"RIDGE_ROOT", repository()}}, 60);
  INFO(built.out + built.err);
  REQUIRE(built.code == 0);
  CHECK(run({program}).out == "9.0 132 232448\n");
  CHECK(run({program}, {{"RIDGE_DEVICE", "a100"}}).out == "8.0 108 166912\n");
  CHECK(run({program}, {{"RIDGE_DEVICE", "rtx4090"}}).out == "8.9 128 101376\n");
  const std::string own = scratch / "own.toml";
  std::string text(built_in_profile("l40s"));
  text.replace(text.find("sms = 142"), 9, "sms = 7  ");
  write_file(own, text);
  CHECK(run({program}, {{"RIDGE_DEVICE", own}}).out == "8.9 7 101376\n");
  Run wrong = run({program}, {{"RIDGE_DEVICE", "abacus"}});
  CHECK(wrong.code == 3);
  CHECK(wrong.err.find("no device 'abacus'") != std::string::npos);
  CHECK(wrong.err.find("h200") != std::string::npos);
}
