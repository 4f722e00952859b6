#include "grader/machine/topology/topology.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace ridge {

namespace {

constexpr const char* kNvidia = "0x10de";

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
  return line;
}

int number(const fs::path& file, int otherwise) {
  const std::string line = first_line(file);
  char* end = nullptr;
  long value = std::strtol(line.c_str(), &end, 10);
  return end == line.c_str() ? otherwise : static_cast<int>(value);
}

std::vector<std::string> entries(const fs::path& dir) {
  std::vector<std::string> names;
  std::error_code ec;
  for (const auto& e : fs::directory_iterator(dir, ec)) names.push_back(e.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// "32.0 GT/s PCIe", or "Unknown".
double speed(const fs::path& file) { return std::atof(first_line(file).c_str()); }

PciLink read_link(const fs::path& device) {
  PciLink link{speed(device / "current_link_speed"), speed(device / "max_link_speed"),
               number(device / "current_link_width", 0), number(device / "max_link_width", 0)};
  if (link.max_width > 32) link.max_width = 0;  // 255 and the like: a virtual machine's way to say "unknown"
  if (link.width > 32) link.width = 0;
  return link;
}

PciDevice read_pci(const fs::path& device) {
  PciDevice pci;
  std::error_code ec;
  const fs::path real = fs::canonical(device, ec);
  if (ec) return pci;
  pci.address = pci_address(real.filename());
  pci.numa = number(real / "numa_node", -1);
  pci.link = read_link(real);
  if (fs::exists(real.parent_path() / "max_link_speed", ec)) pci.slot = read_link(real.parent_path());
  bool below_bridge = false;
  for (const auto& part : real) {
    below_bridge = below_bridge || part.string().rfind("pci", 0) == 0;
    if (below_bridge) pci.path.push_back(part);
  }
  return pci;
}

// "4: ACTIVE" without its number.
std::string after_colon(const std::string& text) {
  const auto colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

Adapter read_adapter(const fs::path& dir) {
  Adapter adapter;
  adapter.name = dir.filename();
  adapter.pci = read_pci(dir / "device");
  for (const auto& port : entries(dir / "ports"))
    adapter.ports.push_back({std::atoi(port.c_str()), after_colon(first_line(dir / "ports" / port / "state")),
                             first_line(dir / "ports" / port / "rate"),
                             first_line(dir / "ports" / port / "link_layer")});
  return adapter;
}

}  // namespace

Topology read_topology(const fs::path& root) {
  Topology t;
  const fs::path sys = root / "sys", proc = root / "proc";
  for (const auto& name : entries(sys / "devices/system/node"))
    if (name.rfind("node", 0) == 0 && name.find_first_not_of("0123456789", 4) == std::string::npos)
      t.nodes.push_back({std::atoi(name.c_str() + 4), first_line(sys / "devices/system/node" / name / "cpulist")});
  std::sort(t.nodes.begin(), t.nodes.end(), [](const NumaNode& a, const NumaNode& b) { return a.id < b.id; });
  for (const auto& name : entries(sys / "bus/pci/devices")) {
    const fs::path device = sys / "bus/pci/devices" / name;
    const std::string kind = first_line(device / "class");
    // 0300: VGA controller, 0302: 3D controller, as GPUs without a display say.
    if (first_line(device / "vendor") == kNvidia && (kind.rfind("0x0300", 0) == 0 || kind.rfind("0x0302", 0) == 0))
      t.gpus.push_back({read_pci(device), ""});
  }
  for (const auto& name : entries(sys / "class/infiniband"))
    t.adapters.push_back(read_adapter(sys / "class/infiniband" / name));
  std::error_code ec;
  for (const char* module : {"nvidia_peermem", "nv_peer_mem"})
    t.peer_memory = t.peer_memory || fs::exists(sys / "module" / module, ec);
  t.open_driver = first_line(proc / "driver/nvidia/version").find("Open Kernel Module") != std::string::npos;
  t.kernel = first_line(proc / "sys/kernel/osrelease");
  return t;
}

Topology with_driver(Topology topology, NvmlView view) {
  topology.nvml = std::move(view);
  if (topology.nvml.gpus.empty()) return topology;
  std::vector<Gpu> gpus;
  for (const NvmlGpu& seen : topology.nvml.gpus) {
    Gpu gpu;
    gpu.pci.address = seen.address;
    for (const Gpu& g : topology.gpus)
      if (g.pci.address == seen.address) gpu = g;
    gpu.name = seen.name;
    gpus.push_back(gpu);
  }
  topology.gpus = std::move(gpus);
  return topology;
}

std::string pci_relation(const PciDevice& a, const PciDevice& b) {
  if (a.path.empty() || b.path.empty()) return "?";
  const auto fork = std::mismatch(a.path.begin(), a.path.end(), b.path.begin(), b.path.end());
  const auto shared = fork.first - a.path.begin();
  if (shared == 0) return a.numa == b.numa ? "NODE" : "SYS";
  if (shared == 1) return "PHB";
  // Below the switch that both share: its own lower port and the device. Anything more is a further switch.
  return std::max(a.path.end() - fork.first, b.path.end() - fork.second) <= 2 ? "PIX" : "PXB";
}

std::string gpu_relation(const Topology& t, std::size_t a, std::size_t b) {
  if (a == b) return "X";
  if (t.nvml.gpus.size() == t.gpus.size()) {
    if (int links = nvlinks_between(t.nvml.gpus[a], t.nvml.gpus[b]); links > 0) return "NV" + std::to_string(links);
    if (std::string word = word_of_level(t.nvml.level[a][b]); !word.empty()) return word;
  }
  return pci_relation(t.gpus[a].pci, t.gpus[b].pci);
}

double bytes_per_second(const PciLink& link) {
  // 8b/10b up to 5 GT/s, 128b/130b above; 64 GT/s and more carry flits, with about the same loss.
  const double payload = link.speed <= 5 ? 0.8 : 128.0 / 130;
  return link.speed * 1e9 * payload / 8 * link.width;
}

}  // namespace ridge
