// Plays `elastic` for entry.cu.
#pragma once
#include <map>
#include <tuple>

#include "elastic.hpp"
#include "files/ranks.hpp"
#include "lab/call.hpp"

// A note to the judge, by somebody who never dies.
inline long long note(long long number, long long value) {
  long long answer = 0;
  files::lives_through(kWorkers, [&] { answer = files::mark(number, value); });
  return answer;
}

// The judge's world, as one rank sees it in one poll.
class JudgedWorld final : public World {
 public:
  // A gradient is asked for once: gradients_ is kept for as long as a scenario lasts.
  using Gradients = std::map<std::tuple<int, long long, int, int>, std::uint64_t>;
  JudgedWorld(int now, const int (&heartbeat)[kWorkers], Gradients& gradients) : now_(now), gradients_(gradients) {
    for (int r = 0; r < kWorkers; ++r) heartbeat_[r] = heartbeat[r];
  }
  double now() const override { return now_; }
  double silent(int rank) const override { return now_ - heartbeat_[rank]; }
  std::uint64_t gradient(const Agent& me, int first, int last) override {
    const auto [at, is_new] = gradients_.try_emplace({me.rank, me.step, first, last}, 0);
    if (is_new) at->second = static_cast<std::uint64_t>(files::mark(kGradient | me.step << 8, first << 8 | last));
    return at->second;
  }
  bool all_reduce(const Agent& me, std::uint64_t mine, std::uint64_t& sum) override {
    const long long answer = files::mark(kReduce | me.step << 8 | me.generation << 24, static_cast<long long>(mine));
    if (answer == kDead) files::step(me.step);  // its next call ends it
    if (answer < 0) return false;
    sum = static_cast<std::uint64_t>(answer);
    return true;
  }

 private:
  int now_, heartbeat_[kWorkers];
  Gradients& gradients_;
};

// One scenario, second by second. The judge says who polls.
class Play {
 public:
  Play() {
    for (int r = 0; r < kWorkers; ++r) agents_[r].rank = r;
  }
  void run() {
    for (int second = 0;; ++second) {
      const long long plan = note(kSecond, second);
      if (plan < 0 || (plan >> 8 & 1) != 0 || second > kLongest) break;
      for (int i = 0; i < kWorkers; ++i) {
        const int r = (i + second) % kWorkers;
        if ((plan >> r & 1) == 0) continue;
        if ((plan >> (4 + r) & 1) != 0) {
          agents_[r] = Agent{};
          agents_[r].rank = r, agents_[r].started = second;
          said_[r] = agents_[r];
        }
        heartbeat_[r] = second;
        JudgedWorld world(second, heartbeat_, gradients_);
        Agent& agent = agents_[r];
        if (!files::lives_through(r, [&] { poll(agent, world); }))
          note(kDied, r);
        else if (agent.generation != said_[r].generation || agent.step != said_[r].step)
          note(kPolled | r << 8 | agent.generation << 16, agent.step);
        said_[r] = agent;
      }
    }
    for (int r = 0; r < kWorkers; ++r) note(kAtEnd | r << 8, static_cast<long long>(agents_[r].state));
  }

 private:
  Agent agents_[kWorkers], said_[kWorkers];  // said_: as the judge was told
  int heartbeat_[kWorkers] = {};
  JudgedWorld::Gradients gradients_;
};

// out[0]: the number of scenarios.
inline void call_elastic(const ridge_call& c) {
  long long scenarios = 0;
  for (; note(kScenario, scenarios) == 1; ++scenarios) Play().run();
  cudaMemcpyAsync(c.out[0], &scenarios, sizeof scenarios, cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);
}
