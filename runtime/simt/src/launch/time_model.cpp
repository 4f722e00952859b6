#include "launch/time_model.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::simt {

namespace {

// Fitted to 81 kernels on an H200 (benchmarks/fidelity); what is a fact of the machine is in the profile.
//
// Limits that lie close together cost more than the highest alone: seconds = (sum of seconds^p)^(1/p).
constexpr double kNorm = 3;
// A GPU's instructions for one of the CPU build's.
constexpr double kGpuInstructions = 0.6;
// Wavefronts of shared memory that an atomic wavefront takes the time of.
constexpr double kSharedAtomic = 7;

double round_up(double n, double unit) { return unit <= 0 ? n : std::ceil(n / unit) * unit; }

double block_count(const LaunchConfig& c) {
  return static_cast<double>(c.grid.x) * static_cast<double>(c.grid.y) * static_cast<double>(c.grid.z);
}
unsigned thread_count(const LaunchConfig& c) { return c.block.x * c.block.y * c.block.z; }

}  // namespace

Occupancy theoretical_occupancy(const DeviceProfile& p, unsigned threads_per_block, std::size_t shared,
                                unsigned registers) {
  const double warps = std::ceil(std::max(threads_per_block, 1u) / 32.0);
  const double shared_bytes =
      round_up(static_cast<double>(shared) + p.shared_reserved_per_block, p.shared_unit);  // a block's
  struct Limit {
    double blocks;
    const char* name;
  };
  Limit limits[] = {
      {std::floor(p.max_threads_per_sm / 32 / warps), "warps"},
      {p.max_blocks_per_sm, "blocks"},
      {shared_bytes > 0 ? std::floor(p.shared_per_sm / shared_bytes) : p.max_blocks_per_sm, "shared memory"},
      {p.max_blocks_per_sm, "registers"},
  };
  if (registers > 0) {
    // Warps get registers in units, and each of the SM's four schedulers has a quarter of them.
    const double of_warp = round_up(registers * 32.0, p.register_unit);
    limits[3].blocks = std::floor(std::floor(p.registers_per_sm / 4 / of_warp) * 4 / warps);
    limits[3].blocks = std::max(limits[3].blocks, 1.0);  // an estimate: nvcc would spill
  }
  const Limit* least = std::min_element(std::begin(limits), std::end(limits),
                                        [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
  Occupancy o;
  o.blocks_per_sm = static_cast<unsigned>(std::max(least->blocks, 0.0));
  if (threads_per_block > 1024 || static_cast<double>(shared) > p.shared_per_block_optin) o.blocks_per_sm = 0;
  o.warps_per_sm = o.blocks_per_sm * static_cast<unsigned>(warps);
  o.share = o.warps_per_sm / (p.max_threads_per_sm / 32);
  o.limited_by = o.blocks_per_sm == 0 ? "nothing fits" : least->name;
  return o;
}

namespace {

Occupancy occupancy_of(const DeviceProfile& p, const LaunchConfig& config, const KernelResources& resources) {
  return theoretical_occupancy(p, thread_count(config), resources.static_shared + config.dynamic_shared,
                               resources.registers);
}

}  // namespace

double gpu_share(const DeviceProfile& p, const LaunchConfig& config, const KernelResources& resources) {
  const Occupancy o = occupancy_of(p, config, resources);
  return std::min(1.0, block_count(config) / (p.sms * std::max(o.blocks_per_sm, 1u)));
}

std::array<Roof, kRoofs> kernel_roofs(const DeviceProfile& p, const LaunchConfig& config,
                                      const KernelResources& resources, const KernelCounters& c) {
  auto op = [&](Op o) -> const AccessCount& { return c.op[static_cast<std::size_t>(o)]; };
  auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  const AccessCount &loads = op(Op::global_load), &stores = op(Op::global_store);
  const AccessCount &reds = op(Op::global_red), &atoms = op(Op::global_atom);
  const double requests = number(loads.requests + stores.requests + reds.requests + atoms.requests);
  const double sectors = number(loads.sectors + stores.sectors);
  const double atomic_turns = number(reds.sectors + atoms.sectors);
  const double shared_wavefronts = number(op(Op::shared_load).wavefronts + op(Op::shared_store).wavefronts) +
                                   kSharedAtomic * number(op(Op::shared_atom).wavefronts);
  // What bulk copies bring to shared memory and take from it, and what wgmma reads there: 128 bytes a cycle.
  const double async_wavefronts =
      number(c.async.wgmma_wavefronts) + number(c.async.brought + c.async.bytes_written) / 128;
  // Without the cache model's sums every sector counts as one of DRAM.
  const bool cached = c.l2_bytes != 0 || c.link_read + c.link_written != 0;
  const double l2_bytes = cached ? number(c.l2_bytes) : (sectors + number(c.async.sectors())) * kSectorBytes;
  const double dram_bytes = cached || c.dram_bytes != 0 ? number(c.dram_bytes) : l2_bytes;
  // Sectors that are written in part: L2 merges them.
  const double partial = std::max(0.0, number(stores.sectors) - number(stores.bytes) / kSectorBytes);

  // Tail: the SM with the most blocks is the last one. `amount` of work spread over the GPU takes this long.
  const double blocks = block_count(config);
  const double busiest = std::ceil(blocks / p.sms);
  auto on_sms = [&](double amount, double per_sm_cycle) {
    return per_sm_cycle > 0 ? amount / blocks * busiest / per_sm_cycle / p.clock_hz : 0.0;
  };

  // Little's law: a warp passes its own chain of waits for loads, instructions and barriers; so do all resident ones at
  // once. Loads that do not depend on each other are one wait (rewrite/assembly/load_waits.hpp); a load that no
  // instrumented code makes is one of its own. A request waits for the last of its lines in L2: the largest of n
  // exponentially distributed delays is on average about ln(n) longer than one of them.
  const Occupancy o = occupancy_of(p, config, resources);
  const double resident = p.sms * std::max(o.blocks_per_sm, 1u);
  const double waves = std::max(1.0, blocks / resident);
  const double warps = std::max(1.0, blocks * std::ceil(thread_count(config) / 32.0));
  auto share = [](double part, double whole) { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0.0; };
  const double bulk_bytes = number(c.async.bytes_read + c.async.bytes_written);
  const double from_l2 =
      share((l2_bytes - bulk_bytes) / kSectorBytes - number(stores.sectors) - atomic_turns, number(loads.sectors));
  const double from_dram = from_l2 * share(dram_bytes, l2_bytes);
  const double from_host = share(number(c.link_read) / kSectorBytes, number(loads.sectors));
  const double places = requests > 0 ? std::max(1.0, number(c.l1_lines) / requests * from_l2) : 1.0;
  const double load_latency = p.l1_latency + from_l2 * (p.l2_latency + p.l2_spread * std::log(places)) +
                              from_dram * p.dram_latency + from_host * p.copy_latency;
  const double chain = number(loads.requests) / warps, waits = number(c.load_waits) / warps;
  const double serial = chain > 0 ? std::max(1.0, waits > 0 ? std::min(waits, chain) : chain) : 0.0;
  // A ring of stages that bulk copies fill: a stage is used again after its copy has come, its products have ended and
  // their warps have arrived at its mbarriers. As many uses are under way at once as the ring has stages.
  const AsyncCounters& a = c.async;
  const double stages = a.phases == 0 ? 1 : std::max(1.0, number(a.under_way) * number(a.phases) / number(a.brought));
  const double copy_latency = p.l1_latency + p.l2_latency + share(dram_bytes, l2_bytes) * p.dram_latency;
  const double products = p.matrix_flops <= 0 ? 0 : number(a.operations_16bit) / p.matrix_flops / p.clock_hz;
  const double ring =
      a.phases == 0 ? 0
                    : (number(a.phases) * copy_latency + products + number(c.memory_barriers) * p.barrier_latency) /
                          blocks / stages;
  const std::uint64_t barriers = c.barriers + (a.phases == 0 ? c.memory_barriers : 0);
  const double latency = serial * load_latency + number(c.warp_instructions) / warps * p.instruction_latency +
                         number(barriers) / blocks * p.barrier_latency + ring;

  return {{
      {"DRAM bandwidth", dram_bytes / (p.dram_bandwidth * p.dram_efficiency)},
      {"L2 bandwidth", std::max(0.0, l2_bytes - bulk_bytes) / p.l2_bandwidth +
                           bulk_bytes / (p.l2_bulk_bandwidth > 0 ? p.l2_bulk_bandwidth : p.l2_bandwidth)},
      {"L2 partial writes", partial / p.l2_partial_writes},
      {"link to the host", std::max(number(c.link_read), number(c.link_written)) / p.pcie_pinned},
      // A global request takes a wavefront for each 128-byte line, shared memory its wavefronts.
      {"L1 wavefronts",
       on_sms(std::max({requests, sectors / p.l1_sectors, number(c.l1_lines)}) + shared_wavefronts + async_wavefronts,
              p.l1_wavefronts)},
      {"instruction issue", on_sms(number(c.warp_instructions) * kGpuInstructions, p.warp_instructions)},
      {"fp32", on_sms(number(c.fp32), p.fp32_flops)},
      {"fp64", on_sms(number(c.fp64), p.fp64_flops)},
      {"special functions", on_sms(number(c.special), p.special_operations)},
      {"matrix units", on_sms(number(c.matrix - a.operations + a.operations_16bit), p.matrix_flops)},
      {"atomics", atomic_turns * p.atomic_seconds + number(c.busiest_atomic_line()) * p.atomic_line_seconds},
      {"block starts", blocks / p.block_starts},
      {"latency", waves * latency},
  }};
}

double kernel_seconds(const DeviceProfile& p, const LaunchConfig& config, const KernelResources& resources,
                      const KernelCounters& c) {
  const auto roofs = kernel_roofs(p, config, resources, c);
  double highest = 0, sum = 0;
  for (const Roof& roof : roofs) highest = std::max(highest, roof.seconds);
  if (highest == 0) return 0;
  for (const Roof& roof : roofs) sum += std::pow(roof.seconds / highest, kNorm);
  return highest * std::pow(sum, 1 / kNorm);
}

void set_link_shares(const DeviceProfile& p, const KernelCounters& c, double seconds, double& in, double& out) {
  auto share = [&](std::uint64_t bytes) {
    return seconds > 0 ? std::min(1.0, static_cast<double>(bytes) / p.pcie_pinned / seconds) : 0.0;
  };
  in = share(c.link_read);
  out = share(c.link_written);
}

double copy_seconds(const DeviceProfile& p, CopyPath path, std::size_t bytes, bool pageable) {
  const auto n = static_cast<double>(bytes);
  switch (path) {
    case CopyPath::host_to_device:
    case CopyPath::device_to_host:
      return p.copy_latency + n / (pageable ? p.pcie_pageable : p.pcie_pinned);
    case CopyPath::on_device:  // read and written
      return p.kernel_latency + 2 * n / (p.dram_bandwidth * p.dram_efficiency);
    case CopyPath::on_host:
      return n / p.pcie_pinned;
    case CopyPath::between_devices:
      return p.copy_latency + n / (p.peer_bandwidth > 0 ? p.peer_bandwidth : p.pcie_pinned);
  }
  return 0;
}

double fill_seconds(const DeviceProfile& p, std::size_t bytes) {
  return p.kernel_latency + static_cast<double>(bytes) / (p.dram_bandwidth * p.dram_efficiency);
}

}  // namespace ridge::simt
