// The time model: occupancy, roofs, and how operations are placed in virtual time.
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>

#include "src/launch/time_model.hpp"
#include "src/stream/virtual_time.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::simt;
using namespace ridge::test;

namespace {

DeviceProfile h200() {
  DeviceProfile p;
  std::string error;
  REQUIRE(parse_device_profile(built_in_profile("h200"), p, error));
  return p;
}

LaunchConfig launch(unsigned blocks, unsigned threads, std::size_t shared = 0) {
  return {"k", {blocks, 1, 1}, {threads, 1, 1}, shared};
}

double roof(const DeviceProfile& p, const LaunchConfig& config, const KernelCounters& c, const std::string& name) {
  for (const Roof& r : kernel_roofs(p, config, {}, c))
    if (r.name == name) return r.seconds;
  FAIL("no roof " << name);
  return 0;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-3 * std::abs(b); }

// An operation that has run and takes `seconds`.
OperationPtr operation(WorkKind kind, double seconds, std::vector<OperationPtr> after = {}, double share = 1) {
  auto op = std::make_shared<Operation>();
  op->work.kind = kind;
  op->work.path = CopyPath::host_to_device;
  op->seconds = seconds;
  op->share = share;
  op->after = std::move(after);
  op->done = true;
  return op;
}

}  // namespace

TEST_CASE("registers bound what a kernel has in flight") {
  const DeviceProfile p = h200();
  KernelCounters c;
  LaunchConfig config{"k", {132 * 8, 1, 1}, {256, 1, 1}, 0};
  AccessCount& loads = c.op[static_cast<std::size_t>(Op::global_load)];
  loads.requests = 132 * 8 * 8 * 64;  // 64 a warp, each waiting for the one before
  loads.sectors = loads.requests;
  loads.bytes = loads.requests * 32;
  const double few = kernel_seconds(p, config, {0, 32}, c), many = kernel_seconds(p, config, {0, 255}, c);
  // One block of 256 threads is resident in place of eight.
  CHECK(many > 4 * few);
  CHECK(kernel_seconds(p, config, {0, 0}, c) == few);
}

TEST_CASE("occupancy names the resource that limits it") {
  DeviceProfile p = h200();
  Occupancy o = theoretical_occupancy(p, 256, 0);
  CHECK(o.blocks_per_sm == 8);
  CHECK(o.warps_per_sm == 64);
  CHECK(o.share == 1.0);
  CHECK(std::string(o.limited_by) == "warps");
  o = theoretical_occupancy(p, 32, 0);
  CHECK(o.blocks_per_sm == 32);
  CHECK(o.share == 0.5);
  CHECK(std::string(o.limited_by) == "blocks");
  // 48 KiB and the block's own 1 KiB: 4 x 49 = 196 of 228 KiB.
  o = theoretical_occupancy(p, 128, 48 * 1024);
  CHECK(o.blocks_per_sm == 4);
  CHECK(std::string(o.limited_by) == "shared memory");
  // 128 registers x 32 lanes: 4 warps a scheduler, 16 an SM.
  o = theoretical_occupancy(p, 256, 0, 128);
  CHECK(o.blocks_per_sm == 2);
  CHECK(std::string(o.limited_by) == "registers");
  // Registers are given in portions of 256 a warp: 33 count as 40.
  CHECK(theoretical_occupancy(p, 1024, 0, 33).blocks_per_sm == 1);
  CHECK(theoretical_occupancy(p, 1024, 0, 32).blocks_per_sm == 2);
  CHECK(theoretical_occupancy(p, 1024, 0, 200).blocks_per_sm == 1);  // it would spill
  CHECK(theoretical_occupancy(p, 1024, 228 * 1024).blocks_per_sm == 0);
  CHECK(std::string(theoretical_occupancy(p, 1024, 228 * 1024).limited_by) == "nothing fits");
}

