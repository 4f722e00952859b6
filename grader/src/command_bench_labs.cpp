// ridge bench: the reference solution of every lab in turn with the vendor's way, to benchmarks/<device>/.
#include <fmt/format.h>

#include <cctype>

#include "bench_page.hpp"
#include "calibrate.hpp"
#include "commands.hpp"
#include "error.hpp"
#include "judge.hpp"
#include "report.hpp"
#include "ridge_version.hpp"
#include "text.hpp"

namespace ridge {

std::string folder_of(const std::string& device) {
  if (device == "SIMT emulator") return "emulator";
  std::string name;
  for (char c : device.rfind("NVIDIA ", 0) == 0 ? device.substr(7) : device)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0
                ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                : '_';
  return name;
}

bool bench_on_gpu(const BenchArguments& a) {
  std::string why;
  const bool gpu = a.backend != "cpu" && cuda_available(why) && !find_nvcc().empty();
  if (a.backend == "cuda" && !gpu)
    throw Error(Exit::environment, "backend cuda: " + (why.empty() ? "no nvcc was found" : why), "use --backend cpu");
  return gpu;
}

int command_bench_labs(const BenchArguments& a) {
  const bool gpu = bench_on_gpu(a);
  Progress progress(true);
  JudgeOptions o;
  o.backend = gpu ? lab::Backend::cuda : lab::Backend::cpu;
  o.mode = a.check ? lab::Mode::check : lab::Mode::grade;
  o.progress = [&](const std::string& text) { progress.show(text); };
  if (gpu) o.machine = calibration_for(true, o.progress);
  std::vector<Lab> labs = a.lab.empty() ? load_labs() : std::vector<Lab>{find_lab(a.lab)};
  fs::path dir = a.out;
  int code = 0;
  for (const Lab& lab : labs) {
    if (!lab.has_backend(gpu ? "cuda" : "cpu")) {
      fmt::print("{:<22} skipped: it is not judged on this backend\n", lab.name);
      continue;
    }
    if (gpu && cuda_devices() < lab.least_gpus()) {
      fmt::print("{:<22} skipped: it needs {} GPUs or more\n", lab.name, lab.least_gpus());
      continue;
    }
    o.submission.dir = root_dir() / "solutions" / lab.name;
    if (!fs::exists(o.submission.dir)) {
      fmt::print("{:<22} skipped: no reference solution here\n", lab.name);
      continue;
    }
    Result r = judge(lab, o);
    r.submission_path = "solutions/" + lab.name;  // wherever the repository lies
    progress.clear();
    if (dir.empty()) dir = root_dir() / "benchmarks" / folder_of(r.device["name"]);
    if (r.outcome != "passed") {
      code = static_cast<int>(Exit::failed);
      fmt::print("{}", report(r, use_colour(stdout)));
      if (!r.build_output.empty()) fmt::print("{}\n", r.build_output);
    }
    write_durably(dir / (lab.name + ".json"), to_json(r));
    fmt::print("{:<22} {}   {:.1f} s\n", lab.name, points_text(r.points, r.max), r.build_seconds + r.run_seconds);
  }
  if (dir.empty() || !fs::exists(dir))
    throw Error(Exit::usage, "there is no reference solution to measure", "solutions/ holds them");
  Calibration published = o.machine;
  published.uuid.clear();  // one card among its like
  if (published.known()) write_durably(dir / "calibration.json", calibration_text(published));
  write_durably(dir / "README.md", bench_page(dir));
  fmt::print("written: {}\n", shown(dir / "README.md"));
  return code;
}

}  // namespace ridge
