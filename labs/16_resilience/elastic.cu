// Lab 16, task `elastic`: training goes on without a rank that dies, and takes it back when it returns.
// Run: ./ridge check 16 --task elastic
#include "elastic.hpp"

// TASK(elastic)
void poll(Agent& me, World& world, std::uint64_t seed) {
  // TODO: this is training without failures, and without checkpoints.
  if (me.generation == 0) me.generation = 1, me.members = (1 << kWorkers) - 1;
  if (me.step == kSteps) return;
  std::uint64_t mine = 0, sum = 0;
  for (int b = kMicroBatches * me.rank / kWorkers; b < kMicroBatches * (me.rank + 1) / kWorkers; ++b)
    mine += gradient_of(seed, me.step, b);
  if (!world.all_reduce(me, mine, sum)) return;
  me.state = updated(me.state, sum);
  ++me.step;
}
// END(elastic)
