// `ridge doctor --links`: ten seconds in which everything that carries data between ranks and GPUs is used once.
#pragma once
#include "grader/base/doctor_facts.hpp"
#include "grader/machine/topology/topology.hpp"
#include "grader/worker/ranks.hpp"

namespace ridge {

// Ends within about 10 s whatever a link does: what may hang runs in processes of its own.
Facts check_links(const Topology& topology);

Fact rank_fact(const RanksRun& run);

}  // namespace ridge
