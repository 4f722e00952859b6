// What entry.cu plays in `elastic`, and check/ judges.
#pragma once
#include <cstdint>

constexpr int kWorkers = 4;                   // ranks at the beginning
constexpr long long kSteps = 24, kEvery = 4;  // a checkpoint behind every fourth step
constexpr double kTimeout = 10;               // s without a sign of life, and a rank counts as dead
constexpr int kMicroBatches = 12;             // of each step, whatever the number of ranks
constexpr int kLongest = 400;                 // s of one scenario

// What happens in a scenario besides the deaths that the judge plans. A killed rank starts again after so many seconds;
// -1: never. Rank `paused` gives no sign for 25 s from second 9 on; -1: nobody.
struct Scenario {
  int restart, paused;
};
inline Scenario scenario_of(int number) {
  constexpr int kRestart[] = {30, 3, -1};
  return {kRestart[number % 3], number == 1 ? 2 : -1};
}
// Notes to the judge: scenario `value` begins; it has ended; rank `value` has died, and starts again.
constexpr long long kScenario = 1, kScenarioEnds = 2, kDied = 3, kStartsAgain = 4;

// Numbers of out[0] for each scenario: 0, or a rank + 1 that hangs; whom it waits for; generation; steps that were made, those made again included;
// seconds; then for each rank whether it lives, its step, its state, and whether it is a member of that generation.
constexpr int kNumbers = 5 + 4 * kWorkers;

// What micro-batch b of a step adds to the sum.
inline std::uint64_t gradient_of(std::uint64_t seed, long long step, int b) {
  std::uint64_t z = seed + static_cast<std::uint64_t>(step * 64 + b + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  return (z ^ (z >> 27)) >> 20;
}
inline std::uint64_t updated(std::uint64_t state, std::uint64_t sum) { return state * 6364136223846793005u + sum; }
