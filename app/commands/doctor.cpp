// ridge doctor says what this machine can run, how it is wired, and how to mend what is wrong.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "app/cli/command.hpp"
#include "grader/base/error.hpp"
#include "grader/build/build.hpp"
#include "grader/compile/compile.hpp"
#include "grader/machine/device.hpp"
#include "grader/machine/link_rates.hpp"
#include "grader/machine/toolkit.hpp"
#include "grader/machine/topology/topology_report.hpp"
#include "grader/machine/versions.hpp"
#include "grader/result/report.hpp"
#include "grader/sandbox/process.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/worker/link_check.hpp"

namespace ridge {

namespace {

void show(const Fact& fact) {
  struct Look {
    const char *word, *colour;
  };
  static constexpr Look kLooks[] = {{"yes", "\033[32m"}, {"no", "\033[33m"}, {"note", "\033[33m"}, {"--", ""}};
  const Look& look = kLooks[static_cast<int>(fact.mark)];
  const bool colour = use_colour(stdout) && *look.colour != 0;
  fmt::print("  {}{:<4}{} {:<22} {}\n", colour ? look.colour : "", look.word, colour ? "\033[0m" : "", fact.what,
             fact.detail);
}

void show(const Facts& facts) {
  for (const Fact& f : facts) show(f);
}

void line(bool ok, const std::string& what, const std::string& detail) {
  show(Fact{ok ? Mark::yes : Mark::no, what, detail});
}

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

struct DoctorArguments {
  bool links = false;
  double measure = 0;  // seconds; if set, only measures the links, in the process that check_links starts
};

int examine_machine(const DoctorArguments& arguments) {
  if (arguments.measure > 0) {
    measure_links(arguments.measure);
    return 0;
  }
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

  const Topology topology = with_driver(read_topology(), read_nvml_view());
  fmt::print("\nTopology\n");
  show(topology_facts(topology));
  for (const std::string& row : topology_matrix(topology)) fmt::print("       {}\n", row);
  fmt::print("\nVersions and settings\n");
  show(version_facts(read_versions()));

  fmt::print("\nOther parts\n");
  bool viz = fs::exists(beside("ridge-viz"));
  line(viz, "visualizer",
       viz          ? ""
       : prebuilt() ? "not in this prebuilt Ridge"
                    : "not built; `./ridge viz` installs what it needs");
  const char* display = std::getenv("DISPLAY");
  line(display != nullptr, "display",
       display != nullptr ? display : "none; `ridge viz --screenshot F.png` works under xvfb-run");
  bool agent = fs::exists(beside("ridge-agent"));
  line(agent, "rank agents (MPI)",
       agent        ? ""
       : prebuilt() ? "not in this prebuilt Ridge"
                    : "not built; install Open MPI");
  bool slurm = !find_program({"sbatch"}).empty();
  line(slurm, "Slurm", slurm ? "" : "no sbatch here");
  bool disk = writable(results_dir(), why);
  line(disk, "results folder", why);
  bool links = true;
  if (arguments.links) {
    fmt::print("\nLinks\n");
    std::fflush(stdout);
    const Facts facts = check_links(topology);
    show(facts);
    links = std::none_of(facts.begin(), facts.end(), [](const Fact& f) { return f.mark == Mark::no; });
  }
  fmt::print("\n{}\n",
             fit && disk && libraries ? "Every lab can run here." : "Something that labs need is missing, see above.");
  if (!links) fmt::print("A link failed or is suspect, see above.\n");
  return static_cast<int>(fit && disk && libraries && links ? Exit::passed : Exit::environment);
}

}  // namespace

void add_doctor(Commands& ridge) {
  CLI::App* command = ridge.add("doctor", "What this machine can run, and what to do about the rest",
                                "  ridge doctor\n  ridge doctor --links");
  auto a = std::make_shared<DoctorArguments>();
  command->add_flag("--links", a->links, "Also copy over every link, for 10 s at most, and name the slow ones");
  command->add_option("--measure-links", a->measure, "For ridge itself")->group("");
  ridge.set_action(command, [a] { return examine_machine(*a); });
}

}  // namespace ridge
