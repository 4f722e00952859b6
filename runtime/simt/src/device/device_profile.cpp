#include "device/device_profile.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "device/toml_line.hpp"

namespace ridge::simt {

namespace {

struct BuiltIn {
  const char* id;
  const char* text;
};
constexpr BuiltIn kBuiltIn[] = {
#include "device_profiles.inc"
};

struct Key {
  const char* name;
  double DeviceProfile::*value;
  bool optional = false;
};
constexpr Key kKeys[] = {
    {"major", &DeviceProfile::major},
    {"minor", &DeviceProfile::minor},
    {"sms", &DeviceProfile::sms},
    {"clock_hz", &DeviceProfile::clock_hz},
    {"memory_clock_hz", &DeviceProfile::memory_clock_hz},
    {"memory_bus_bits", &DeviceProfile::memory_bus_bits},
    {"max_threads_per_sm", &DeviceProfile::max_threads_per_sm},
    {"max_blocks_per_sm", &DeviceProfile::max_blocks_per_sm},
    {"registers_per_sm", &DeviceProfile::registers_per_sm},
    {"register_unit", &DeviceProfile::register_unit},
    {"l1_bytes", &DeviceProfile::l1_bytes},
    {"shared_per_sm", &DeviceProfile::shared_per_sm},
    {"shared_per_block", &DeviceProfile::shared_per_block},
    {"shared_per_block_optin", &DeviceProfile::shared_per_block_optin},
    {"shared_reserved_per_block", &DeviceProfile::shared_reserved_per_block},
    {"shared_unit", &DeviceProfile::shared_unit},
    {"l2_bytes", &DeviceProfile::l2_bytes},
    {"global_bytes", &DeviceProfile::global_bytes},
    {"dram_bandwidth", &DeviceProfile::dram_bandwidth},
    {"dram_efficiency", &DeviceProfile::dram_efficiency},
    {"l2_bandwidth", &DeviceProfile::l2_bandwidth},
    {"l2_bulk_bandwidth", &DeviceProfile::l2_bulk_bandwidth, true},
    {"pcie_pinned", &DeviceProfile::pcie_pinned},
    {"pcie_pageable", &DeviceProfile::pcie_pageable},
    {"managed_migration", &DeviceProfile::managed_migration},
    {"peer_bandwidth", &DeviceProfile::peer_bandwidth, true},
    {"warp_instructions", &DeviceProfile::warp_instructions},
    {"l1_wavefronts", &DeviceProfile::l1_wavefronts},
    {"l1_sectors", &DeviceProfile::l1_sectors},
    {"fp32_flops", &DeviceProfile::fp32_flops},
    {"fp64_flops", &DeviceProfile::fp64_flops},
    {"special_operations", &DeviceProfile::special_operations},
    {"matrix_flops", &DeviceProfile::matrix_flops},
    {"l2_partial_writes", &DeviceProfile::l2_partial_writes},
    {"block_starts", &DeviceProfile::block_starts},
    {"atomic_seconds", &DeviceProfile::atomic_seconds},
    {"atomic_line_seconds", &DeviceProfile::atomic_line_seconds},
    {"l1_latency", &DeviceProfile::l1_latency},
    {"l2_latency", &DeviceProfile::l2_latency},
    {"l2_spread", &DeviceProfile::l2_spread, true},
    {"barrier_latency", &DeviceProfile::barrier_latency},
    {"dram_latency", &DeviceProfile::dram_latency},
    {"instruction_latency", &DeviceProfile::instruction_latency},
    {"kernel_latency", &DeviceProfile::kernel_latency},
    {"graph_node_latency", &DeviceProfile::graph_node_latency},
    {"copy_latency", &DeviceProfile::copy_latency},
    {"launch_call", &DeviceProfile::launch_call},
    {"copy_call", &DeviceProfile::copy_call},
    {"event_call", &DeviceProfile::event_call},
    {"graph_call", &DeviceProfile::graph_call},
    {"sync_call", &DeviceProfile::sync_call},
};

[[noreturn]] void give_up(const std::string& what) {
  std::string known;
  for (const auto& b : kBuiltIn) known += std::string(known.empty() ? "" : ", ") + b.id;
  std::fprintf(stderr, "ridge: RIDGE_DEVICE: %s\n  known devices: %s; or give the path of a .toml file\n", what.c_str(),
               known.c_str());
  std::_Exit(3);
}

}  // namespace

bool parse_device_profile(std::string_view toml, DeviceProfile& profile, std::string& error) {
  std::vector<bool> seen(std::size(kKeys));
  std::string table;
  for (std::size_t at = 0, number = 1; at < toml.size(); ++number) {
    std::size_t end = std::min(toml.find('\n', at), toml.size());
    std::string_view line = trimmed(without_comment(toml.substr(at, end - at)));
    at = end + 1;
    if (line.empty()) continue;
    if (line.front() == '[') {
      table = line;
      continue;
    }
    std::size_t equals = line.find('=');
    std::string key(trimmed(line.substr(0, equals)));
    std::string value(equals == std::string_view::npos ? "" : trimmed(line.substr(equals + 1)));
    if (table.empty() && key == "name" && value.size() >= 2) profile.name = value.substr(1, value.size() - 2);
    if (table != "[device]") continue;
    std::size_t k = 0;
    while (k < std::size(kKeys) && key != kKeys[k].name) ++k;
    char* rest = nullptr;
    double parsed = std::strtod(value.c_str(), &rest);
    if (k == std::size(kKeys) || value.empty() || *rest != 0) {
      error = "line " + std::to_string(number) + ": " +
              (k == std::size(kKeys) ? "unknown key '" + key + "' in [device]" : "'" + value + "' is not a number");
      return false;
    }
    profile.*kKeys[k].value = parsed;
    seen[k] = true;
  }
  for (std::size_t k = 0; k < seen.size(); ++k)
    if (!seen[k] && !kKeys[k].optional) {
      error = std::string("[device] has no '") + kKeys[k].name + "'";
      return false;
    }
  return true;
}

std::string_view built_in_profile(std::string_view id) {
  for (const auto& b : kBuiltIn)
    if (id == b.id) return b.text;
  return {};
}

const DeviceProfile& device_profile() {
  static const auto* profile = new DeviceProfile([] {
    const char* given = std::getenv("RIDGE_DEVICE");
    std::string id = given != nullptr && *given != 0 ? given : "h200", text, error;
    DeviceProfile p;
    if (id.size() > 5 && id.compare(id.size() - 5, 5, ".toml") == 0) {
      std::ifstream in(id);
      std::stringstream all;
      all << in.rdbuf();
      text = all.str();
      if (!in || text.empty()) give_up("cannot read " + id);
      std::size_t slash = id.rfind('/') + 1;  // 0 where there is none
      p.id = id.substr(slash, id.size() - 5 - slash);
    } else {
      text = built_in_profile(id);
      if (text.empty()) give_up("no device '" + id + "'");
      p.id = id;
    }
    if (!parse_device_profile(text, p, error)) give_up(id + ": " + error);
    return p;
  }());
  return *profile;
}

}  // namespace ridge::simt
