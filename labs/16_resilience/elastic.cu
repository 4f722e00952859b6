// Lab 16, task `elastic`: training goes on without a rank that dies, and takes it back when it returns.
// Run: ./ridge check 16 --task elastic
#include "elastic.hpp"

// TASK(elastic)
void poll(Agent& me, World& world) {
  // TODO: this is training without failures, and without checkpoints.
  if (me.generation == 0) me.generation = 1, me.members = (1 << kWorkers) - 1;
  if (me.step == kSteps) return;
  const std::uint64_t mine = world.gradient(me, share_begin(me.rank, kWorkers), share_begin(me.rank + 1, kWorkers));
  std::uint64_t sum = 0;
  if (!world.all_reduce(me, mine, sum)) return;
  me.state = updated(me.state, sum);
  ++me.step;
}
// END(elastic)