// Recorded on a GPU by benchmarks/simt/occupancy.cu.
TEST_CASE("occupancy is what the CUDA runtime of a GPU says") {
  const std::string file = repository() + "/benchmarks/simt/occupancy.json";
  if (!std::filesystem::exists(file)) {
    WARN("skipped: benchmarks/simt/occupancy.json has not been recorded yet");
    return;
  }
  const DeviceProfile p = h200();
  const nlohmann::json recorded = nlohmann::json::parse(read_file(file));
  CHECK(recorded["triples"].size() >= 200);
  for (const auto& t : recorded["triples"]) {
    INFO(t.dump());
    CHECK(theoretical_occupancy(p, t[2], t[1], t[0]).blocks_per_sm == t[3].get<unsigned>());
  }
}

TEST_CASE("a streaming kernel takes its bytes over the achievable bandwidth") {
  DeviceProfile p = h200();
  KernelCounters c;
  c.l2_bytes = c.dram_bytes = std::uint64_t{8} << 30;
  auto config = launch(1 << 20, 256);
  double dram = static_cast<double>(c.dram_bytes) / (p.dram_bandwidth * p.dram_efficiency);
  double l2 = static_cast<double>(c.l2_bytes) / p.l2_bandwidth;
  CHECK(near(roof(p, config, c, "DRAM bandwidth"), dram));
  // Limits that lie close together cost more than the highest alone, and less than their sum.
  CHECK(kernel_seconds(p, config, {}, c) > dram);
  CHECK(kernel_seconds(p, config, {}, c) < dram + l2);
  c.dram_bytes /= 64;  // it fits the L2
  CHECK(near(roof(p, config, c, "L2 bandwidth"), l2));
  CHECK(kernel_seconds(p, config, {}, c) < 1.6 * l2);
}

// 132 blocks with 64 steps of 48 KiB each; `stages` of them are under way.
KernelCounters ring_of(std::uint64_t stages) {
  KernelCounters c;
  const std::uint64_t steps = 132 * 64, bytes = 48 << 10;
  c.async.loads = c.async.phases = steps;
  c.async.brought = c.async.bytes_read = c.l2_bytes = steps * bytes;
  c.async.under_way = stages * bytes;
  c.async.operations = c.async.operations_16bit = c.matrix = steps * 2 * 128 * 256 * 64;
  return c;
}

TEST_CASE("copies hide behind products where a ring has stages") {
  const DeviceProfile p = h200();
  const LaunchConfig config = launch(132, 384);
  const double copies = 64 * (p.l1_latency + p.l2_latency),
               products = 64.0 * 2 * 128 * 256 * 64 / p.matrix_flops / p.clock_hz;
  CHECK(near(roof(p, config, ring_of(1), "matrix units"), products));
  // One stage: each copy waits for the products before it. Four: a quarter of both is left.
  CHECK(near(roof(p, config, ring_of(1), "latency"), copies + products));
  CHECK(near(roof(p, config, ring_of(4), "latency"), (copies + products) / 4));
  CHECK(kernel_seconds(p, config, {}, ring_of(4)) < kernel_seconds(p, config, {}, ring_of(2)));
  CHECK(kernel_seconds(p, config, {}, ring_of(2)) < kernel_seconds(p, config, {}, ring_of(1)));
  // 48 KiB in passes of 128 bytes, and a bandwidth of L2 of their own.
  CHECK(near(roof(p, config, ring_of(4), "L1 wavefronts"), 64 * 384 / p.clock_hz));
  CHECK(near(roof(p, config, ring_of(4), "L2 bandwidth"), 132.0 * 64 * (48 << 10) / p.l2_bulk_bandwidth));
  // 32 bytes of k take as long in fp8, which does twice as many operations.
  KernelCounters fp8 = ring_of(4);
  fp8.async.operations = fp8.matrix = 2 * fp8.matrix;
  CHECK(near(roof(p, config, fp8, "matrix units"), products));
}

