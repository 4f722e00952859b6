#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/simulate/simulate.hpp"
#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"
#include "grader/result/result.hpp"
#include "network/links/group_times.hpp"

namespace ridge::simulate {

using namespace network;

int run_collective(const Arguments& a, const Cluster& cluster) {
  if (const std::string why = misfit(a.layout); !why.empty())
    throw Error(Exit::usage, fmt::format("this layout is impossible: {}", why), "change the sizes");
  if (!a.timeline.empty() || a.reliability.gpu_hours_between_failures > 0)
    throw Error(Exit::usage, "--timeline and --failures belong to a training step", "leave them or --collective out");
  const Links links(cluster.fabric, a.layout.ranks());
  const RingCost cost = ring_cost(links, a.group == "tensor" ? tensor_groups(a.layout) : data_groups(a.layout), a.seed);
  if (cost.ranks < 2)
    throw Error(Exit::usage, fmt::format("the {}-parallel groups have one rank", a.group),
                fmt::format("add --{} N", a.group));
  if (a.bytes <= 0) throw Error(Exit::usage, "a collective needs --bytes N", "N is the size of the whole vector");
  const bool reduces = a.collective == "all-reduce";
  const double seconds = reduces ? cost.all_reduce(a.bytes) : cost.reduce_scatter(a.bytes);
  // As nccl-tests count it: the bytes that each rank sends, over the time.
  const double bus = (reduces ? 2 : 1) * a.bytes * (cost.ranks - 1) / cost.ranks / seconds;
  const int groups = a.layout.ranks() / cost.ranks;
  fmt::print("{} of {:.0f} bytes in {} group{} of {} ranks at once, {}\n", a.collective, a.bytes, groups,
             groups == 1 ? "" : "s", cost.ranks, cluster.fabric.title);
  fmt::print("time {:.4f} ms; bus bandwidth {:.1f} GB/s, where the slowest link leaves {:.1f} GB/s\n", seconds * 1e3,
             bus / 1e9, 1 / cost.seconds_per_byte / 1e9);
  if (!a.json.empty())
    write_durably(fs::absolute(a.json), nlohmann::json{{"schema", "ridge.simulation/1"},
                                                       {"collective", a.collective},
                                                       {"fabric", a.fabric},
                                                       {"bytes", a.bytes},
                                                       {"groups", groups},
                                                       {"ranks", cost.ranks},
                                                       {"seconds", seconds},
                                                       {"bus_bytes_per_s", bus}}
                                                .dump(1) +
                                            "\n");
  return static_cast<int>(Exit::passed);
}

}  // namespace ridge::simulate
