// How often a warp waits for loads from memory, as the code says. A GPU issues a warp's instructions in order: the
// first one that needs a loaded value waits for it, and for all loads before it. Compilers move loads up within a basic
// block. So loads whose addresses are known there are under way together, and a load whose address is loaded waits.
#pragma once
#include <vector>

#include "flow_order.hpp"
#include "load_steps.hpp"

namespace ridge::simt {

struct LoadFlow {
  std::vector<std::vector<LoadStep>> steps;  // basic blocks, as in the graph
  FlowGraph graph;
  std::vector<FlowPlace> places;  // the graph's weak topological order
};

// Waits of one run of each basic block. A loop of one block whose iterations depend on loads of the iteration before
// waits for these alone: what else it loads is needed while the next iteration's loads are under way, wherever the
// compiler put the loop's beginning.
std::vector<int> load_waits(const LoadFlow& flow);

}  // namespace ridge::simt