TEST_CASE("one block more than SMs costs compute a whole wave, and bandwidth nothing") {
  DeviceProfile p = h200();
  KernelCounters full, more;
  full.fp32 = 132 * 1000000;
  more.fp32 = 133 * 1000000;
  full.dram_bytes = full.l2_bytes = 132 * 1000000;
  more.dram_bytes = more.l2_bytes = 133 * 1000000;
  double one = roof(p, launch(132, 256), full, "fp32"), two = roof(p, launch(133, 256), more, "fp32");
  CHECK(near(two, 2 * one));
  CHECK(near(one, 1e6 / p.fp32_flops / p.clock_hz));
  double bytes = roof(p, launch(132, 256), full, "DRAM bandwidth");
  CHECK(near(roof(p, launch(133, 256), more, "DRAM bandwidth"), bytes * 133 / 132));
}

TEST_CASE("bank conflicts, atomics and dependent loads have roofs of their own") {
  DeviceProfile p = h200();
  KernelCounters c;
  auto& loads = c.op[static_cast<std::size_t>(Op::shared_load)];
  loads.requests = 132 * 1000;
  loads.wavefronts = 132 * 1000;
  double free_of_conflicts = roof(p, launch(132, 1024), c, "L1 wavefronts");
  loads.wavefronts *= 32;
  CHECK(near(roof(p, launch(132, 1024), c, "L1 wavefronts"), 32 * free_of_conflicts));

  KernelCounters a;
  a.op[static_cast<std::size_t>(Op::global_red)].sectors = 96000;
  a.atomics[0] = 1000;
  double spread = roof(p, launch(132, 1024), a, "atomics");
  a.atomics[0] = 96000;  // all at one line
  CHECK(roof(p, launch(132, 1024), a, "atomics") > 2 * spread);

  // One warp alone waits for its loads: longer where they miss.
  KernelCounters chain;
  auto& far = chain.op[static_cast<std::size_t>(Op::global_load)];
  far.requests = far.sectors = 4000;
  chain.l2_bytes = 1;
  double hits = roof(p, launch(1, 32), chain, "latency");
  chain.l2_bytes = chain.dram_bytes = 4000 * 32;
  double misses = roof(p, launch(1, 32), chain, "latency");
  CHECK(near(misses / hits, (p.l1_latency + p.l2_latency + p.dram_latency) / p.l1_latency));
}

TEST_CASE("loads that wait for each other take longer than loads that are under way together") {
  const DeviceProfile p = h200();
  KernelCounters c;
  AccessCount& loads = c.op[static_cast<std::size_t>(Op::global_load)];
  loads.requests = loads.sectors = 6000;
  c.l2_bytes = 6000 * 32;
  c.load_waits = 6000;
  const double apart = roof(p, launch(1, 32), c, "latency");
  c.load_waits = 2000;
  CHECK(near(roof(p, launch(1, 32), c, "latency"), apart / 3));
  // Waits in front of loads that no lane makes are none.
  c.load_waits = 9000;
  CHECK(near(roof(p, launch(1, 32), c, "latency"), apart));
  // Loads that no instrumented code makes: one after the other.
  c.load_waits = 0;
  CHECK(near(roof(p, launch(1, 32), c, "latency"), apart));
}

TEST_CASE("a request waits for the last of its lines") {
  const DeviceProfile p = h200();
  KernelCounters c;
  AccessCount& loads = c.op[static_cast<std::size_t>(Op::global_load)];
  loads.requests = c.load_waits = c.l1_lines = 1000;
  loads.sectors = 8000;
  c.l2_bytes = 8000 * 32;
  const double one = roof(p, launch(1, 32), c, "latency");
  c.l1_lines = 8000;
  CHECK(near(roof(p, launch(1, 32), c, "latency"), one + 1000 * p.l2_spread * std::log(8)));
  // All of them in L1.
  c.l2_bytes = 1;
  CHECK(near(roof(p, launch(1, 32), c, "latency"), 1000 * p.l1_latency));
}

TEST_CASE("resources are shared, and gaps are used") {
  Occupied gpu;
  CHECK(gpu.place(0, 10, 0.5) == 0);
  CHECK(gpu.place(0, 10, 0.5) == 0);  // beside the first
  CHECK(gpu.place(0, 5, 0.5) == 10);  // no room before
  CHECK(gpu.place(30, 5, 1) == 30);
  CHECK(gpu.place(0, 10, 1) == 15);     // between
  CHECK(gpu.place(0, 10, 0.25) == 35);  // too long for what is left before 30
  CHECK(gpu.place(0, 5, 0.25) == 10);   // beside the half that runs then
  gpu.forget_before(35);
  CHECK(gpu.place(36, 1, 0.75) == 36);
}

