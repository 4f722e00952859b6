// What a step's messages cost: those of the tensor-parallel and data-parallel groups, and those between stages.
#pragma once
#include <cstdint>

#include "layout.hpp"
#include "links/fabric.hpp"
#include "links/group_times.hpp"
#include "transformer.hpp"

namespace ridge::network {

struct StepNetwork {
  RingCost tensor, data;
  RingCost ends;                                    // the first and the last stage, which share a tied embedding
  double stage_bytes = 0, stage_seconds = 0;        // of a message from stage to stage
  Slowdown tensor_beside_data, stages_beside_data;  // where both kinds send
};

// `seed` draws the paths of flows.
StepNetwork step_network(const Links& links, const Transformer& model, const Layout& layout, std::uint64_t seed);

}  // namespace ridge::network
