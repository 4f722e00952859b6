// Task `batcher`: what a server computes in its next step. Host code only; nothing is computed, and the clock is virtual.
//
// A request has a prompt, and an answer whose length nobody knows before its last token. Before a token of the answer
// can be written, all tokens before it must be in the KV cache. A step puts tokens of several requests into the cache,
// as many of each as the plan says. A request whose tokens are then all there has one more token of its answer, which
// must itself be computed before the next one. So a request that lacks many tokens is in its prefill, which may take
// several steps ("chunks"), and one that lacks a single token decodes.
#pragma once
#include <algorithm>
#include <vector>

#include "page.hpp"

struct Request {
  int id;          // 0, 1, ... in the order of arrival
  double arrival;  // in seconds
  int tokens;      // of the prompt, and of the answer as far as it was written
  int computed;    // those that are in the cache: its first ones
  int written;     // of the answer
  int lacks() const { return tokens - computed; }
  bool resident() const { return computed > 0; }
};

constexpr int pages_of(int tokens) { return (tokens + kPage - 1) / kPage; }

struct Server {
  double now;                   // in seconds
  int pages, free_pages;        // of the cache
  std::vector<Request> active;  // arrived and not ended, by id
};

constexpr int kMostSequences = 64;  // with tokens in the cache
constexpr int kMostTokens = 2048;   // of a step
constexpr int kStarved = 500;       // later requests that may begin before an earlier one
constexpr int kLongest = 3072;      // tokens of a prompt and its answer; `pages` is at least pages_of(kLongest)

// Seconds of a step that computes `tokens` tokens in all, of requests that have `cached` tokens in the cache after it:
// a GPU of about 700 TFLOP/s and 4.2 TB/s, and a model of 8 billion weights in bf16. The weights are read once, and with
// more than 160 tokens the products take longer. The cache is read once for each request.
constexpr double kWeights = 4e-3, kToken = 25e-6, kCached = 31e-9, kStep = 0.5e-3;
inline double step_seconds(int tokens, long long cached) {
  return kStep + std::max(kWeights, kToken * tokens) + kCached * static_cast<double>(cached);
}

struct Chunk {
  int id, tokens;  // 1 <= tokens <= lacks()
};
struct Plan {
  std::vector<int> evict;     // these lose all their tokens in the cache, before the step
  std::vector<Chunk> chunks;  // each request once at most
};

// The plan of the next step. It is refused if it breaks a limit: tokens of the step, residents or pages after it. With
// an empty plan the server waits for the next request; if none will come and some have not ended, that is a deadlock.
// Nobody may wait for ever: where more than kStarved requests that arrived later have their first token before an earlier
// one has, it starves.
Plan plan_step(const Server& server);
