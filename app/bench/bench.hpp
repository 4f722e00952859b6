// `ridge bench`: recorded results of the reference solutions, in benchmarks/<device>/. Each function returns the exit
// code.
#pragma once
#include <string>
#include <vector>

namespace ridge {

struct BenchArguments {
  std::string lab;  // empty: all
  std::string backend = "auto";
  std::string out;       // folder; empty: benchmarks/<device>
  bool check = false;    // at the sizes of `ridge check`
  std::string task;      // of emulate_gpus: only this one
  int emulate_gpus = 0;  // the emulator's virtual time of the cases that so many GPUs are timed on
  bool steps = false;    // the steps of the solutions in place of the solutions
  bool tables = false;   // only writes the tables of the steps
};

// Throws where a GPU is asked for and there is none.
bool bench_on_gpu(const BenchArguments& arguments);
// The device's folder in benchmarks/: "h200" for "NVIDIA H200".
std::string folder_of(const std::string& device, int gpus = 1);

int bench_labs(const BenchArguments& arguments);
int bench_steps(const BenchArguments& arguments);
int bench_tables(const BenchArguments& arguments);

struct FidelityArguments {
  std::string ncu, times;             // a recording; empty: this machine's GPU, else the repository's
  std::string out;                    // without .md and .json
  std::string record;                 // only records, into this folder
  std::vector<std::string> programs;  // empty: all
};

int bench_fidelity(const FidelityArguments& arguments);

}  // namespace ridge
