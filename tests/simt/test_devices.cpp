// Several devices in one process: their number, their engines in virtual time, their caches and their rows. What the API
// says of them is checked by programs/devices_*.cu.
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "src/launch/time_model.hpp"
#include "src/stream/virtual_time.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::simt;
using namespace ridge::test;

namespace {

OperationPtr kernel(int device, double seconds) {
  auto op = std::make_shared<Operation>();
  op->work.kind = WorkKind::kernel;
  op->work.device = device;
  op->seconds = seconds;
  op->share = 1;
  op->done = true;
  return op;
}

OperationPtr copy(CopyPath path, int from, int to, double seconds) {
  OperationPtr op = kernel(from, seconds);
  op->work.kind = WorkKind::copy;
  op->work.path = path;
  op->work.from_device = from;
  op->work.to_device = to;
  return op;
}

// Built once for all cases: 1 MiB that two devices read.
constexpr const char* kProgram = R"(
#include <cstdio>
__global__ void sum(const float* in, float* out) {
  float s = 0;
  for (int i = threadIdx.x; i < 262144; i += blockDim.x) s += in[i];
  out[threadIdx.x] = s;
}
int main() {
  int devices = 0;
  cudaGetDeviceCount(&devices);
  float *in, *out[2];
  cudaMalloc(&in, 1 << 20);
  cudaMemset(in, 0, 1 << 20);
  cudaMalloc(&out[0], 4096);
  cudaDeviceSynchronize();
  sum<<<1, 1024>>>(in, out[0]);
  cudaDeviceSynchronize();
  sum<<<1, 1024>>>(in, out[0]);
  cudaDeviceSynchronize();
  if (devices > 1) {
    cudaSetDevice(1);
    cudaDeviceEnablePeerAccess(0, 0);
    cudaMalloc(&out[1], 4096);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    sum<<<1, 1024, 0, stream>>>(in, out[1]);
    cudaMemcpyPeerAsync(out[0], 0, out[1], 1, 4096, stream);
    cudaStreamSynchronize(stream);
  }
  std::printf("%d\n", devices);
}
)";

std::string build(const Folder& scratch) {
  const std::string source = scratch / "devices.cu", program = scratch / "devices";
  write_file(source, kProgram);
  Run built = run({ridge_program(), "cc", source, "-o", program}, {{"RIDGE_ROOT", repository()}}, 60);
  INFO(built.out + built.err);
  REQUIRE(built.code == 0);
  return program;
}

std::set<std::string> row_names(const std::string& trace) {
  std::set<std::string> names;
  const auto json = nlohmann::json::parse(read_file(trace));
  for (const auto& event : json["traceEvents"])
    if (event["ph"] == "M" && event["name"] == "thread_name") names.insert(event["args"]["name"].get<std::string>());
  return names;
}

}  // namespace

TEST_CASE("each device has its own chip") {
  VirtualTime time;
  auto zero = kernel(0, 10), one = kernel(1, 10), again = kernel(1, 10);
  for (auto& op : {zero, one, again}) time.issue("", op, 1);
  CHECK(zero->start == 1);
  CHECK(one->start == 2);
  CHECK(again->start == 12);
}

TEST_CASE("a copy between devices takes the sender's way out and the receiver's way in") {
  VirtualTime time;
  auto out = copy(CopyPath::device_to_host, 0, 0, 10), in = copy(CopyPath::host_to_device, 1, 1, 20);
  auto peer = copy(CopyPath::between_devices, 0, 1, 5), back = copy(CopyPath::between_devices, 1, 0, 5);
  auto in_later = copy(CopyPath::host_to_device, 1, 1, 1), out_later = copy(CopyPath::device_to_host, 0, 0, 1);
  for (auto& op : {out, in, peer, back, in_later, out_later}) time.issue("", op, 1);
  CHECK(in->start == 2);
  CHECK(peer->start == 22);       // until both sides are free
  CHECK(back->start == 4);        // the other direction is
  CHECK(in_later->start == 27);   // behind it on the receiver
  CHECK(out_later->start == 11);  // before it on the sender, where there is room
}

TEST_CASE("a full launch queue of one device does not hold the host for another") {
  VirtualTime time;
  for (int i = 0; i < 1024; ++i) time.issue("", kernel(0, 100), 0);
  time.issue("", kernel(1, 1), 0);
  CHECK(time.host() == 0);
  time.issue("", kernel(0, 1), 0);
  CHECK(time.host() == 100);
}

TEST_CASE("copies between devices have the profile's bandwidth, or that of PCIe") {
  DeviceProfile p;
  std::string error, text(built_in_profile("h200"));
  REQUIRE(parse_device_profile(text, p, error));
  const double n = 1e9;
  CHECK(copy_seconds(p, CopyPath::between_devices, 1000000000, false) == Approx(p.copy_latency + n / 365e9));
  DeviceProfile without;
  text.replace(text.find("peer_bandwidth"), 1, "#");
  REQUIRE(parse_device_profile(text, without, error));
  CHECK(copy_seconds(without, CopyPath::between_devices, 1000000000, false) ==
        Approx(p.copy_latency + n / p.pcie_pinned));
}

TEST_CASE("RIDGE_DEVICES is the number of devices") {
  Folder scratch;
  const std::string program = build(scratch);
  CHECK(run({program}).out == "1\n");
  CHECK(run({program}, {{"RIDGE_DEVICES", "2"}}).out == "2\n");
  CHECK(run({program}, {{"RIDGE_DEVICES", "64"}}).out == "64\n");
  for (const char* wrong : {"0", "65", "-1", "two", "2x", " "}) {
    Run r = run({program}, {{"RIDGE_DEVICES", wrong}});
    INFO(wrong);
    CHECK(r.code == 3);
    CHECK(r.err ==
          std::string("ridge: RIDGE_DEVICES: '") + wrong + "' is no number of devices\n  give a number from 1 to 64\n");
  }
}

TEST_CASE("each device has its own L2, and rows of its own where there are several") {
  Folder scratch;
  const std::string program = build(scratch), counters = scratch / "counters.json", trace = scratch / "trace.json";
  Run r = run({program}, {{"RIDGE_DEVICES", "2"}, {"RIDGE_COUNTERS", counters}, {"RIDGE_TRACE", trace}});
  REQUIRE(r.out + r.err == "2\n");
  std::vector<double> dram;
  const auto json = nlohmann::json::parse(read_file(counters));
  for (const auto& launch : json["launches"]) dram.push_back(launch["counters"]["ridge__bytes_dram.sum"].get<double>());
  REQUIRE(dram.size() == 3);
  CHECK(dram[0] >= 1 << 20);
  CHECK(dram[1] < 1 << 16);  // found in L2
  CHECK(dram[2] >= 1 << 20);
  CHECK(row_names(trace) == std::set<std::string>{"host", "default stream of device 0", "default stream of device 1",
                                                  "stream (stream 2 of device 1)"});
  CHECK(read_file(trace).find("copy between devices") != std::string::npos);

  r = run({program}, {{"RIDGE_TRACE", trace}});
  REQUIRE(r.out + r.err == "1\n");
  CHECK(row_names(trace) == std::set<std::string>{"host", "default stream"});
}
