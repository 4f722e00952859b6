// What entry.cu plays in `shards`, and check/ judges.
#pragma once

// Training runs on so many ranks for so many steps, stops, and resumes on others, in the middle of an epoch.
struct Phase {
  int ranks, steps;
};
constexpr Phase kPhases[] = {{2, 5}, {4, 7}, {1, 3}, {3, 9}, {8, 6}};
// Notes to the judge: what was written is complete; all samples were read; which sample is read next (it may be damaged).
constexpr long long kWritten = 1, kRead = 2, kDamage = 3;
constexpr int kExamined = 24;  // samples that are read after kDamage

// epoch_order is called for these seeds and epochs, both relative to the case's seed: the last call repeats the first.
struct Order {
  int seed, epoch;
};
constexpr Order kOrders[] = {{0, 1}, {1, 1}, {1, 0}, {0, 1}};
// And for this many epochs of so few samples that every order should come about equally often.
constexpr int kSmallOrders = 4000, kFewSamples = 4;
