// How the GPUs are joined, as the NVIDIA driver's library NVML tells it (loaded at run time). Nothing is ever set.
#pragma once
#include <string>
#include <vector>

namespace ridge {

struct NvLink {
  enum class End { gpu, nvswitch, unknown };
  bool active = false;
  End end = End::unknown;
  std::string address;  // PCI, of the other end
  double gb_per_s = 0;  // one way; 0: not told
};

struct NvmlGpu {
  std::string address;  // "0000:19:00.0"
  std::string name;
  std::vector<NvLink> links;  // those that this GPU has
};

struct NvmlView {
  std::string problem;  // why there is nothing; empty where NVML answered
  std::vector<NvmlGpu> gpus;
  // [a][b]: NVML's nvmlGpuTopologyLevel_t, and the worse nvmlGpuP2PStatus_t of reading and writing; -1: not told.
  std::vector<std::vector<int>> level, peer;
};

NvmlView read_nvml_view();

// NVLinks between two GPUs: direct ones, or those of both to the NVSwitches, all of which reach each other.
int nvlinks_between(const NvmlGpu& a, const NvmlGpu& b);

// "PIX" to "SYS" of a level; empty for a level that is not known.
std::string word_of_level(int level);

// Why a P2P status is not "ok"; empty where it is, or is not told.
std::string peer_problem(int status);

// "00000000:3B:00.0" (NVML) and "0000:3b:00.0" (/sys) are the same device: the second form.
std::string pci_address(const std::string& text);

}  // namespace ridge
