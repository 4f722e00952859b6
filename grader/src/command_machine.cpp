// doctor, viz and ranks: what this machine can do, and the programs beside ridge.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "build.hpp"
#include "commands.hpp"
#include "compile.hpp"
#include "device.hpp"
#include "error.hpp"
#include "process.hpp"
#include "report.hpp"
#include "sandbox.hpp"
#include "timeline_trace.hpp"

namespace ridge {

namespace {

void line(bool ok, const std::string& what, const std::string& detail) {
  bool colour = use_colour(stdout);
  fmt::print("  {}{:<4}{} {:<22} {}\n", colour ? (ok ? "\033[32m" : "\033[33m") : "", ok ? "yes" : "no",
             colour ? "\033[0m" : "", what, detail);
}

std::string first_line(const ProcessResult& r) { return r.output.substr(0, r.output.find('\n')); }

bool writable(const fs::path& dir, std::string& why) {
  std::error_code ec;
  fs::create_directories(dir, ec);
  fs::path probe = dir / ".probe";
  std::ofstream out(probe);
  out << "x" << std::flush;
  bool ok = static_cast<bool>(out);
  out.close();
  fs::remove(probe, ec);
  why = ok ? shown(dir) : "cannot write " + shown(dir) + ": free some space, or set RIDGE_RESULTS";
  return ok;
}

fs::path beside(const char* program) { return build_dir() / "bin" / program; }

[[noreturn]] void become(const std::vector<std::string>& argv) {
  std::vector<char*> args;
  for (const auto& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvp(args[0], args.data());
  throw Error(Exit::environment, "cannot start " + argv[0], "run `./ridge build`");
}

}  // namespace

int command_doctor() {
  bool fit = true;
  fmt::print("Backend cpu (the SIMT emulator)\n");
  try {
    const Compiler& c = host_compiler();
    line(true, "compiler", c.name + (c.clang ? "" : " (clang counts closer to nvcc: apt-get install clang)"));
  } catch (const Error& e) {
    line(false, "compiler", std::string(e.what()) + "; " + e.advice);
    fit = false;
  }
  for (const char* tool : {"objcopy", "readelf", "addr2line"}) {
    bool ok = !find_program({tool}).empty();
    line(ok, tool, ok ? "" : "install binutils");
    fit = fit && ok;
  }
  bool libraries = fs::exists(build_dir() / "lib/libridge_worker.a");
  line(libraries, "emulator library", libraries ? "" : "run `./ridge build`");

  fmt::print("\nBackend cuda (a real GPU)\n");
  std::string why;
  bool driver = cuda_available(why);
  line(driver, "NVIDIA driver", driver ? make_cuda_device()->info().name : why);
  fs::path nvcc = find_nvcc();
  line(!nvcc.empty(), "nvcc", nvcc.empty() ? "not found on PATH, in CUDA_HOME or in /usr/local/cuda" : nvcc.string());

  fmt::print("\nSandbox for submissions\n");
  const auto& layers = sandbox_report();
  for (const auto& l : layers) line(l.on, l.name, l.on ? "" : (l.required ? "" : "(optional) ") + l.reason);
  if (!sandbox_complete(layers))
    fmt::print("  Results from here are marked unsandboxed. Grade only code that you trust.\n");

  fmt::print("\nOther parts\n");
  bool viz = fs::exists(beside("ridge-viz"));
  line(viz, "visualizer", viz ? "" : "not built; `./ridge viz` installs what it needs");
  const char* display = std::getenv("DISPLAY");
  line(display != nullptr, "display",
       display != nullptr ? display : "none; `ridge viz --screenshot F.png` works under xvfb-run");
  bool agent = fs::exists(beside("ridge-agent"));
  line(agent, "rank agents (MPI)",
       agent ? first_line(run_process({"mpirun", "--version"}, {}, {})) : "not built; install Open MPI");
  bool slurm = !find_program({"sbatch"}).empty();
  line(slurm, "Slurm", slurm ? "" : "no sbatch here");
  bool disk = writable(results_dir(), why);
  line(disk, "results folder", why);
  fmt::print("\n{}\n",
             fit && disk && libraries ? "Every lab can run here." : "Something that labs need is missing, see above.");
  return static_cast<int>(fit && disk && libraries ? Exit::passed : Exit::environment);
}

int command_viz(const std::vector<std::string>& args) {
  fs::path program = beside("ridge-viz");
  if (!fs::exists(program))
    throw Error(Exit::environment, "the visualizer is not built here",
                "start it through ./ridge viz, which installs what it needs");
  std::vector<std::string> argv;
  bool screenshot = false, file = false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].rfind("--", 0) == 0) {
      screenshot = screenshot || args[i].rfind("--screenshot", 0) == 0;
      if (args[i].find('=') == std::string::npos) ++i;  // its value
    } else {
      file = true;
    }
  }
  bool display = std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  if (screenshot && !display && !find_program({"xvfb-run"}).empty())
    argv = {"xvfb-run", "-a", "-s", "-screen 0 1920x1200x24"};
  argv.push_back(program.string());
  argv.insert(argv.end(), args.begin(), args.end());
  if (!file) {
    std::error_code ec;
    std::vector<std::string> newest;
    for (const auto& lab : fs::directory_iterator(results_dir(), ec)) {
      fs::path best;
      for (const auto& entry : fs::directory_iterator(lab.path(), ec))
        if (entry.path().extension() == ".json" && !is_trace(entry.path()) && entry.path().filename() > best.filename())
          best = entry.path();
      if (!best.empty()) newest.push_back(best.string());
    }
    if (newest.empty())
      throw Error(Exit::usage, "there are no results yet", "run `./ridge check 01`, or name a result file");
    argv.insert(argv.end(), newest.begin(), newest.end());
  }
  become(argv);
}

}  // namespace ridge
