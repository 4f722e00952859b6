// What entry.cu plays in `elastic`, and check/ judges.
#pragma once
#include <cstdint>

constexpr int kWorkers = 4;                   // ranks at the beginning
constexpr long long kSteps = 24, kEvery = 4;  // a checkpoint after every fourth step
constexpr double kTimeout = 10;               // s without a sign of life, and a rank counts as dead
constexpr int kMicroBatches = 12;             // of each step, whatever the number of ranks
constexpr int kLongest = 400;                 // s of one scenario
constexpr int kStalled = 100;                 // s without a collective that ends

// The i-th of `count` members takes the micro-batches from share_begin(i, count) to share_begin(i + 1, count).
constexpr int share_begin(int i, int count) { return kMicroBatches * i / count; }

// Notes to the judge. The lowest 8 bits of the number are one of these, and the others say more. In brackets: the answer.
//   kScenario    value: its number (1: it is played; 0: there are no more)
//   kSecond      value: second of the scenario (bits 0 to 3: ranks that poll; 4 to 7: those that have started again; 8: it is
//                over)
//   kGradient    step << 8; value: first micro-batch << 8 | the one after the last (what they add to the sum)
//   kReduce      step << 8 | generation << 24; value: the rank's sum (the sum of all members, kNotYet, or kDead: it has died)
//   kPolled      rank << 8 | generation << 16; value: steps made; where one of both is another than before
//   kDied        value: the rank
//   kAtEnd       rank << 8; value: its state at the end
// The rank in whose poll kGradient and kReduce are sent is the request's.
constexpr long long kScenario = 1, kSecond = 2, kGradient = 3, kReduce = 4, kPolled = 5, kDied = 6, kAtEnd = 7;
constexpr long long kNotYet = -1, kDead = -2;
