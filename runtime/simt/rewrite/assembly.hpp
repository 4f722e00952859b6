// The compiler's assembly, made ready for the emulator: flow graphs, instruction mixes and red zones.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ridge::simt {

struct Annotated {
  std::string text;
  std::vector<std::string> errors;  // what nvcc's assembler would refuse: too much static shared memory
};

// For code compiled with -fsanitize=thread and -fsanitize-coverage=trace-pc (x86-64, AT&T syntax, of Clang or GCC):
// - a call at the start of each basic block becomes __ridge_block(record), with the records (src/block_record.hpp) in
//   section ridge_blocks: the function's loops by Bourdoncle's weak topological order, and the instruction mix;
// - each function's __shared__ arrays are listed in section ridge_shared;
// - variables get 256 bytes of red zone behind them;
// - calls of memcpy, memmove and memset go to their counted versions.
// Text for other processors only gets the last of these: there, requests are grouped without a graph.
Annotated annotate_assembly(std::string_view text);

// The weak topological order of a graph: for each node its place, the head of the innermost component that it lies in
// (a head: itself) or -1, the head of the component around a head's own or -1, and the number of components around it.
struct FlowNode {
  std::vector<int> next;
  int position = 0, loop = -1, outer = -1, depth = 0;
};
// Node 0 is the entry; nodes that cannot be reached come last.
void weak_topological_order(std::vector<FlowNode>& nodes);

}  // namespace ridge::simt
