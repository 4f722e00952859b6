// A trace of requests, played in virtual time by the rules of batcher.hpp. The judge plays, and so does
// experiments/timeline.cu.
#pragma once
#include <string>
#include <vector>

#include "batcher.hpp"

struct Arrival {
  double time;
  int prompt, answer;  // tokens
};

class Playback {
 public:
  Playback(std::vector<Arrival> trace, int pages)
      : trace_(std::move(trace)), first_(trace_.size(), -1), last_(trace_.size(), -1) {
    server.pages = server.free_pages = pages;
    server.now = trace_.empty() ? 0 : trace_[0].time;
    arrive();
  }

  Server server;
  std::string error, check;  // the first rule that was broken, and the gate that it belongs to

  int arrived() const { return arrived_; }
  bool ended() const { return server.active.empty() && arrived_ == static_cast<int>(trace_.size()); }
  long long computed() const { return computed_; }  // tokens, those of evicted requests again
  long long steps() const { return steps_; }
  int evicted() const { return evicted_; }
  // Seconds at which a request had its first token, and its last; -1 before.
  const std::vector<double>& first() const { return first_; }
  const std::vector<double>& last() const { return last_; }
  const std::vector<Arrival>& trace() const { return trace_; }

  bool evict(int id) {
    Request* r = find(id);
    if (r == nullptr || !r->resident())
      return fail("request " + std::to_string(id) + " is to be evicted and has nothing in the cache");
    server.free_pages += pages_of(r->computed);
    r->computed = 0;
    ++evicted_;
    return true;
  }

  // Runs a step. `ended`: ids of the requests that have their last token.
  bool step(const std::vector<Chunk>& chunks, std::vector<int>& ended) {
    int tokens = 0, free = server.free_pages, residents = 0;
    long long cached = 0;
    for (const Chunk& w : chunks) {
      Request* r = find(w.id);
      const std::string name = "request " + std::to_string(w.id);
      if (r == nullptr) return fail(name + " is to be computed and is not active");
      if (std::count_if(chunks.begin(), chunks.end(), [&](const Chunk& other) { return other.id == w.id; }) > 1)
        return fail(name + " is in the plan twice");
      if (w.tokens < 1 || w.tokens > r->lacks())
        return fail(name + " is to have " + std::to_string(w.tokens) + " tokens computed, and lacks " +
                    std::to_string(r->lacks()));
      tokens += w.tokens;
      free += pages_of(r->computed) - pages_of(r->computed + w.tokens);
      r->computed += w.tokens;
      cached += r->computed;
    }
    for (const Request& r : server.active) residents += r.resident() ? 1 : 0;
    const std::string in = "step " + std::to_string(steps_) + ": ";
    if (tokens > kMostTokens) return fail(in + std::to_string(tokens) + " tokens, and kMostTokens are allowed");
    if (residents > kMostSequences)
      return fail(in + std::to_string(residents) + " requests in the cache, and kMostSequences are allowed");
    if (free < 0) return fail(in + std::to_string(-free) + " pages more than there are", "pages");
    server.free_pages = free;
    server.now += step_seconds(tokens, cached);
    computed_ += tokens;
    ++steps_;
    ended.clear();
    for (const Chunk& w : chunks) {
      Request* r = find(w.id);
      if (r->lacks() > 0) continue;
      const std::size_t i = static_cast<std::size_t>(r->id);
      if (r->written++ == 0) first_[i] = server.now, ++started_;
      r->tokens++;
      if (r->written == trace_[i].answer) {
        last_[i] = server.now;
        server.free_pages += pages_of(r->computed);
        ended.push_back(r->id);
      }
    }
    for (int id : ended) server.active.erase(server.active.begin() + (find(id) - server.active.data()));
    arrive();
    while (oldest_ < arrived_ && first_[static_cast<std::size_t>(oldest_)] >= 0) ++oldest_;
    if (oldest_ < arrived_ && started_ - oldest_ > kStarved)
      return fail("request " + std::to_string(oldest_) + " has no token yet, and " +
                      std::to_string(started_ - oldest_) + " that came later have: it starves",
                  "starvation");
    return true;
  }

  // Waits for the next request.
  bool wait() {
    if (arrived_ < static_cast<int>(trace_.size())) {
      server.now = std::max(server.now, trace_[static_cast<std::size_t>(arrived_)].time);
      arrive();
      return true;
    }
    if (server.active.empty()) return true;
    return fail("after step " + std::to_string(steps_) + " the plan is empty, and " +
                    std::to_string(server.active.size()) + " requests have not ended",
                "deadlock");
  }

 private:
  Request* find(int id) {
    const auto at = std::lower_bound(server.active.begin(), server.active.end(), id,
                                     [](const Request& r, int i) { return r.id < i; });
    return at != server.active.end() && at->id == id ? &*at : nullptr;
  }
  bool fail(std::string text, std::string gate = "correct") {
    if (error.empty()) error = std::move(text), check = std::move(gate);
    return false;
  }
  void arrive() {
    for (; arrived_ < static_cast<int>(trace_.size()); ++arrived_) {
      const Arrival& a = trace_[static_cast<std::size_t>(arrived_)];
      if (a.time > server.now) return;
      server.active.push_back({arrived_, a.time, a.prompt, 0, 0});
    }
  }

  std::vector<Arrival> trace_;
  std::vector<double> first_, last_;
  int arrived_ = 0, started_ = 0, oldest_ = 0, evicted_ = 0;
  long long computed_ = 0, steps_ = 0;
};
