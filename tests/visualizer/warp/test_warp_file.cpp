// Recordings from the emulator: exact lanes and sectors, totals equal to the counters'; and files that nobody should trust.
#include <bit>
#include <nlohmann/json.hpp>
#include <random>

#include "support/catch.hpp"
#include "support/run.hpp"
#include "warp/warp_file.hpp"
#include "warp/warp_model.hpp"

using namespace ridge::viz;
using namespace ridge::test;
using nlohmann::json;

namespace {

const char* kProgram = R"(#include <cuda_runtime.h>
__global__ void strided(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[32 * i];
}
__global__ void column(const float* in, float* out) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[32 * threadIdx.y + threadIdx.x];
  __syncthreads();
  out[32 * threadIdx.y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void halves(const float* in, float* out) {
  float x = in[threadIdx.x];
  if (threadIdx.x % 32 < 8)
    x = x * x + out[threadIdx.x];
  out[threadIdx.x] = x;
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 1 << 17);
  cudaMalloc(&out, 1 << 14);
  cudaMemset(in, 0, 1 << 17);
  cudaMemset(out, 0, 1 << 14);
  strided<<<8, 128>>>(in, out);
  strided<<<8, 128>>>(in, out);
  column<<<1, dim3(32, 32)>>>(in, out);
  halves<<<1, 64>>>(in, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)";

struct Recording {
  std::string text;
  json counters;
};

const Recording& recording() {
  static const Recording made = [] {
    Folder scratch;
    write_file(scratch / "kernels.cu", kProgram);
    Run built = run({ridge_program(), "cc", scratch / "kernels.cu", "-o", scratch / "kernels"},
                    {{"RIDGE_ROOT", repository()}}, 60);
    INFO(built.out + built.err);
    REQUIRE(built.code == 0);
    std::string first;
    for (const char* workers : {"1", "3"}) {  // what is kept does not depend on the number of OS threads
      REQUIRE(
          run({scratch / "kernels"},
              {{"RIDGE_WARP", scratch / "w.json"}, {"RIDGE_COUNTERS", scratch / "c.json"}, {"RIDGE_WORKERS", workers}},
              20)
              .code == 0);
      if (first.empty()) first = read_file(scratch / "w.json");
      CHECK(read_file(scratch / "w.json") == first);
    }
    return Recording{first, json::parse(read_file(scratch / "c.json"))};
  }();
  return made;
}

}  // namespace

TEST_CASE("totals of each line are the counters', launches of a kernel together") {
  const WarpFile w = parse_warp(recording().text, "w.json");
  REQUIRE(w.kernels.size() == 3);
  CHECK(w.kernels[0].launches == 2);
  for (const WarpKernel& k : w.kernels) {
    INFO(k.kernel);
    WarpTotals all, counted;
    for (const WarpLine& l : k.lines) all.add(l.totals);
    for (const json& launch : recording().counters["launches"])
      if (launch["kernel"] == k.kernel)
        for (const json& l : launch["lines"]) {
          counted.requests += l["requests"].get<std::uint64_t>();
          counted.sectors += l["sectors"].get<std::uint64_t>();
          counted.ideal_sectors += l["ideal_sectors"].get<std::uint64_t>();
          counted.wavefronts += l["wavefronts"].get<std::uint64_t>();
          counted.conflicts += l["conflicts"].get<std::uint64_t>();
        }
    CHECK(all.requests == counted.requests);
    CHECK(all.sectors == counted.sectors);
    CHECK(all.ideal_sectors == counted.ideal_sectors);
    CHECK(all.wavefronts == counted.wavefronts);
    CHECK(all.conflicts == counted.conflicts);
  }
}

TEST_CASE("requests have exact lanes, addresses and counts") {
  const WarpFile w = parse_warp(recording().text, "w.json");
  for (const WarpKernel& k : w.kernels)
    for (const WarpRequest& r : k.requests) CHECK(consistent(r));
  const WarpKernel& strided = w.kernels[0];
  const auto load = std::find_if(strided.requests.begin(), strided.requests.end(),
                                 [](const auto& r) { return r.op == WarpOp::global_load && r.when.number == 0; });
  REQUIRE(load != strided.requests.end());
  CHECK(load->sectors == 32);
  CHECK(load->lanes == ~0u);
  for (unsigned l = 1; l < 32; ++l) CHECK(load->address[l] - load->address[l - 1] == 128);
  CHECK(element_name(strided, *load, 3) == "in[96]");
  CHECK(strided.lines.front().line == 4);
  const WarpKernel& column = w.kernels[1];
  std::size_t conflicted = 0;
  for (const WarpRequest& r : column.requests)
    if (r.op == WarpOp::shared_load) {
      CHECK(r.wavefronts == 32);
      CHECK(element_name(column, r, 1).starts_with("tile["));
      ++conflicted;
    }
  CHECK(conflicted > 0);
}

TEST_CASE("basic blocks have the lanes that ran them") {
  const WarpFile w = parse_warp(recording().text, "w.json");
  const WarpKernel& k = w.kernels[2];
  std::uint64_t partial = 0;
  for (const WarpBlock& b : k.blocks)
    if (b.partial > 0) {
      CHECK(b.line >= 14);
      CHECK(b.line <= 15);
      CHECK(b.partial == 2);
      CHECK(b.lanes == 16);
      for (const auto& s : b.samples) CHECK(s.lanes == 0xFF);
      partial += b.partial;
    }
  CHECK(partial == 2);
}

TEST_CASE("a broken file is refused with its name, and never more than that") {
  const std::string& good = recording().text;
  for (const char* text :
       {"", "[]", "{}", R"({"schema": "ridge.warp/2"})", R"({"schema": "ridge.warp/1"})",
        R"({"schema": "ridge.warp/1", "kernels": 3})", R"({"schema": "ridge.warp/1", "kernels": [3]})"})
    CHECK_THROWS_AS(parse_warp(text, "w.json"), WarpError);
  try {
    parse_warp("{", "some.json");
  } catch (const WarpError& e) {
    CHECK(std::string(e.what()).find("some.json") != std::string::npos);
  }
  std::mt19937 random(3);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    std::string text = good;
    for (int n = 0; n < 1 + i % 4; ++n) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 40);
          break;
        case 2:
          text.insert(at, "-99999999999999999999");
          break;
        default:
          text.resize(at + 1);
      }
    }
    try {
      const WarpFile w = parse_warp(text, "w.json");
      for (const WarpKernel& k : w.kernels)
        for (const WarpRequest& r : k.requests) {
          (void)explain(r);
          for (unsigned l = 0; l < 32; ++l) (void)element_name(k, r, l);
        }
    } catch (const WarpError&) {
      ++refused;
    }
  }
  CHECK(refused > 100);
}
