// What `ridge simulate` is asked for, and what it says.
#pragma once
#include <string>

#include "network/goodput.hpp"
#include "network/training_step.hpp"

namespace ridge::simulate {

struct Arguments {
  std::string model = "gpt3_175b", gpu = "h100", fabric = "dgx_h100";
  network::Layout layout;
  std::string recompute = "none", precision = "bf16", software = "fused", attention = "flash";
  int sequence = 0;  // 0: the model's
  std::uint64_t seed = 1;
  network::Reliability reliability;
  double checkpoint_seconds = 0;           // between checkpoints; 0: the best
  double save_bandwidth = 0;               // B/s at which the job writes a checkpoint; 0: `reliability` has its seconds
  std::string collective, group = "data";  // a collective in place of a step: its name, and the groups that run it
  double bytes = 0;
  std::string json, timeline;  // files
  bool list = false;
};

// Throws Error where a description, the layout or a file is wrong.
int run(const Arguments& arguments);

// A collective that all groups of one kind run at once.
int run_collective(const Arguments& arguments, const network::Cluster& cluster);

// The spans of a step as a Chrome trace: a process for each stage, with a track for passes and one for the network.
std::string trace_of(const network::StepReport& report, const network::Layout& layout, const std::string& title);

}  // namespace ridge::simulate