TEST_CASE("streams overlap where engines differ, and events hold them back") {
  VirtualTime time;
  auto in = operation(WorkKind::copy, 10), kernel = operation(WorkKind::kernel, 20),
       in2 = operation(WorkKind::copy, 10);
  auto after_both = operation(WorkKind::kernel, 1, {kernel, in2});
  for (auto& op : {in, kernel, in2, after_both}) time.issue("", op, 1);
  CHECK(in->start == 1);
  CHECK(kernel->start == 2);  // another engine
  CHECK(in2->start == 11);    // the same engine
  CHECK(after_both->start == 22);
  CHECK(time.host() == 4);  // the host went on at once
  time.wait("", {after_both}, 2);
  CHECK(time.host() == 25);
}

TEST_CASE("times do not depend on the order in which operations ran") {
  VirtualTime time;
  auto first = operation(WorkKind::kernel, 5), second = operation(WorkKind::kernel, 7);
  first->done = false;
  time.issue("", first, 1);
  time.issue("", second, 1);
  CHECK_FALSE(second->timed);
  first->done = true;
  time.advance();
  CHECK(first->start == 1);
  CHECK(second->start == 6);
}

namespace {

// A message between two ranks, as each of them sees it: it takes 1 from when both are there.
struct Meeting {
  std::mutex mutex;
  std::condition_variable told;
  std::optional<double> starts[2];
};
class Message : public Exchange {
 public:
  Message(Meeting& meeting, int side) : meeting_(meeting), side_(side) {}
  void announce(double start) override {
    std::lock_guard lock(meeting_.mutex);
    CHECK_FALSE(meeting_.starts[side_]);
    meeting_.starts[side_] = start;
    meeting_.told.notify_all();
  }
  bool heard(double& end) override {
    std::lock_guard lock(meeting_.mutex);
    if (!meeting_.starts[1 - side_]) return false;
    end = std::max(*meeting_.starts[0], *meeting_.starts[1]) + 1;
    return true;
  }
  void listen() override {
    std::unique_lock lock(meeting_.mutex);
    meeting_.told.wait_for(lock, std::chrono::milliseconds(10));
  }
  void begin() override {}
  bool advance() override { return true; }
  void stalled(double) override {}
  std::string name() const override { return "message"; }
  double seconds() const override { return 1; }
  std::size_t bytes() const override { return 0; }
  std::vector<Part> parts() const override { return {}; }
  std::vector<char> record() const override { return {}; }

 private:
  Meeting& meeting_;
  int side_;
};

OperationPtr message(Meeting& meeting, int side, std::vector<OperationPtr> after = {}) {
  auto op = operation(WorkKind::exchange, 1, std::move(after), 0);
  op->exchange = std::make_shared<Message>(meeting, side);
  return op;
}

}  // namespace

