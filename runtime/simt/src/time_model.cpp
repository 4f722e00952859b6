#include "time_model.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::simt {

namespace {

// Loads that a warp has in flight before it waits for the first (compilers hoist loads of unrolled loops).
constexpr double kLoadsInFlight = 4;
// Independent instructions of a warp between two that depend on each other.
constexpr double kIndependentInstructions = 2;

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
      round_up(static_cast<double>(shared) + p.shared_reserved_per_block, p.shared_unit);  // of one block
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

double chip_share(const DeviceProfile& p, const LaunchConfig& config, std::size_t static_shared) {
  const Occupancy o = theoretical_occupancy(p, thread_count(config), static_shared + config.dynamic_shared);
  return std::min(1.0, block_count(config) / (p.sms * std::max(o.blocks_per_sm, 1u)));
}

std::array<Roof, kRoofs> kernel_roofs(const DeviceProfile& p, const LaunchConfig& config, std::size_t static_shared,
                                      const KernelCounters& c) {
  auto op = [&](Op o) -> const AccessCount& { return c.op[static_cast<std::size_t>(o)]; };
  auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  const AccessCount &loads = op(Op::global_load), &stores = op(Op::global_store);
  const AccessCount &reds = op(Op::global_red), &atoms = op(Op::global_atom);
  const double requests = number(loads.requests + stores.requests + reds.requests + atoms.requests);
  const double sectors = number(loads.sectors + stores.sectors);
  const double atomic_sectors = number(reds.sectors + atoms.sectors);
  const double shared_wavefronts =
      number(op(Op::shared_load).wavefronts + op(Op::shared_store).wavefronts + op(Op::shared_atom).wavefronts);
  // Without the cache model's sums every sector counts as one of DRAM.
  const double l2_bytes = c.l2_bytes != 0 ? number(c.l2_bytes) : sectors * kSectorBytes;
  const double dram_bytes = c.dram_bytes != 0 || c.l2_bytes != 0 ? number(c.dram_bytes) : l2_bytes;

  // Tail: the SM with the most blocks is the last one. `sm_seconds` of work spread over the chip takes this long.
  const double blocks = block_count(config);
  const double busiest = std::ceil(blocks / p.sms);
  auto on_sms = [&](double amount, double per_sm_cycle) {
    return per_sm_cycle > 0 ? amount / blocks * busiest / per_sm_cycle / p.clock_hz : 0.0;
  };

  // Little's law: in one wave of resident blocks a warp passes its own chain of loads and instructions.
  const Occupancy o = theoretical_occupancy(p, thread_count(config), static_shared + config.dynamic_shared);
  const double waves = std::ceil(blocks / (p.sms * std::max(o.blocks_per_sm, 1u)));
  const double warps = std::max(1.0, blocks * std::ceil(thread_count(config) / 32.0));
  const double chain = number(loads.requests + atoms.requests) / warps / kLoadsInFlight * p.dram_latency +
                       number(c.warp_instructions) / warps / kIndependentInstructions * p.instruction_latency;

  return {{
      {"DRAM bandwidth", dram_bytes / (p.dram_bandwidth * p.dram_efficiency)},
      {"L2 bandwidth", l2_bytes / p.l2_bandwidth},
      // A global request takes one pass for each 4 sectors (128 bytes), shared memory its wavefronts.
      {"L1 wavefronts", on_sms(std::max(requests, sectors / p.l1_sectors) + shared_wavefronts, p.l1_wavefronts)},
      {"instruction issue", on_sms(number(c.warp_instructions), p.warp_instructions)},
      {"fp32", on_sms(number(c.fp32), p.fp32_flops)},
      {"fp64", on_sms(number(c.fp64), p.fp64_flops)},
      {"special functions", on_sms(number(c.special), p.special_operations)},
      {"matrix units", on_sms(number(c.matrix), p.matrix_flops)},
      {"atomics", atomic_sectors / p.l2_atomics / p.clock_hz},
      {"latency", waves * chain},
  }};
}

double kernel_seconds(const DeviceProfile& p, const LaunchConfig& config, std::size_t static_shared,
                      const KernelCounters& c) {
  double seconds = 0;
  for (const Roof& roof : kernel_roofs(p, config, static_shared, c)) seconds = std::max(seconds, roof.seconds);
  return seconds;
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
  }
  return 0;
}

double fill_seconds(const DeviceProfile& p, std::size_t bytes) {
  return p.kernel_latency + static_cast<double>(bytes) / (p.dram_bandwidth * p.dram_efficiency);
}

}  // namespace ridge::simt
