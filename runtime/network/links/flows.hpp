// Flows that share links: max-min fair rates by progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2).
//
// A flow is a fluid: there are no packets, queues, losses or retransmissions. Flows on a full link have equal shares of
// it, but for those that another link holds below theirs.
#pragma once
#include <cstdint>
#include <vector>

namespace ridge::network {

using Flow = std::vector<std::int32_t>;  // the links that it takes

// B/s of each flow, all of them there at once; infinite for a flow without links. `capacities`: B/s of each link.
std::vector<double> fair_rates(const std::vector<double>& capacities, const std::vector<Flow>& flows);

}  // namespace ridge::network