TEST_CASE("messages in several streams: ranks that issue them in another order do not wait for each other's word") {
  // Rank 0 sends a (stream 1), receives b twice (stream 2), and runs a kernel on what came; rank 1 sends b twice, then receives a.
  Meeting a, b, c;
  std::vector<OperationPtr> ops[2];
  std::vector<std::pair<double, double>> calls;
  auto kernel = operation(WorkKind::kernel, 10), wait = operation(WorkKind::wait, 0, {kernel});
  ops[0] = {kernel, message(a, 0, {kernel}), message(b, 0)};
  ops[0].push_back(message(c, 0, {ops[0][2], wait}));
  ops[0].insert(ops[0].begin() + 3, wait);
  ops[0].push_back(operation(WorkKind::kernel, 10, {ops[0][4]}));
  ops[0].push_back(operation(WorkKind::kernel, 5));
  ops[1] = {message(b, 1), operation(WorkKind::kernel, 20)};
  ops[1].push_back(message(c, 1, {ops[1][0], ops[1][1]}));
  ops[1].push_back(message(a, 1, {ops[1][2]}));
  std::vector<std::thread> ranks;
  const auto before = std::chrono::steady_clock::now();
  for (int r = 0; r < 2; ++r)
    ranks.emplace_back([&, r] {
      VirtualTime time([&, r](double begin, double end) {
        if (r == 0) calls.emplace_back(begin, end);
      });
      for (auto& op : ops[r]) time.issue("", op, 1);
      time.wait("", {ops[r].back()}, 2);
      CHECK_FALSE(ops[r][0]->timed);
      time.advance();
    });
  for (auto& rank : ranks) rank.join();
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(2));  // nobody gave up
  CHECK(kernel->start == 1);
  CHECK(ops[0][2]->end == 4);   // b: issued at 3 and 1
  CHECK(ops[0][4]->end == 23);  // c: rank 1's kernel ends at 22
  CHECK(ops[0][5]->start == 23);
  CHECK(ops[0][6]->start == 11);  // in the gap before
  CHECK(ops[1][3]->end == 24);    // a, on both
  CHECK(ops[0][1]->end == 24);
  CHECK(calls.size() == ops[0].size() + 1);
  CHECK(calls.back() == std::pair<double, double>{7, 18});
}

TEST_CASE("a full launch queue holds the host") {
  VirtualTime time;
  std::vector<OperationPtr> ops;
  for (int i = 0; i < 1025; ++i) {
    ops.push_back(operation(WorkKind::kernel, 100, i == 0 ? std::vector<OperationPtr>{} : std::vector{ops.back()}));
    time.issue("", ops.back(), 0.01);
  }
  CHECK(near(time.host(), 100.02));  // the first kernel, from 0.01 to 100.01, had to end
}

namespace {

const char* const kTimed = R"(
#include <cstdio>
__global__ void copy(float* to, const float* from, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}
int main() {
  const int n = 1 << 16;
  float *a, *b, *host;
  cudaMalloc(&a, n * 4); cudaMalloc(&b, n * 4); cudaMallocHost(&host, n * 4);
  for (int i = 0; i < n; ++i) host[i] = 1;
  cudaStream_t one, two;
  cudaStreamCreate(&one); cudaStreamCreate(&two);
  cudaEvent_t start, middle, stop;
  cudaEventCreate(&start); cudaEventCreate(&middle); cudaEventCreate(&stop);
  cudaEventRecord(start, one);
  cudaMemcpyAsync(a, host, n * 4, cudaMemcpyHostToDevice, one);
  cudaEventRecord(middle, one);
  cudaStreamWaitEvent(two, middle, 0);
  copy<<<n / 256, 256, 0, two>>>(b, a, n);
  copy<<<4, 256, 0, one>>>(a + n / 2, a, 1024);
  cudaEventRecord(stop, two);
  cudaStreamSynchronize(two);
  cudaDeviceSynchronize();
  float first, all;
  cudaEventElapsedTime(&first, start, middle); cudaEventElapsedTime(&all, start, stop);
  std::printf("%.9g %.9g\n", first, all);
}
)";

}  // namespace

