#include "grader/machine/topology/topology_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace ridge {

namespace {

std::string on_node(int numa) { return numa < 0 ? "NUMA node not told" : fmt::format("NUMA node {}", numa); }

std::string link_text(const PciLink& l) {
  if (l.width == 0 || l.speed == 0) return "";
  return fmt::format(", PCIe {} GT/s x{}", l.speed, l.width);
}

// Reports a fault of the link between the host and this device.
Fact link_fact(Fact fact, const PciDevice& pci) {
  const PciLink &l = pci.link, &slot = pci.slot;
  if (l.width > 0 && l.width < l.max_width) {
    fact.mark = Mark::no;
    fact.detail +=
        slot.max_width > 0 && slot.max_width <= l.width
            ? fmt::format(" of x{}: its slot has no more lanes; move the card to a x{} slot", l.max_width, l.max_width)
            : fmt::format(
                  " of x{}: trained down, copies to and from it are slow; reseat the card and its "
                  "riser, then look at `dmesg` for PCIe errors",
                  l.max_width);
  } else if (l.speed > 0 && l.speed < l.max_speed) {
    fact.mark = Mark::note;
    fact.detail += slot.max_speed > 0 && slot.max_speed <= l.speed
                       ? fmt::format(" (its slot's limit; the device could do {} GT/s)", l.max_speed)
                       : fmt::format(
                             " of {} GT/s: at rest a GPU slows its link down; `ridge doctor --links` looks under "
                             "load",
                             l.max_speed);
  }
  return fact;
}

Fact numa_fact(const Topology& t) {
  if (t.nodes.empty()) return {Mark::none, "NUMA", "this kernel does not tell"};
  std::string detail = fmt::format("{} node{}:", t.nodes.size(), t.nodes.size() == 1 ? "" : "s");
  for (const NumaNode& n : t.nodes)
    detail +=
        fmt::format("{} {}", &n == &t.nodes.front() ? "" : ";",
                    n.cpus.empty() ? fmt::format("{} has no CPU", n.id) : fmt::format("{} has CPUs {}", n.id, n.cpus));
  return {Mark::yes, "NUMA", detail};
}

void gpu_facts(const Topology& t, Facts& facts) {
  if (t.gpus.empty()) facts.push_back({Mark::none, "GPUs", "none on PCI Express here"});
  for (std::size_t i = 0; i < t.gpus.size(); ++i) {
    const Gpu& g = t.gpus[i];
    Fact fact{Mark::yes, fmt::format("GPU {}", i),
              fmt::format("{}{}, {}{}", g.name.empty() ? "" : g.name + ", ", g.pci.address, on_node(g.pci.numa),
                          link_text(g.pci.link))};
    facts.push_back(link_fact(fact, g.pci));
  }
  if (!t.gpus.empty() && !t.nvml.problem.empty())
    facts.push_back({Mark::no, "NVIDIA driver's view", t.nvml.problem + "; the GPUs above are what PCI Express shows"});
}

void nvlink_facts(const Topology& t, Facts& facts) {
  long most = 0;
  std::vector<long> active;
  for (const NvmlGpu& g : t.nvml.gpus) {
    active.push_back(std::count_if(g.links.begin(), g.links.end(), [](const NvLink& l) { return l.active; }));
    most = std::max(most, active.back());
  }
  if (t.gpus.size() < 2) return;
  if (most == 0) {
    facts.push_back({Mark::none, "NVLink", "none is active here: GPUs talk over PCI Express"});
    return;
  }
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (active[i] < most && t.nvml.gpus[i].name == t.nvml.gpus[0].name)
      facts.push_back({Mark::no, fmt::format("NVLink of GPU {}", i),
                       fmt::format("{} active, other GPUs have {}: look at `nvidia-smi nvlink -s`, and at the fabric "
                                   "manager's log where there are NVSwitches",
                                   active[i], most)});
  }
  double speed = 0;
  bool switched = false;
  for (const NvmlGpu& g : t.nvml.gpus)
    for (const NvLink& l : g.links) {
      speed = std::max(speed, l.gb_per_s);
      switched = switched || l.end == NvLink::End::nvswitch;
    }
  facts.push_back({Mark::yes, "NVLink",
                   fmt::format("up to {} a GPU{}{}", most,
                               speed > 0 ? fmt::format(" of {:.1f} GB/s each way, {:.0f} GB/s together", speed,
                                                       speed * static_cast<double>(most))
                                         : "",
                               switched ? ", through NVSwitch" : ", from GPU to GPU")});
}

void peer_facts(const Topology& t, Facts& facts) {
  std::set<std::string> reasons;
  std::string pairs;
  int count = 0;
  for (std::size_t a = 0; a < t.nvml.peer.size(); ++a)
    for (std::size_t b = a + 1; b < t.nvml.peer.size(); ++b)
      if (std::string why = peer_problem(t.nvml.peer[a][b]); !why.empty()) {
        reasons.insert(why);
        if (++count <= 4) pairs += fmt::format("{}{}-{}", pairs.empty() ? "" : ", ", a, b);
      }
  if (count == 0) return;
  facts.push_back(
      {Mark::note, "peer access",
       fmt::format("not between GPUs {}{}: {}; their copies go through host memory", pairs,
                   count > 4 ? fmt::format(" and {} more pairs", count - 4) : "", fmt::join(reasons, ", or "))});
}

