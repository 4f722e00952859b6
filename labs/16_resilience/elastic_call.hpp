// Plays `elastic` for entry.cu.
#pragma once
#include <algorithm>
#include <vector>

#include "elastic.hpp"
#include "files/ranks.hpp"
#include "lab/call.hpp"

// A note to the judge, by somebody who never dies.
// Returns false where the judge knows better.
inline bool note(long long number, long long value) {
  long long answer = 0;
  files::lives_through(kWorkers, [&] { answer = files::mark(number, value); });
  return answer == 0;
}

// One scenario, second by second.
class Play {
 public:
  Play(int number, std::uint64_t seed) : scenario_(scenario_of(number)), seed_(seed) {
    world_.seed_ = seed;
    for (int r = 0; r < kWorkers; ++r) begin(r);
  }
  std::vector<long long> run() {
    int second = 0, last_progress = 0;
    long long best = -1;
    for (; second < kLongest && !done(second); ++second) {
      world_.now_ = second;
      for (int i = 0; i < kWorkers; ++i) {
        const int r = (i + second) % kWorkers;
        if (!lives_[r] && back_[r] == second) begin_again(r);
        if (!lives_[r] || is_paused(r, second)) continue;
        world_.sign_[r] = second;
        Agent& agent = agents_[r];
        if (!files::lives_through(r, [&] {
              files::step(agent.step + 100 * r);
              poll(agent, world_, seed_);
            })) {
          if (!note(kDied, r)) return numbers(second);
          lives_[r] = false;
          back_[r] = scenario_.restart < 0 ? -1 : second + scenario_.restart;
        }
      }
      if (world_.made_ > best) best = world_.made_, last_progress = second;
      if (second - last_progress > 100) break;
    }
    return numbers(second);
  }

 private:
  bool is_paused(int r, int second) const { return r == scenario_.paused && second >= 9 && second < 34; }
  void begin_again(int r) {
    note(kStartsAgain, r);  // dead ranks may call again
    world_.of_old_self_[r] = std::max(generation(), agents_[r].generation);
    begin(r);
  }
  void begin(int r) {
    agents_[r] = Agent{};
    agents_[r].rank = r;
    world_.waits_[r] = {};
    lives_[r] = true;
  }
  long long generation() const {
    long long g = 0;
    for (int r = 0; r < kWorkers; ++r)
      if (lives_[r]) g = std::max(g, agents_[r].generation);
    return g;
  }
  bool done(int second) const {
    if (scenario_.paused >= 0 && second < 40) return false;
    for (int r = 0; r < kWorkers; ++r) {
      if (!lives_[r] && scenario_.restart >= 0) return false;
      if (lives_[r] && (agents_[r].step != kSteps || agents_[r].generation != generation())) return false;
    }
    return is_saved();
  }
  static bool is_saved() {
    SavedModel saved{};
    bool whole = false;
    files::lives_through(kWorkers, [&] { whole = read_whole(kModel, saved); });
    return whole && saved.step == kSteps;
  }
  std::vector<long long> numbers(int second) const {
    std::vector<long long> out = {0, 0, generation(), world_.made_, second};
    const bool ended = done(second);
    for (int r = 0; r < kWorkers; ++r) {
      const Agent& a = agents_[r];
      out.insert(out.end(), {lives_[r] ? 1LL : 0LL, a.step, static_cast<long long>(a.state),
                             a.generation == generation() && a.is_member(r) ? 1LL : 0LL});
      const World::Waits& w = world_.waits_[r];
      if (out[0] != 0 || ended || !lives_[r] || w.generation == 0) continue;
      const auto it = world_.collectives_.find({w.generation, w.step});
      for (int other = 0; other < kWorkers; ++other)
        if (out[0] == 0 && other != r && (w.members >> other & 1) != 0 && (it->second.entered >> other & 1) == 0)
          out[0] = r + 1, out[1] = other;
    }
    return out;
  }

  Scenario scenario_;
  std::uint64_t seed_;
  World world_;
  Agent agents_[kWorkers];
  bool lives_[kWorkers] = {};
  int back_[kWorkers] = {};
};

// Sizes: scenarios, seed.
inline void call_elastic(const ridge_call& c) {
  std::vector<long long> out;
  for (int s = 0; s < c.size[0]; ++s) {
    note(kScenario, s);
    const std::vector<long long> one = Play(s, static_cast<std::uint64_t>(c.size[1])).run();
    out.insert(out.end(), one.begin(), one.end());
    note(kScenarioEnds, s);
  }
  cudaMemcpyAsync(c.out[0], out.data(), out.size() * sizeof out[0], cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);
}
