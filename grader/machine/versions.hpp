// Versions of CUDA, NCCL and Open MPI that must fit each other, and settings of the environment that change what is
// measured.
#pragma once
#include <string>
#include <vector>

#include "grader/base/doctor_facts.hpp"

namespace ridge {

struct MpiProgram {
  std::string path;
  std::string version;  // "4.1.4"; empty where it is not Open MPI's
};

struct Versions {
  // "13.0"; empty where there is none.
  std::string driver_cuda;                 // the newest CUDA that the driver runs
  std::string toolkit;                     // of the nvcc that labs are compiled with
  std::string nccl;                        // "2.28.9": of the library that a program would load
  std::string nccl_cuda;                   // that it was built for
  std::string nccl_header;                 // seen when ridge was built
  std::string agent_mpi;                   // Open MPI that ridge-agent was built with
  bool agent = false;                      // ridge-agent is here
  bool gpu = false;                        // a GPU is here, or should be
  std::vector<MpiProgram> mpiruns;         // on PATH, in its order
  std::vector<std::string> environment;    // "NAME=value", what settings_facts reads
  std::vector<std::string> nccl_settings;  // files of settings that NCCL reads
};

Versions read_versions();
// "2.28.9" of the NCCL that a lab's program would load; empty where there is none.
std::string nccl_version();
Facts version_facts(const Versions& versions);

// Numbers of a version, compared one by one: "2.9" is older than "2.18". Below 0, 0, above 0. Only as many as the
// shorter one has.
int compare_versions(const std::string& a, const std::string& b);

// "4.1.4" of what `mpirun --version` prints; empty where it is not Open MPI's.
std::string open_mpi_version(const std::string& printed);

}  // namespace ridge
