// The weak topological order of a flow graph (F. Bourdoncle, "Efficient chaotic iteration strategies with widenings",
// 1993): its loops, nested, also where control flow is irreducible.
#pragma once
#include <vector>

namespace ridge::simt {

struct FlowGraph {
  std::vector<std::vector<int>> successors;
  std::vector<int> entries;  // nodes at which a call of the function may begin
};

struct FlowPlace {
  int loop = -1;   // head of the innermost loop around the node (a head's own)
  int outer = -1;  // a head's: head of the loop around its own
  int position = 0;
  int depth = 0;  // number of loops around the node, a head's own included
};

// One place a node. Nodes that no entry reaches have places too.
std::vector<FlowPlace> weak_topological_order(const FlowGraph& graph);

}  // namespace ridge::simt
