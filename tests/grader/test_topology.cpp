// What doctor says of a machine's wiring: trees made up here in the place of /sys and /proc, and what NVML would tell.
#include <algorithm>
#include <filesystem>

#include "grader/machine/topology/topology_report.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge;
using test::Folder;
using test::write_file;

namespace {

// A folder with /sys and /proc of a machine.
struct Machine {
  Folder root;

  void file(const std::string& path, const std::string& text) const {
    const fs::path p = fs::path(root.path) / path;
    fs::create_directories(p.parent_path());
    write_file(p, text + "\n");
  }
  void node(int id, const std::string& cpus) const {
    file("sys/devices/system/node/node" + std::to_string(id) + "/cpulist", cpus);
  }
  // `way`: from the host bridge to the device, "pci0000:10/0000:10:01.0/0000:18:00.0".
  void pci(const std::string& way, const std::string& vendor, const std::string& kind, int numa) const {
    const std::string dir = "sys/devices/" + way + "/";
    file(dir + "vendor", vendor);
    file(dir + "class", kind);
    file(dir + "numa_node", std::to_string(numa));
    link(way, 32, 32, 16, 16);
    fs::create_directories(fs::path(root.path) / "sys/bus/pci/devices");
    fs::create_directory_symlink("../../../devices/" + way,
                                 fs::path(root.path) / "sys/bus/pci/devices" / fs::path(way).filename());
  }
  void gpu(const std::string& way, int numa) const { pci(way, "0x10de", "0x030200", numa); }
  void link(const std::string& way, double speed, double max_speed, int width, int max_width) const {
    const std::string dir = "sys/devices/" + way + "/";
    file(dir + "current_link_speed", std::to_string(speed) + " GT/s PCIe");
    file(dir + "max_link_speed", std::to_string(max_speed) + " GT/s PCIe");
    file(dir + "current_link_width", std::to_string(width));
    file(dir + "max_link_width", std::to_string(max_width));
  }
  void adapter(const std::string& name, const std::string& way, int numa, const std::string& state,
               const std::string& layer = "InfiniBand") const {
    pci(way, "0x15b3", "0x020700", numa);
    const std::string dir = "sys/devices/" + way + "/infiniband/" + name + "/";
    file(dir + "ports/1/state", state);
    file(dir + "ports/1/rate", "400 Gb/sec (4X NDR)");
    file(dir + "ports/1/link_layer", layer);
    fs::create_directory_symlink("../..", fs::path(root.path) / (dir + "device"));
    fs::create_directories(fs::path(root.path) / "sys/class/infiniband");
    fs::create_directory_symlink("../../devices/" + way + "/infiniband/" + name,
                                 fs::path(root.path) / "sys/class/infiniband" / name);
  }
  Topology read() const { return read_topology(root.path); }
};

// Two sockets; GPU 0 and the adapter behind one switch, GPU 1 on the other socket.
const std::string kSwitch = "pci0000:10/0000:10:01.0/0000:16:00.0/";
const std::string kGpu0 = kSwitch + "0000:17:00.0/0000:18:00.0", kGpu1 = "pci0000:80/0000:80:01.0/0000:9a:00.0";
const std::string kAdapter = kSwitch + "0000:17:01.0/0000:19:00.0";

void two_sockets(const Machine& m) {
  m.node(0, "0-31");
  m.node(1, "32-63");
  m.gpu(kGpu0, 0);
  m.gpu(kGpu1, 1);
  m.file("proc/sys/kernel/osrelease", "5.4.0-200-generic");
}

Fact fact(const Facts& facts, const std::string& what) {
  for (const Fact& f : facts)
    if (f.what == what) return f;
  FAIL("doctor says nothing of " << what);
  return {};
}
Fact fact(const Machine& m, const std::string& what) { return fact(topology_facts(m.read()), what); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
bool has(const Fact& f, const std::string& part) {
  INFO(f.what << ": " << f.detail);
  CHECK(has(f.detail, part));
  return has(f.detail, part);
}

// As NVML shows GPUs whose links all lead to NVSwitches.
NvmlView switched(const std::vector<std::string>& addresses, int links) {
  NvmlView view;
  for (const auto& a : addresses)
    view.gpus.push_back(
        {a, "NVIDIA H200",
         std::vector<NvLink>(static_cast<std::size_t>(links), {true, NvLink::End::nvswitch, "0000:05:00.0", 26.562})});
  view.level = view.peer = std::vector(addresses.size(), std::vector<int>(addresses.size(), -1));
  return view;
}

}  // namespace

TEST_CASE("a machine without GPUs and adapters") {
  Machine m;
  m.node(0, "0-7");
  const Facts facts = topology_facts(m.read());
  CHECK(fact(facts, "NUMA").mark == Mark::yes);
  CHECK(has(fact(facts, "NUMA"), "1 node: 0 has CPUs 0-7"));
  CHECK(fact(facts, "GPUs").mark == Mark::none);
  CHECK(fact(facts, "InfiniBand, RoCE").mark == Mark::none);
  CHECK(has(fact(facts, "GPUDirect RDMA"), "skipped: no GPU"));
  CHECK(topology_matrix(m.read()).empty());
  CHECK(fact(Machine(), "NUMA").mark == Mark::none);  // no /sys at all
}

TEST_CASE("two NUMA nodes, two GPUs") {
  Machine m;
  two_sockets(m);
  const Topology t = m.read();
  CHECK(has(fact(m, "NUMA"), "2 nodes: 0 has CPUs 0-31; 1 has CPUs 32-63"));
  REQUIRE(t.gpus.size() == 2);
  CHECK(t.gpus[0].pci.address == "0000:18:00.0");
  CHECK(t.gpus[1].pci.numa == 1);
  CHECK(fact(m, "GPU 0").mark == Mark::yes);
  CHECK(has(fact(m, "GPU 0"), "0000:18:00.0, NUMA node 0, PCIe 32 GT/s x16"));
  CHECK(has(fact(m, "GPU 1"), "NUMA node 1"));
  CHECK(pci_relation(t.gpus[0].pci, t.gpus[1].pci) == "SYS");

  m.pci("pci0000:10/0000:10:02.0/0000:20:00.0", "0x10de", "0x040300", 0);  // a GPU's sound is no GPU
  m.pci("pci0000:10/0000:10:03.0/0000:21:00.0", "0x1002", "0x030000", 0);  // nor is another maker's
  CHECK(m.read().gpus.size() == 2);
}

TEST_CASE("a firmware that does not tell the NUMA node") {
  Machine m;
  m.gpu(kGpu0, -1);
  CHECK(has(fact(m, "GPU 0"), "NUMA node not told"));
}

TEST_CASE("how devices reach each other over PCI Express") {
  Machine m;
  for (int i = 0; i < 2; ++i) m.gpu(kSwitch + "0000:17:0" + std::to_string(i) + ".0/0000:1" + "89"[i] + ":00.0", 0);
  m.gpu(kSwitch + "0000:17:02.0/0000:30:00.0/0000:31:00.0/0000:32:00.0", 0);  // behind a second switch
  m.gpu("pci0000:10/0000:10:02.0/0000:40:00.0", 0);                           // another port of the bridge
  m.gpu("pci0000:50/0000:50:01.0/0000:51:00.0", 0);                           // another bridge of the node
  m.gpu("pci0000:80/0000:80:01.0/0000:81:00.0", 1);
  const auto gpus = m.read().gpus;
  REQUIRE(gpus.size() == 6);
  const std::vector<std::string> expected = {"PIX", "PXB", "PHB", "NODE", "SYS"};
  for (std::size_t i = 1; i < gpus.size(); ++i) {
    CHECK(pci_relation(gpus[0].pci, gpus[i].pci) == expected[i - 1]);
    CHECK(pci_relation(gpus[i].pci, gpus[0].pci) == expected[i - 1]);
  }
  CHECK(pci_relation(gpus[0].pci, PciDevice()) == "?");
}

TEST_CASE("a link that trained down") {
  Machine m;
  two_sockets(m);
  m.link(kGpu1, 32, 32, 8, 16);
  CHECK(fact(m, "GPU 0").mark == Mark::yes);
  CHECK(fact(m, "GPU 1").mark == Mark::no);
  CHECK(has(fact(m, "GPU 1"), "x8 of x16: trained down"));
  CHECK(has(fact(m, "GPU 1"), "reseat"));

  m.link("pci0000:80/0000:80:01.0", 32, 32, 8, 8);  // the port above it
  CHECK(fact(m, "GPU 1").mark == Mark::no);
  CHECK(has(fact(m, "GPU 1"), "its slot has no more lanes"));

  // A GPU at rest slows its link down, which is no fault.
  m.link(kGpu1, 2.5, 32, 16, 16);
  CHECK(fact(m, "GPU 1").mark == Mark::note);
  CHECK(has(fact(m, "GPU 1"), "2.5 GT/s x16 of 32 GT/s"));
  CHECK(has(fact(m, "GPU 1"), "doctor --links"));

  m.file("sys/devices/" + kGpu1 + "/current_link_speed", "Unknown");  // virtual machines
  m.file("sys/devices/" + kGpu1 + "/current_link_width", "0");
  m.file("sys/devices/" + kGpu1 + "/max_link_width", "255");
  CHECK(fact(m, "GPU 1").mark == Mark::yes);
}

TEST_CASE("adapters") {
  Machine m;
  two_sockets(m);
  m.adapter("mlx5_0", kAdapter, 0, "4: ACTIVE");
  CHECK(fact(m, "mlx5_0").mark == Mark::yes);
  CHECK(has(fact(m, "mlx5_0"), "InfiniBand, ACTIVE, 400 Gb/sec (4X NDR), NUMA node 0"));
  m.adapter("mlx5_1", "pci0000:80/0000:80:02.0/0000:a0:00.0", 1, "1: DOWN");
  CHECK(fact(m, "mlx5_1").mark == Mark::no);
  CHECK(has(fact(m, "mlx5_1"), "ibstat mlx5_1"));
  m.adapter("mlx5_2", "pci0000:80/0000:80:03.0/0000:a1:00.0", 1, "2: INIT");
  CHECK(has(fact(m, "mlx5_2"), "no subnet manager"));
  m.adapter("mlx5_3", "pci0000:80/0000:80:04.0/0000:a2:00.0", 1, "1: DOWN", "Ethernet");
  CHECK(has(fact(m, "mlx5_3"), "RoCE, DOWN"));
  CHECK(has(fact(m, "mlx5_3"), "ip link"));

  // Near to GPU 0, on the other socket than GPU 1.
  const auto rows = topology_matrix(m.read());
  REQUIRE(rows.size() == 8);  // headings, six devices, the words
  CHECK(has(rows[1], "PIX"));
  CHECK(has(rows[2], "PHB"));  // of GPU 1 and mlx5_1
  CHECK(has(rows[7], "SYS: the link between NUMA nodes"));
}

TEST_CASE("GPUDirect RDMA") {
  Machine m;
  two_sockets(m);
  CHECK(fact(m, "GPUDirect RDMA").mark == Mark::none);  // nothing to reach GPUs from
  CHECK(has(fact(m, "GPUDirect RDMA"), "skipped: no InfiniBand or RoCE adapter"));
  m.adapter("mlx5_0", kAdapter, 0, "4: ACTIVE");
  CHECK(fact(m, "GPUDirect RDMA").mark == Mark::no);
  CHECK(has(fact(m, "GPUDirect RDMA"), "modprobe nvidia_peermem"));

  m.file("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04");
  CHECK(fact(m, "GPUDirect RDMA").mark == Mark::no);  // Linux 5.4 has no dma-buf for it
  m.file("proc/sys/kernel/osrelease", "6.8.0-45-generic");
  CHECK(fact(m, "GPUDirect RDMA").mark == Mark::note);
  CHECK(has(fact(m, "GPUDirect RDMA"), "dma-buf"));

  fs::create_directories(fs::path(m.root.path) / "sys/module/nvidia_peermem");
  CHECK(fact(m, "GPUDirect RDMA").mark == Mark::yes);
}

TEST_CASE("the driver's view") {
  Machine m;
  two_sockets(m);
  m.gpu("pci0000:80/0000:80:02.0/0000:9b:00.0", 1);  // not given to this container
  CHECK(pci_address("00000000:9A:00.0") == "0000:9a:00.0");
  CHECK(pci_address("0001:9A:00.0") == "0001:9a:00.0");

  Topology t = with_driver(m.read(), switched({"0000:9a:00.0", "0000:18:00.0"}, 18));
  REQUIRE(t.gpus.size() == 2);  // in the driver's order
  CHECK(t.gpus[0].pci.numa == 1);
  CHECK(gpu_relation(t, 0, 1) == "NV18");
  CHECK(has(fact(topology_facts(t), "GPU 0"), "NVIDIA H200, 0000:9a:00.0"));
  CHECK(has(fact(topology_facts(t), "NVLink"), "up to 18 a GPU of 26.6 GB/s each way, 478 GB/s together"));
  CHECK(has(fact(topology_facts(t), "NVLink"), "NVSwitch"));
  const auto rows = topology_matrix(t);
  REQUIRE(rows.size() == 4);
  CHECK(has(rows[1], "NV18"));
  CHECK(has(rows[3], "NV#: # NVLinks"));

  // One link of GPU 1 is down: 17 join the two, and GPU 1 is named.
  t.nvml.gpus[1].links[4].active = false;
  CHECK(gpu_relation(t, 0, 1) == "NV17");
  CHECK(fact(topology_facts(t), "NVLink of GPU 1").mark == Mark::no);
  CHECK(has(fact(topology_facts(t), "NVLink of GPU 1"), "17 active, other GPUs have 18"));
}

TEST_CASE("GPUs joined directly, by bridges or not at all") {
  Machine m;
  two_sockets(m);
  NvmlView view = switched({"0000:18:00.0", "0000:9a:00.0"}, 0);
  view.level[0][1] = view.level[1][0] = 40;
  view.peer[0][1] = view.peer[1][0] = 1;
  Topology t = with_driver(m.read(), view);
  CHECK(gpu_relation(t, 0, 1) == "NODE");  // the driver's word counts before that of /sys
  CHECK(fact(topology_facts(t), "NVLink").mark == Mark::none);
  CHECK(fact(topology_facts(t), "peer access").mark == Mark::note);
  CHECK(has(fact(topology_facts(t), "peer access"), "GPUs 0-1: the chipset"));

  for (int i = 0; i < 4; ++i) {
    t.nvml.gpus[0].links.push_back({true, NvLink::End::gpu, "0000:9a:00.0", 25});
    t.nvml.gpus[1].links.push_back({true, NvLink::End::gpu, "0000:18:00.0", 25});
  }
  t.nvml.gpus[0].links.push_back({true, NvLink::End::gpu, "0000:77:00.0", 25});  // to a third GPU
  CHECK(gpu_relation(t, 0, 1) == "NV4");
  CHECK(gpu_relation(t, 1, 0) == "NV4");
}

TEST_CASE("GPUs without a driver") {
  Machine m;
  two_sockets(m);
  NvmlView view;
  view.problem = "no NVIDIA driver (libnvidia-ml.so.1 was not found)";
  const Topology t = with_driver(m.read(), view);
  CHECK(t.gpus.size() == 2);
  CHECK(fact(topology_facts(t), "NVIDIA driver's view").mark == Mark::no);
  CHECK(has(topology_matrix(t)[1], "SYS"));
}

TEST_CASE("what a PCI Express link carries") {
  CHECK(bytes_per_second({32, 32, 16, 16}) == Approx(63.0e9).epsilon(0.01));
  CHECK(bytes_per_second({8, 8, 16, 16}) == Approx(15.75e9).epsilon(0.01));
  CHECK(bytes_per_second({2.5, 2.5, 1, 1}) == Approx(0.25e9).epsilon(0.01));
  CHECK(bytes_per_second({}) == 0);
}