namespace {

// Walks of 16 hops, two loads a hop; the same loads, the second's address from the first; and one load behind a barrier.
const char* const kWalks = R"(
#include <cstdio>
__global__ void walk(const int* next, const float* rows, float* sums) {
  int node = threadIdx.x;
  float sum = 0;
  for (int hop = 0; hop < 16; ++hop) {
    const int then = next[node];
    sum += rows[node];
    node = then;
  }
  sums[threadIdx.x] = sum;
}
__global__ void indirect(const int* next, const float* rows, float* sums) {
  float sum = 0;
  for (int hop = 0; hop < 16; ++hop) sum += rows[next[32 * hop + threadIdx.x]];
  sums[threadIdx.x] = sum;
}
__global__ void tiles(const float* rows, float* sums) {
  __shared__ float tile[32];
  float sum = 0;
  for (int k = 0; k < 16; ++k) {
    tile[threadIdx.x] = rows[32 * k + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += tile[i];
    __syncthreads();
  }
  sums[threadIdx.x] = sum;
}
int main() {
  int* next; float *rows, *sums;
  cudaMalloc(&next, 4096); cudaMalloc(&rows, 4096); cudaMalloc(&sums, 4096);
  cudaMemset(next, 0, 4096); cudaMemset(rows, 0, 4096);
  walk<<<1, 32>>>(next, rows, sums);
  indirect<<<1, 32>>>(next, rows, sums);
  tiles<<<1, 32>>>(rows, sums);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
)";

}  // namespace

TEST_CASE("waits for loads are those of the code, with both compilers") {
  Folder scratch;
  const std::string source = scratch / "walks.cu", program = scratch / "walks", counters = scratch / "walks.json";
  write_file(source, kWalks);
  for (const char* compiler : {"clang++", "g++"}) {
    INFO(compiler);
    Run built = run({ridge_program(), "cc", source, "-o", program},
                    {{"RIDGE_ROOT", repository()}, {"RIDGE_CXX", compiler}}, 60);
    if (built.code == 3) {
      WARN("skipped: there is no " << compiler);
      continue;
    }
    INFO(built.out + built.err);
    REQUIRE(built.code == 0);
    REQUIRE(run({program}, {{"RIDGE_COUNTERS", counters}}, 20).code == 0);
    const nlohmann::json launches = nlohmann::json::parse(read_file(counters))["launches"];
    auto waits = [&](int n) { return launches[n]["counters"]["ridge__load_waits.sum"].get<int>(); };
    CHECK(waits(0) == 16);
    CHECK(waits(1) == 32);
    CHECK(waits(2) == 16);
  }
}

TEST_CASE("a program's times are the same in every run, and its timeline can be read") {
  Folder scratch;
  const std::string source = scratch / "timed.cu", program = scratch / "timed", trace = scratch / "trace.json";
  write_file(source, kTimed);
  Run built = run({ridge_program(), "cc", source, "-o", program}, {{"RIDGE_ROOT", repository()}}, 60);
  INFO(built.out + built.err);
  REQUIRE(built.code == 0);
  // Another order of the two kernels leaves other data in L2; the number of OS threads changes nothing.
  std::set<std::string> seen;
  for (const char* order : {"forward", "2", "77", "1"}) {
    seen.clear();
    for (const char* workers : {"1", "2", "3"}) {
      Run r = run({program}, {{"RIDGE_LANE_ORDER", order}, {"RIDGE_WORKERS", workers}}, 20);
      REQUIRE(r.code == 0);
      seen.insert(r.out);
    }
    INFO(order);
    CHECK(seen.size() == 1);
  }
  double first = std::stod(*seen.begin());
  CHECK(first > 262144 / 56e9 * 1e3);  // 256 KiB over PCIe
  Run slower = run({program}, {{"RIDGE_DEVICE", "a100"}}, 20);
  CHECK(std::stod(slower.out) > first);

  Run traced = run({program}, {{"RIDGE_TRACE", trace}}, 20);
  CHECK(traced.out == *seen.begin());
  auto json = nlohmann::json::parse(read_file(trace));
  std::multiset<std::string> phases;
  bool kernel_found = false;
  double copy_end = 0, kernel_start = 0;
  for (const auto& event : json["traceEvents"]) {
    phases.insert(event["ph"].get<std::string>());
    if (event["ph"] != "X") continue;
    CHECK(event["dur"].get<double>() >= 0);
    if (event["cat"] == "copy") copy_end = event["ts"].get<double>() + event["dur"].get<double>();
    if (event["name"] == "copy" && event["args"]["grid"] == "256x1x1") {
      kernel_found = true;
      kernel_start = event["ts"].get<double>();
    }
  }
  CHECK(kernel_found);
  CHECK(kernel_start >= copy_end - 1e-3);
  CHECK(phases.count("s") == 1);  // the copy's event holds the other stream's kernel
  CHECK(phases.count("f") == 1);
  CHECK(phases.count("M") >= 4);
}
