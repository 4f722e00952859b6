// The machine as /sys and /proc show it: NUMA nodes, GPUs and network adapters on PCI Express, and whether adapters
// reach GPU memory directly. Needs no driver.
#pragma once
#include <string>
#include <vector>

#include "grader/base/paths.hpp"
#include "grader/machine/topology/nvml_topology.hpp"

namespace ridge {

struct NumaNode {
  int id = 0;
  std::string cpus;  // "0-31,64-95"
};

// The present and the greatest speed and width of a PCI Express device or port; 0 where it reports none.
struct PciLink {
  double speed = 0, max_speed = 0;  // GT/s a lane
  int width = 0, max_width = 0;     // lanes
};

struct PciDevice {
  std::string address;            // "0000:19:00.0", lower case
  std::vector<std::string> path;  // from the host bridge to the device; empty where /sys does not have it
  int numa = -1;                  // -1: firmware (or a virtual machine) does not say
  PciLink link;
  PciLink slot;  // the port above
};

struct Gpu {
  PciDevice pci;
  std::string name;  // empty without a driver
};

struct AdapterPort {
  int number = 0;
  std::string state;  // "ACTIVE", "DOWN", "INIT", ...
  std::string rate;   // "400 Gb/sec (4X NDR)"
  std::string layer;  // "InfiniBand", or "Ethernet" for RoCE
};

struct Adapter {
  std::string name;  // "mlx5_0"
  PciDevice pci;
  std::vector<AdapterPort> ports;
};

struct Topology {
  std::vector<NumaNode> nodes;
  std::vector<Gpu> gpus;
  std::vector<Adapter> adapters;
  bool peer_memory = false;  // the module nvidia_peermem, or its forerunner
  bool open_driver = false;  // NVIDIA's open kernel module, which can hand out dma-bufs
  std::string kernel;        // "6.8.0-45-generic"
  NvmlView nvml;             // in the order of `gpus`
};

Topology read_topology(const fs::path& root = "/");

// With what the driver shows: of the GPUs in /sys, a container may have been given fewer.
Topology with_driver(Topology topology, NvmlView view);

// How two devices reach each other over PCI Express, in the words of `nvidia-smi topo -m`: PIX, PXB, PHB, NODE or SYS;
// "?" where /sys does not say.
std::string pci_relation(const PciDevice& a, const PciDevice& b);

// The word for two GPUs: NV18 where NVLinks join them.
std::string gpu_relation(const Topology& topology, std::size_t a, std::size_t b);

// Bytes per second that this link carries one way, before packet overhead; 0 where it is not known.
double bytes_per_second(const PciLink& link);

}  // namespace ridge
