// Traces of requests for `batcher`, drawn from a seed, and the times that no server can be faster than.
#pragma once
#include <cmath>
#include <vector>

#include "../playback.hpp"
#include "checks/fill.hpp"

namespace ridge::lab::serving {

enum class Kind { steady, bursts, offline };

struct Load {
  std::vector<Arrival> trace;
  int pages;
};

// Tokens in the cache, summed over the steps that write the answer.
inline double cached_of(const Arrival& a) { return a.answer * (a.prompt + 0.5 * (a.answer - 1)); }
// A step writes a token for each resident request, and reads no more than the cache holds.
inline double least_steps(double answers, double cached, int pages) {
  return std::max(answers / kMostSequences, cached / (kPage * pages));
}
// Each step takes kStep and kWeights at least, or kToken for each token.
inline double least_seconds(const std::vector<Arrival>& trace, int pages) {
  double tokens = 0, answers = 0, cached = 0;
  for (const Arrival& a : trace) tokens += a.prompt + a.answer - 1, answers += a.answer, cached += cached_of(a);
  const double steps = least_steps(answers, cached, pages);
  return steps * kStep + std::max(steps * kWeights, kToken * tokens) + kCached * cached;
}
// Of the first token, on an idle server.
inline double least_first(int prompt) {
  double seconds = 0;
  for (int done = 0; done < prompt;) {
    const int tokens = std::min(kMostTokens, prompt - done);
    done += tokens;
    seconds += step_seconds(tokens, done);
  }
  return seconds;
}

// Of the first token of each request, in turn: a request waits for those before it, each of which takes its part of
// least_seconds where products bound the steps; then comes its own prompt, as on an idle server. How long the wait is
// differs more from trace to trace than from server to server.
inline std::vector<double> first_in_turn(const std::vector<Arrival>& trace, int pages) {
  std::vector<double> seconds;
  double free = 0;  // when the requests before have taken their parts
  for (const Arrival& a : trace) {
    const double begin = std::max(free, a.time);
    seconds.push_back(begin - a.time + least_first(a.prompt));
    free = begin + least_steps(a.answer, cached_of(a), pages) * kStep + kToken * (a.prompt + a.answer - 1) +
           kCached * cached_of(a);
  }
  return seconds;
}

inline Load draw_load(Kind kind, int requests, std::uint64_t seed) {
  std::uint64_t next = 0;
  auto uniform = [&] { return static_cast<double>((random_bits(seed, next++) >> 11) + 1) * 0x1p-53; };
  Load load{{}, kind == Kind::offline ? 700 : 1600};
  for (int i = 0; i < requests; ++i) {
    // One prompt in sixteen is long; the other ones, and the answers, are mostly short.
    const bool is_long = uniform() < 1.0 / 16;
    const double prompt = is_long ? 600 + 1400 * uniform() : 20 - 90 * std::log(uniform());
    const double answer = 1 - 60 * std::log(uniform());
    load.trace.push_back({0, static_cast<int>(std::min(prompt, 2000.0)), static_cast<int>(std::min(answer, 900.0))});
  }
  if (kind == Kind::offline) return load;
  const double each = least_seconds(load.trace, load.pages) / requests;
  double now = 0;
  for (std::size_t i = 0; i < load.trace.size(); ++i) {
    // 0.7 of what a server could do at best; or 1.2 and 0.2 of it in turn, 200 requests each.
    const double share = kind == Kind::steady ? 0.7 : i / 200 % 2 == 0 ? 1.2 : 0.2;
    now += -std::log(uniform()) * each / share;
    load.trace[i].time = now;
  }
  return load;
}

}  // namespace ridge::lab::serving
