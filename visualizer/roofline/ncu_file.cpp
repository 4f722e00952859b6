#include "roofline/ncu_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/ncu_csv.hpp"
#include "kit/files.hpp"

namespace ridge::viz {
namespace {

constexpr std::size_t kMostKernels = 24;  // the kernels that took longest

using Number = std::optional<double>;

// A metric's sum over the launch. Where ncu kept only the rate per second or per cycle, as its roofline sections do,
// the sum follows from it.
Number sum_of(const NcuLaunch& launch, const std::string& name, double seconds) {
  const auto find = [&](const std::string& full) -> Number {
    const auto found = launch.metrics.find(full);
    if (found == launch.metrics.end() || !(found->second >= 0)) return {};
    return found->second;
  };
  if (const auto sum = find(name + ".sum")) return sum;
  if (const auto rate = find(name + ".sum.per_second"); rate && seconds > 0) return *rate * seconds;
  const auto cycles = find("smsp__cycles_elapsed.avg.per_second");
  if (const auto rate = find(name + ".sum.per_cycle_elapsed"); rate && cycles && seconds > 0)
    return *rate * *cycles * seconds;
  return {};
}

Number plus(Number a, Number b) { return a || b ? Number(a.value_or(0) + b.value_or(0)) : Number(); }
Number times_of(Number a, double factor) { return a ? Number(*a * factor) : Number(); }

struct Launch {
  std::string name, how;  // the metrics behind its operations
  double seconds = 0, operations = 0;
  Number dram, l2, l1;
};

Launch measure(const NcuLaunch& n) {
  Launch l;
  l.name = n.kernel.empty() ? "kernel" : n.kernel;
  if (!n.grid.empty()) l.name += fmt::format(" {}/{}", n.grid, n.block);
  const auto time = n.metrics.find("gpu__time_duration.sum");
  l.seconds = time == n.metrics.end() ? 0 : time->second * 1e-9;
  const auto sum = [&](const std::string& name) { return sum_of(n, name, l.seconds); };
  const auto threads = [&](const char* op) {
    return sum(fmt::format("smsp__sass_thread_inst_executed_op_{}_pred_on", op));
  };
  const Number fp32 = plus(plus(threads("fadd"), threads("fmul")), times_of(threads("ffma"), 2));
  Number tensor;  // on Hopper, by the type of the sources
  for (const char* type : {"bf16_dst_fp32", "fp16_dst_fp16", "fp16_dst_fp32", "tf32_dst_fp32", "fp8", "int8"})
    tensor = plus(tensor, sum(fmt::format("sm__ops_path_tensor_src_{}", type)));
  l.operations = plus(fp32, tensor).value_or(0);
  l.how = tensor && *tensor > 0 ? "fadd + fmul + 2 ffma + tensor operations" : "fadd + fmul + 2 ffma";
  l.dram = sum("dram__bytes");
  if (!l.dram) l.dram = plus(sum("dram__bytes_read"), sum("dram__bytes_write"));
  l.l2 = times_of(sum("lts__lts2xbar_cycles_active"), 32);
  if (!l.l2) l.l2 = sum("lts__t_bytes");
  if (!l.l2) l.l2 = times_of(sum("lts__t_sectors_srcunit_tex"), 32);
  l.l1 = sum("l1tex__t_bytes");
  if (!l.l1)
    for (const char* op : {"ld", "st", "red", "atom"})
      l.l1 = plus(l.l1, times_of(sum(fmt::format("l1tex__t_sectors_pipe_lsu_mem_global_op_{}", op)), 32));
  return l;
}

}  // namespace

Result parse_ncu(const std::string& text, const std::filesystem::path& file) {
  std::vector<NcuLaunch> launches;
  try {
    launches = read_ncu_csv(text);
  } catch (const NcuFormatError& e) {
    throw ResultError(fmt::format("cannot read '{}': {}\n  try: {}", file.string(), e.what(), e.advice));
  }
  Result r;
  r.file = file;
  r.title = file.stem().string();
  r.lab = "Nsight Compute";
  r.backend = "cuda";
  r.attempt = file.filename().string();
  std::vector<Launch> kernels;
  std::vector<int> counts;
  for (const NcuLaunch& n : launches) {
    Launch l = measure(n);
    const auto same = std::find_if(kernels.begin(), kernels.end(), [&](const Launch& k) { return k.name == l.name; });
    if (same == kernels.end()) {
      kernels.push_back(std::move(l));
      counts.push_back(1);
      continue;
    }
    same->seconds += l.seconds;
    same->operations += l.operations;
    same->dram = plus(same->dram, l.dram);
    same->l2 = plus(same->l2, l.l2);
    same->l1 = plus(same->l1, l.l1);
    ++counts[static_cast<std::size_t>(same - kernels.begin())];
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Launch& k = kernels[i];
    const double n = counts[i];
    Task t;
    t.id = k.name;
    t.title = fmt::format("{} launch{}; flop: {}", counts[i], counts[i] == 1 ? "" : "es", k.how);
    t.roofline = Roofline{"flop", k.operations / n, times_of(k.dram, 1 / n), {}, k.seconds / n, Basis::timed};
    t.kernels.push_back({k.name, 1, times_of(k.l1, 1 / n), times_of(k.l2, 1 / n), times_of(k.dram, 1 / n)});
    r.tasks.push_back(std::move(t));
  }
  std::stable_sort(r.tasks.begin(), r.tasks.end(), [](const Task& a, const Task& b) {
    return a.roofline->seconds.value_or(0) > b.roofline->seconds.value_or(0);
  });
  if (r.tasks.size() > kMostKernels) {
    r.left_out = r.tasks.size() - kMostKernels;
    r.tasks.resize(kMostKernels);
  }
  if (r.tasks.empty())
    throw ResultError(
        fmt::format("cannot read '{}': its table has no launches\n  try: record it again with ncu --csv --page raw",
                    file.string()));
  return r;
}

Result read_ncu(const std::filesystem::path& file) {
  std::string why;
  if (const auto text = read_file(file, &why)) return parse_ncu(*text, file);
  throw ResultError(fmt::format("cannot read '{}': {}\n  try: check its name and permissions", file.string(), why));
}

}  // namespace ridge::viz
