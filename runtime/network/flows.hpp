// Flows that share links: max-min fair rates by progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2).
//
// A flow is a fluid: there are no packets, queues, losses or retransmissions. Flows on a full link have equal shares of
// it, but for those that another link holds below theirs.
#pragma once
#include <cstdint>
#include <vector>

namespace ridge::network {

struct Flow {
  std::vector<std::int32_t> links;  // empty: it needs no link, and no time
  double bytes = 0;
  double start = 0;  // s
};

// B/s of each flow, all of them there at once; infinite for a flow without links.
std::vector<double> fair_rates(const std::vector<double>& capacities, const std::vector<Flow>& flows);
// The second at which each flow has ended, with new rates whenever one starts or ends.
std::vector<double> finish_times(const std::vector<double>& capacities, const std::vector<Flow>& flows);

}  // namespace ridge::network
