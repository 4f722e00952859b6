// Lab 15, task `batcher`: continuous batching. Host code only; batcher.hpp has the rules.
// Run: ./ridge check 15 --task batcher
#include "batcher.hpp"

// TASK(batcher)
Plan plan_step(const Server& server) {
  // TODO: let new requests begin in every step, prefill in chunks beside the answers, and evict when pages run out.
  // Static batching: a batch begins when the last one has ended, and each of its requests has room for the longest text.
  Plan plan;
  bool running = false;
  for (const Request& r : server.active) running = running || r.resident();
  int pages = server.pages, tokens = kMostTokens;
  for (const Request& r : server.active) {
    if (r.resident() != running || tokens == 0) continue;
    pages -= pages_of(kLongest);
    if (!running && pages < 0) break;
    plan.chunks.push_back({r.id, std::min(r.lacks(), tokens)});
    tokens -= plan.chunks.back().tokens;
  }
  return plan;
}
// END(batcher)
