// How fast and small the timeline is: writes traces of several shapes, loads them, builds frames at several zooms.
//
//   bench_timeline write SHAPE EVENTS FILE     SHAPE: few (8 lanes), many (2000 lanes), nested (32 lanes, 12 deep)
//   bench_timeline measure FILE                one line of JSON
#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "timeline/picture.hpp"
#include "timeline/reader/loader.hpp"

namespace {

using namespace ridge::viz::timeline;
using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Of this thread: what others do on the machine is not in it.
double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
double load_average() {
  double load = -1;
  return getloadavg(&load, 1) == 1 ? load : -1;
}

constexpr const char* kKernels[] = {"gemm_bf16_128x256_kernel",
                                    "layernorm_forward_kernel",
                                    "softmax_kernel",
                                    "adamw_kernel",
                                    "elementwise_kernel<float, 4>",
                                    "ncclDevKernel_AllReduce_Sum_f32_RING_LL"};

int write(const std::string& shape, std::size_t events, const char* file) {
  std::FILE* f = std::fopen(file, "w");
  if (!f) return std::perror(file), 3;
  const int lanes = shape == "many" ? 2000 : shape == "nested" ? 32 : 8, depth = shape == "nested" ? 12 : 1;
  std::mt19937_64 random(42);
  std::vector<double> now(static_cast<std::size_t>(lanes), 0);
  fmt::print(f, "{{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n");
  for (std::size_t i = 0; i < events;) {
    const auto lane = static_cast<std::size_t>(random() % static_cast<std::uint64_t>(lanes));
    double& t = now[lane];
    t += static_cast<double>(random() % 4000) / 1000;
    double length = (static_cast<double>(random() % 20000) + 500) / 1000, at = t;
    t += length;
    for (int d = 0; d < depth && i < events; ++d, ++i) {
      const auto kind = random() % 6;
      const char* what = kKernels[kind];
      fmt::print(f,
                 "{}{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": {:.3f}, "
                 "\"dur\": {:.3f}, "
                 "\"args\": {{\"stream\": {}, \"correlation\": {}, ",
                 i == 0 ? "" : ",\n",
                 kind == 5   ? "communication"
                 : depth > 1 ? "cpu_op"
                             : "kernel",
                 what, lane / 8, lane % 8, at, length, lane % 8, i);
      if (kind == 5)
        fmt::print(f, "\"bytes\": {}}}}}", 1 << (10 + random() % 14));
      else
        fmt::print(f, "\"grid\": [{}, 1, 1], \"block\": [256, 1, 1]}}}}", random() % 1000);
      at += length * 0.05, length *= 0.9;
    }
  }
  fmt::print(f, "\n]}}\n");
  return std::fclose(f) == 0 ? 0 : 3;
}

// Bands as the view lays them out at 1920 x 1080: 13 pixels a row, as many as fit from the first on.
std::vector<Band> bands_of(const EventStore& s) {
  std::vector<Band> bands;
  for (std::uint32_t r = 0; r < s.rows.size() && bands.size() < 70; ++r) {
    const float y = 100 + 13.0F * static_cast<float>(bands.size());
    bands.push_back({r, y, y + 11});
  }
  return bands;
}

int measure(const char* file) {
  const auto start = Clock::now();
  const double cpu = cpu_seconds(), load = load_average();
  const EventStore s = load_traces({file});
  const double seconds_all = since(start), cpu_all = cpu_seconds() - cpu;
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto bands = bands_of(s);
  std::string zooms;
  for (double part : {1.0, 0.3, 0.1, 0.01, 0.001, 1e-5}) {
    Picture picture;
    const Time all = s.last - s.first, width = std::max<Time>(static_cast<Time>(part * static_cast<double>(all)), 1);
    std::vector<double> times;
    for (int i = 0; i < 40; ++i) {  // panning
      const Time from = s.first + (all - width) / 40 * i;
      const double frame = cpu_seconds();
      build_picture(s, bands, {from, from + width, 200, 1900}, picture);
      times.push_back(1e3 * (cpu_seconds() - frame));
    }
    const double first = times[0];
    std::sort(times.begin(), times.end());
    zooms += fmt::format(
        "{}{{\"part\": {}, \"ms_median\": {:.3f}, \"ms_worst\": {:.3f}, \"ms_first\": {:.3f}, \"pieces\": {}}}",
        zooms.empty() ? "" : ", ", part, times[times.size() / 2], times.back(), first, picture.pieces.size());
  }
  const double bytes = static_cast<double>(s.files[0].bytes);
  fmt::print(
      "{{\"events\": {}, \"lanes\": {}, \"rows\": {}, \"json_mb\": {:.1f}, \"seconds\": {:.3f}, \"mb_per_s\": {:.1f}, "
      "\"cpu_seconds\": {:.3f}, \"mb_per_cpu_second\": {:.1f}, \"load_average\": {:.1f}, "
      "\"bytes_per_event\": {:.2f}, "
      "\"peak_rss_mb\": {:.0f}, \"notes\": {}, \"frames\": [{}]}}\n",
      s.size(), s.lanes.size(), s.rows.size(), bytes / 1e6, seconds_all, bytes / 1e6 / seconds_all, cpu_all,
      bytes / 1e6 / cpu_all, load, static_cast<double>(s.bytes()) / static_cast<double>(s.size()),
      static_cast<double>(use.ru_maxrss) / 1e3, s.notes.size(), zooms);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "write" && argc == 5) return write(argv[2], std::strtoull(argv[3], nullptr, 10), argv[4]);
  if (what == "measure" && argc == 3) return measure(argv[2]);
  std::fprintf(stderr, "bench_timeline write few|many|nested EVENTS FILE\nbench_timeline measure FILE\n");
  return 2;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_timeline: %s\n", e.what());
  return 3;
}
