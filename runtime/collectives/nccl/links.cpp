#include "links.hpp"

#include <memory>
#include <stdexcept>

#include "../judged.hpp"
#include "../network.hpp"
#include "device/device_profile.hpp"
#include "group.hpp"
#include "launch/time_model.hpp"
#include "node.hpp"

namespace ridge::collectives {

namespace {

std::unique_ptr<Network>& network() {
  static auto* made = new std::unique_ptr<Network>;
  return *made;
}

}  // namespace

bool set_links(const char* name, int node, int ranks) {
  network().reset();
  if (name == nullptr || name[0] == 0) return true;
  Topology topology;
  std::string error;
  if (!parse_topology(built_in_topology(name), topology, error) || topology.levels.empty()) return false;
  if (node > 0) topology.levels.front().size = node;
  try {
    network() = std::make_unique<Network>(topology, ranks);
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}

Link link_between(const ncclComm& comm, int a, int b) {
  const simt::DeviceProfile& p = simt::device_profile();
  Link link;
  link.latency = copy_seconds(p, simt::CopyPath::between_devices, 0, false);
  constexpr std::size_t kMuch = std::size_t{1} << 30;
  link.seconds_per_byte =
      (copy_seconds(p, simt::CopyPath::between_devices, kMuch, false) - link.latency) / static_cast<double>(kMuch);
  if (!network() || !Node::instance().judged()) return link;
  // A judged rank's process is its number in the world, and one.
  auto world = [&](int rank) { return static_cast<int>(comm.processes[static_cast<std::size_t>(rank)]) - 1; };
  if (world(a) >= network()->ranks() || world(b) >= network()->ranks()) return link;
  const Network::Kind& kind = network()->kind(network()->route(world(a), world(b)));
  return {kind.latency, kind.seconds_per_byte};
}

}  // namespace ridge::collectives

std::string ridge_refused_call() {
  std::lock_guard lock(ridge::simt::Engine::instance().mutex);
  std::string refused = std::exchange(ridge::collectives::refused_call(), {});
  if (refused.empty() && ridge::collectives::group_is_open())
    refused = "ncclGroupStart without ncclGroupEnd: none of the group's calls was made";
  return refused;
}

std::size_t ridge_live_communicators() {
  std::lock_guard lock(ridge::simt::Engine::instance().mutex);
  std::size_t n = 0;
  for (const ncclComm* comm : ridge::collectives::Ranks::instance().all()) n += comm->live ? 1 : 0;
  return n;
}

bool ridge_set_links(const char* topology, int node, int ranks) {
  std::lock_guard lock(ridge::simt::Engine::instance().mutex);
  return ridge::collectives::set_links(topology, node, ranks);
}
