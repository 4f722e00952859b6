// The GPU that a worker is given, and nothing of the others.
#pragma once
#include <string>
#include <vector>

namespace ridge {

struct GrantedGpu {
  std::vector<std::string> nodes;  // of /dev
  std::string visible;             // for CUDA_VISIBLE_DEVICES; empty: as it is
  int architecture = 0;            // 90 for sm_90; 0 where nobody knows
  bool alone = true;               // false where its node could not be told from the others'
};

// The first GPU that CUDA shows to this program, which is the judge's. Starts the driver where nobody did.
const GrantedGpu& granted_gpu();

// Nodes of all GPUs, for a program of several ranks.
std::vector<std::string> all_gpu_nodes();

// "Device Minor" in the text of /proc/driver/nvidia/gpus/ID/information, -1 where there is none.
int device_minor(const std::string& information);

}  // namespace ridge
