// Reports which of the versions and settings that were found fit each other.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "grader/base/paths.hpp"
#include "grader/base/text.hpp"
#include "grader/machine/versions.hpp"

namespace ridge {

namespace {

std::string major_of(const std::string& version) { return version.substr(0, version.find('.')); }

Fact cuda_fact(const Versions& v) {
  const std::string what = "CUDA driver, toolkit";
  if (v.driver_cuda.empty())
    return {Mark::none, what,
            fmt::format("skipped: no NVIDIA driver here (toolkit {})", v.toolkit.empty() ? "none" : v.toolkit)};
  if (v.toolkit.empty())
    return {Mark::note, what, fmt::format("the driver runs CUDA {}; no nvcc here to compile labs with", v.driver_cuda)};
  const std::string both = fmt::format("the driver runs up to CUDA {}, nvcc is {}", v.driver_cuda, v.toolkit);
  if (compare_versions(major_of(v.driver_cuda), major_of(v.toolkit)) < 0)
    return {Mark::no, what,
            fmt::format("{}: its programs will not start; update the driver, or load a toolkit {}.x", both,
                        major_of(v.driver_cuda))};
  if (compare_versions(v.driver_cuda, v.toolkit) < 0)
    return {Mark::note, what, both + ": works, except for PTX that is compiled at run time"};
  return {Mark::yes, what, both};
}

void nccl_facts(const Versions& v, Facts& facts) {
  if (v.nccl.empty()) {
    facts.push_back(
        {v.gpu ? Mark::no : Mark::none, "NCCL",
         "no libnccl.so.2 here; labs with several GPUs need it: install libnccl2 and libnccl-dev, or add its "
         "folder to LD_LIBRARY_PATH"});
    return;
  }
  const std::string built = v.nccl_cuda.empty() ? "" : fmt::format(", built for CUDA {}", v.nccl_cuda);
  Fact fact{Mark::yes, "NCCL", v.nccl + built};
  auto wrong = [&](Mark mark, const std::string& why) {
    fact.mark = mark == Mark::no || fact.mark == Mark::no ? Mark::no : mark;
    fact.detail += "; " + why;
  };
  if (compare_versions(v.nccl, "2.18") < 0)
    wrong(Mark::no, "too old: ncclCommSplit came with 2.18; install a newer libnccl2");
  if (!v.nccl_header.empty() && compare_versions(v.nccl, v.nccl_header) < 0)
    wrong(Mark::note,
          fmt::format("the header is newer ({}): programs that use what is new in it will not start", v.nccl_header));
  if (!v.nccl_cuda.empty() && !v.driver_cuda.empty() &&
      compare_versions(major_of(v.driver_cuda), major_of(v.nccl_cuda)) < 0)
    wrong(Mark::no, fmt::format("the driver runs only up to CUDA {}: install the libnccl2 for CUDA {}", v.driver_cuda,
                                major_of(v.driver_cuda)));
  else if (!v.nccl_cuda.empty() && !v.toolkit.empty() && major_of(v.nccl_cuda) != major_of(v.toolkit))
    wrong(Mark::note,
          fmt::format("nvcc is {}: a libnccl2 for CUDA {} is the tested match", v.toolkit, major_of(v.toolkit)));
  facts.push_back(fact);
}

void mpi_facts(const Versions& v, Facts& facts) {
  if (!v.agent || v.mpiruns.empty()) {
    facts.push_back({Mark::no, "Open MPI",
                     !v.agent && prebuilt() ? "this prebuilt Ridge has no rank agents, for several nodes or processes"
                     : !v.agent ? "ridge-agent is not built; `./ridge ranks` installs Open MPI and builds it"
                                : "no mpirun on PATH; load the site's MPI module, or install openmpi-bin"});
    return;
  }
  const MpiProgram& first = v.mpiruns.front();
  Fact fact{Mark::yes, "Open MPI", fmt::format("{} is {}", first.path, first.version)};
  if (first.version.empty()) {
    fact.mark = Mark::no;
    fact.detail =
        fmt::format("{} is not Open MPI's: ridge-agent needs that; put Open MPI's folder first in PATH", first.path);
  } else if (!v.agent_mpi.empty() && major_of(first.version) != major_of(v.agent_mpi)) {
    fact.mark = Mark::no;
    fact.detail += fmt::format(
        ", ridge-agent was built with {}: ranks may hang or each believe to be alone; put an "
        "mpirun {}.x first in PATH, or build again with `./ridge build`",
        v.agent_mpi, major_of(v.agent_mpi));
  } else if (!v.agent_mpi.empty()) {
    fact.detail += fmt::format(", ridge-agent was built with {}", v.agent_mpi);
  }
  facts.push_back(fact);
  if (v.mpiruns.size() < 2) return;
  std::string others;
  for (std::size_t i = 1; i < v.mpiruns.size(); ++i)
    others += fmt::format("{}{} ({})", i == 1 ? "" : ", ", v.mpiruns[i].path,
                          v.mpiruns[i].version.empty() ? "not Open MPI" : v.mpiruns[i].version);
  facts.push_back({Mark::note, "several mpirun",
                   fmt::format("the first on PATH counts; behind it {}: compile and start with the same one", others)});
}

std::string name_of(const std::string& setting) { return setting.substr(0, setting.find('=')); }

// The effect of a set variable on a measurement; nullptr if it has none.
const char* effect(const std::string& name) {
  struct Known {
    const char *name, *effect;
  };
  static constexpr Known kKnown[] = {
      {"NCCL_ALGO", "one algorithm at every size"},
      {"NCCL_PROTO", "one protocol at every size"},
      {"NCCL_P2P_DISABLE", "1 keeps GPUs from copying to each other directly"},
      {"NCCL_P2P_LEVEL", "bounds how far apart GPUs may be to copy directly"},
      {"NCCL_SHM_DISABLE", "1 sends what host memory could carry through the network"},
      {"NCCL_NVLS_ENABLE", "0 switches the sums in the NVSwitch off"},
      {"NCCL_IB_DISABLE", "1 sends everything between machines over TCP"},
      {"NCCL_NET_GDR_LEVEL", "bounds GPUDirect RDMA"},
      {"CUDA_LAUNCH_BLOCKING", "1 makes every launch wait: nothing overlaps"},
      // Not about speed.
      {"NCCL_VERSION", nullptr},
      {"NCCL_DEBUG", nullptr},
      {"NCCL_DEBUG_FILE", nullptr},
      {"NCCL_DEBUG_SUBSYS", nullptr},
      {"NCCL_HOME", nullptr},
      {"NCCL_ROOT", nullptr},
  };
  for (const Known& k : kKnown)
    if (name == k.name) return k.effect;
  return name.rfind("NCCL_", 0) == 0 ? "changes what NCCL chooses by itself" : nullptr;
}

void environment_facts(const Versions& v, Facts& facts) {
  std::vector<std::string> rank;
  bool batch = false;
  for (const std::string& setting : v.environment) {
    const std::string name = name_of(setting);
    batch = batch || name == "SLURM_JOB_ID";
    if (name.rfind("OMPI_COMM_WORLD_", 0) == 0 || name == "PMIX_RANK" || name == "PMIX_NAMESPACE" ||
        name.rfind("PMIX_SERVER_URI", 0) == 0)
      rank.push_back(name);
    else if (const char* does = effect(name))
      facts.push_back(
          {Mark::note, name,
           fmt::format("{}: {}; `unset {}` before a measurement that others should repeat", setting, does, name)});
    else if (name.rfind("OMPI_MCA_", 0) == 0)
      facts.push_back({Mark::note, name, fmt::format("{}: changes what Open MPI chooses by itself", setting)});
  }
  if (!rank.empty())
    facts.push_back(
        {Mark::no, "inside an MPI rank",
         fmt::format("{}{} set: an mpirun from here takes itself for a part of that job, and hangs or "
                     "fails; start ridge {}, or unset them",
                     rank.front(), rank.size() == 1 ? " is" : fmt::format(" and {} more are", rank.size() - 1),
                     batch ? "from the batch script itself, not through srun or mpirun" : "outside mpirun")});
  for (const std::string& file : v.nccl_settings)
    facts.push_back({Mark::note, "NCCL settings",
                     file + " is there: NCCL takes its lines as if they were in the "
                            "environment"});
}

std::vector<int> numbers(const std::string& version) {
  std::vector<int> all;
  std::istringstream parts(version);
  for (std::string part; std::getline(parts, part, '.');) all.push_back(std::atoi(part.c_str()));
  return all;
}

}  // namespace

int compare_versions(const std::string& a, const std::string& b) {
  const auto x = numbers(a), y = numbers(b);
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
}

std::string open_mpi_version(const std::string& printed) {
  const std::string found = version_after(printed, "(Open MPI) ");
  return found.empty() ? version_after(printed, "(OpenRTE) ") : found;
}

Facts version_facts(const Versions& v) {
  Facts facts{cuda_fact(v)};
  nccl_facts(v, facts);
  mpi_facts(v, facts);
  environment_facts(v, facts);
  return facts;
}

}  // namespace ridge