void adapter_facts(const Topology& t, Facts& facts) {
  if (t.adapters.empty())
    facts.push_back({Mark::none, "InfiniBand, RoCE", "no adapter here: between machines NCCL and MPI use TCP"});
  for (const Adapter& a : t.adapters)
    for (const AdapterPort& p : a.ports) {
      const bool ethernet = p.layer == "Ethernet";
      Fact fact{Mark::yes, a.ports.size() == 1 ? a.name : fmt::format("{} port {}", a.name, p.number),
                fmt::format("{}, {}, {}, {}{}", ethernet ? "RoCE" : p.layer, p.state, p.rate, on_node(a.pci.numa),
                            link_text(a.pci.link))};
      if (p.state == "ACTIVE") {
        fact = link_fact(fact, a.pci);
      } else {
        fact.mark = Mark::no;
        fact.detail += p.state == "INIT" ? ": the cable is in, but no subnet manager has set the port up; ask the site"
                       : ethernet        ? ": no cable, or the interface is down; try `ip link` and `rdma link`"
                                         : ": no cable, or the switch's port is off; look at `ibstat " + a.name + "`";
      }
      facts.push_back(fact);
    }
}

// dma-buf came with Linux 5.12.
bool kernel_has_dma_buf(const std::string& release) {
  char* rest = nullptr;
  const long major = std::strtol(release.c_str(), &rest, 10);
  const long minor = *rest == '.' ? std::strtol(rest + 1, nullptr, 10) : 0;
  return major > 5 || (major == 5 && minor >= 12);
}

Fact direct_fact(const Topology& t) {
  const std::string what = "GPUDirect RDMA";
  if (t.gpus.empty() || t.adapters.empty())
    return {Mark::none, what,
            fmt::format("skipped: no {} here", t.gpus.empty() ? "GPU" : "InfiniBand or RoCE adapter")};
  if (t.peer_memory) return {Mark::yes, what, "nvidia_peermem is loaded: adapters read and write GPU memory"};
  if (t.open_driver && kernel_has_dma_buf(t.kernel))
    return {Mark::note, what,
            fmt::format("nvidia_peermem is not loaded; Linux {} and the open NVIDIA driver can do it by dma-buf, which "
                        "NCCL takes by itself (NCCL_DEBUG=INFO prints GDRDMA where it does)",
                        t.kernel)};
  return {Mark::no, what,
          "off: data between machines takes a detour through host memory, at a fraction of the adapter's rate; as "
          "root: `modprobe nvidia_peermem`"};
}

}  // namespace

Facts topology_facts(const Topology& t) {
  Facts facts{numa_fact(t)};
  gpu_facts(t, facts);
  nvlink_facts(t, facts);
  peer_facts(t, facts);
  adapter_facts(t, facts);
  facts.push_back(direct_fact(t));
  return facts;
}

std::vector<std::string> topology_matrix(const Topology& t) {
  const std::size_t gpus = t.gpus.size(), all = gpus + t.adapters.size();
  if (gpus == 0 || all < 2) return {};
  auto name = [&](std::size_t i) { return i < gpus ? fmt::format("GPU{}", i) : t.adapters[i - gpus].name; };
  auto pci = [&](std::size_t i) -> const PciDevice& { return i < gpus ? t.gpus[i].pci : t.adapters[i - gpus].pci; };
  std::size_t column = 5;
  for (std::size_t i = 0; i < all; ++i) column = std::max(column, name(i).size());
  std::vector<std::string> lines;
  std::set<std::string> words;
  std::string line = fmt::format("{:{}}", "", column);
  for (std::size_t b = 0; b < all; ++b) line += fmt::format("  {:{}}", name(b), column);
  lines.push_back(line + "  NUMA");
  for (std::size_t a = 0; a < all; ++a) {
    line = fmt::format("{:{}}", name(a), column);
    for (std::size_t b = 0; b < all; ++b) {
      std::string word = a == b ? "X" : a < gpus && b < gpus ? gpu_relation(t, a, b) : pci_relation(pci(a), pci(b));
      line += fmt::format("  {:{}}", word, column);
      words.insert(word.rfind("NV", 0) == 0 ? "NV#" : word);
    }
    lines.push_back(line + "  " + (pci(a).numa < 0 ? "?" : std::to_string(pci(a).numa)));
  }
  std::string legend;
  for (const auto& [word, meaning] : {std::pair{"NV#", "# NVLinks"},
                                      {"PIX", "one PCIe switch"},
                                      {"PXB", "several PCIe switches"},
                                      {"PHB", "a CPU's PCIe bridge"},
                                      {"NODE", "several bridges of one NUMA node"},
                                      {"SYS", "the link between NUMA nodes"},
                                      {"?", "not told"}})
    if (words.count(word) != 0) legend += fmt::format("{}{}: {}", legend.empty() ? "" : ", ", word, meaning);
  lines.push_back(legend);
  return lines;
}

}  // namespace ridge
