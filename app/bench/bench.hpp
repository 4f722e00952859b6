// `ridge bench` records results of the reference solutions in benchmarks/<device>/. bench_labs, bench_steps,
// bench_tables and bench_fidelity each return the exit code.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "checks/check.hpp"

namespace ridge {

struct BenchArguments {
  std::string lab;                      // empty: all
  std::optional<lab::Backend> backend;  // none: chosen for the lab and the machine
  std::string out;                      // folder; empty: benchmarks/<device>
  bool check = false;                   // takes the small sizes of `ridge check`
  std::string task;                     // with emulate_gpus: only this task
  int emulate_gpus = 0;                 // records virtual times of the cases that so many GPUs are timed on
  bool steps = false;                   // measures the steps of the solutions, not the solutions
  bool tables = false;                  // only writes the pages of what is recorded
};

// Whether to measure on a GPU. Throws if backend cuda is asked for and cannot be used.
bool bench_on_gpu(const BenchArguments& arguments);
// The device's folder in benchmarks/: "h200" for "NVIDIA H200".
std::string folder_of(const std::string& device, int gpus = 1);

int bench_labs(const BenchArguments& arguments);
int bench_steps(const BenchArguments& arguments);
int bench_tables(const BenchArguments& arguments);

struct FidelityArguments {
  std::string ncu, times;             // a recording; empty: made on this machine's GPU, else the repository's
  std::string out;                    // path of the tables, without .md and .json
  std::string record;                 // folder to record into, without comparing
  std::vector<std::string> programs;  // empty: all
};

int bench_fidelity(const FidelityArguments& arguments);

}  // namespace ridge
