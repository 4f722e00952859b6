// Processor time of the simulator for a ring all-reduce: ./ring [RANKS [REPETITIONS]]
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>

#include "collectives/simulation.hpp"

using namespace ridge::collectives;

namespace {

// Reduce-scatter and all-gather of 1 GiB; each step of the first is followed by a kernel that adds.
void ring(Rank& r) {
  const int p = r.ranks(), next = (r.rank() + 1) % p, previous = (r.rank() + p - 1) % p;
  const double bytes = static_cast<double>(1 << 30) / p;
  for (int step = 0; step < 2 * (p - 1); ++step) {
    r.group_start();
    r.send(next, bytes);
    r.receive(previous, bytes);
    r.group_end();
    if (step < p - 1) r.kernel(1e-13 * bytes);
  }
  r.synchronize();
}

}  // namespace

int main(int count, char** arguments) {
  const int ranks = count > 1 ? std::atoi(arguments[1]) : 4096;
  const int repetitions = count > 2 ? std::atoi(arguments[2]) : 3;
  Topology topology;
  std::string error;
  if (!parse_topology(built_in_topology("fat_tree"), topology, error)) {
    std::cerr << error << '\n';
    return 1;
  }
  for (int i = 0; i < repetitions; ++i) {
    const std::clock_t begin = std::clock();
    const Outcome o = simulate(topology, ranks, ring);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    std::cout << ranks << " ranks: " << seconds << " s of processor time for " << o.messages << " messages, "
              << 1e9 * seconds / static_cast<double>(o.messages) << " ns each\n";
  }
}
