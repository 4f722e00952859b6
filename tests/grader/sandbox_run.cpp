// ridge-sandbox-run: runs one program in the judge's sandbox, for tests and to measure what a sandbox costs.
//   ridge-sandbox-run worker|builder [--dir D] [--seconds S] [--memory MiB] [--fixed] PROGRAM ARGUMENTS...
//   ridge-sandbox-run layers          the layers of this machine, one a line
//   ridge-sandbox-run time [N]        milliseconds of a program that does nothing, with and without (median of N)
// Exit code: the program's; 128 + signal; 124 at the time limit; 125 where the sandbox does not start.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "grader/base/clock.hpp"
#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"
#include "grader/sandbox/process.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/sandbox/sandbox_layers.hpp"

using namespace ridge;

namespace {

int layers() {
  for (const auto& l : sandbox_report()) fmt::print("{} {} {}\n", l.on ? "yes" : "no", l.name, l.reason);
  return sandbox_complete(sandbox_report()) ? 0 : 1;
}

struct Spread {
  double median, low, high;
};

Spread milliseconds(int runs, const Sandbox* sandbox) {
  std::vector<std::string> argv = {sandbox_helper().string(), "--null"};
  std::vector<double> times;
  for (int i = 0; i < runs + 5; ++i) {
    double start = now();
    ProcessResult r = run_process(argv, {}, {}, sandbox);
    if (r.exit_code != 0) throw Error(Exit::environment, "the null program failed:\n" + r.output, "");
    if (i >= 5) times.push_back((now() - start) * 1e3);  // the first ones warm up
  }
  std::sort(times.begin(), times.end());
  auto at = [&](double q) { return times[static_cast<std::size_t>(q * static_cast<double>(times.size() - 1))]; };
  return {at(0.5), at(0.05), at(0.95)};
}

int time_it(int runs) {
  Sandbox worker = worker_sandbox(sandbox_helper(), false), builder = builder_sandbox({});
  builder.read_only.push_back(sandbox_helper());
  Spread plain = milliseconds(runs, nullptr);
  fmt::print("{:<10} {:6.2f} ms   ({:.2f} to {:.2f})\n", "plain", plain.median, plain.low, plain.high);
  for (auto& [name, sandbox] : {std::pair{"worker", &worker}, std::pair{"builder", &builder}}) {
    Spread s = milliseconds(runs, sandbox);
    fmt::print("{:<10} {:6.2f} ms   ({:.2f} to {:.2f})   overhead {:.2f} ms\n", name, s.median, s.low, s.high,
               s.median - plain.median);
  }
  return 0;
}

int run(std::vector<std::string> args) {
  bool builder = args.at(0) == "builder";
  fs::path dir;
  ProcessLimits limits;
  double memory = 0;
  bool fixed = false;
  std::size_t at = 1;
  for (; at < args.size() && args[at].rfind("--", 0) == 0; ++at) {
    if (args[at] == "--dir")
      dir = args.at(++at);
    else if (args[at] == "--seconds")
      limits.seconds = std::atof(args.at(++at).c_str());
    else if (args[at] == "--memory")
      memory = std::atof(args.at(++at).c_str());
    else if (args[at] == "--fixed")
      fixed = true;
  }
  std::vector<std::string> argv(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
  Sandbox sandbox = builder ? builder_sandbox(dir, {argv.at(0)}) : worker_sandbox(argv.at(0), false);
  sandbox.fixed_addresses = fixed;
  if (memory > 0) sandbox.memory_bytes = static_cast<std::uint64_t>(memory * 1048576);
  ProcessResult r = run_process(argv, {}, limits, &sandbox);
  std::fwrite(r.output.data(), 1, r.output.size(), stdout);
  if (std::string left = sandbox_leftovers(); !left.empty()) fmt::print("left behind: {}\n", left);
  if (!r.started) return 125;
  if (r.timed_out) return 124;
  return r.signal != 0 ? 128 + r.signal : r.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  try {
    if (!args.empty() && args[0] == "layers") return layers();
    if (!args.empty() && args[0] == "time") return time_it(args.size() > 1 ? std::atoi(args[1].c_str()) : 50);
    if (args.size() >= 2) return run(args);
  } catch (const std::exception& e) {
    fmt::print(stderr, "ridge-sandbox-run: {}\n", e.what());
    return 125;
  }
  return 2;
}
