// Plays `batcher` for entry.cu. What the functions see of a request is what a server knows; the rest has the judge.
#pragma once
#include <cstdio>

#include "batcher.hpp"
#include "lab/ask.hpp"
#include "lab/call.hpp"
#include "questions.hpp"

namespace batcher_call {

struct Answer {
  double value[4] = {kRefused};
  bool refused() const { return value[0] == kRefused; }
};
inline Answer ask(Asked kind, const long long (&rest)[7] = {}) {
  long long question[8] = {kind};
  for (int i = 0; i < 7; ++i) question[i + 1] = rest[i];
  Answer a;
  if (!ridge_ask(question, a.value)) a.value[0] = kRefused;
  return a;
}

// Seconds, and the requests that have come since.
inline bool take(Server& server, int& arrived, const Answer& a) {
  if (a.refused()) return false;
  server.now = a.value[0];
  for (; arrived < static_cast<int>(a.value[1]); ++arrived) {
    const Answer r = ask(kArrival, {arrived});
    if (r.refused()) return false;
    server.active.push_back({arrived, r.value[0], static_cast<int>(r.value[1]), 0, 0});
  }
  return true;
}

inline Request* find(Server& server, int id) {
  for (Request& r : server.active)
    if (r.id == id) return &r;
  return nullptr;
}

// Some chunks of a list in a question's numbers, from number `at` on.
struct Packed {
  long long numbers[7] = {};
  Packed(const std::vector<Chunk>& all, std::size_t first, int most, int at) {
    for (std::size_t i = first; i < all.size() && i < first + most; ++i)
      numbers[at + (i - first)] = packed(all[i].id, all[i].tokens);
  }
};

// False when the judge refuses it, or everything has ended.
inline bool play(Server& server, int& arrived, const Plan& plan) {
  for (int id : plan.evict) {
    if (ask(kEvict, {id}).refused()) return false;
    Request* r = find(server, id);
    server.free_pages += pages_of(r->computed);
    r->computed = 0;
  }
  if (plan.chunks.empty()) {
    const Answer a = ask(kWait);
    return take(server, arrived, a) && a.value[2] == 0;
  }
  // The first chunk of a resident request is a bit if it is one token; the other chunks follow.
  std::vector<Chunk> sent, others;
  std::vector<bool> is_bit(plan.chunks.size());
  long long bits = 0;
  int rank = 0;
  for (const Request& r : server.active) {
    if (!r.resident() || rank == 64) continue;
    const auto c =
        std::find_if(plan.chunks.begin(), plan.chunks.end(), [&r](const Chunk& own) { return own.id == r.id; });
    if (c != plan.chunks.end() && c->tokens == 1) {
      bits |= 1ll << rank, sent.push_back(*c);
      is_bit[static_cast<std::size_t>(c - plan.chunks.begin())] = true;
    }
    ++rank;
  }
  for (std::size_t i = 0; i < plan.chunks.size(); ++i)
    if (!is_bit[i]) others.push_back(plan.chunks[i]);
  sent.insert(sent.end(), others.begin(), others.end());
  std::size_t first = 0;
  for (; first + kChunksOfRun < others.size(); first += kChunksOfQuestion)
    if (ask(kChunks, Packed(others, first, kChunksOfQuestion, 0).numbers).refused()) return false;
  Packed last(others, first, kChunksOfRun, 1);
  last.numbers[0] = bits;
  const Answer a = ask(kRun, last.numbers);
  if (a.refused()) return false;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    Request* r = find(server, sent[i].id);
    server.free_pages += pages_of(r->computed) - pages_of(r->computed + sent[i].tokens);
    r->computed += sent[i].tokens;
    if (r->lacks() > 0) continue;
    ++r->tokens, ++r->written;
    if ((static_cast<unsigned long long>(a.value[2 + i / 32]) >> i % 32 & 1) == 0) continue;
    server.free_pages += pages_of(r->computed);
    server.active.erase(server.active.begin() + (r - server.active.data()));
  }
  return take(server, arrived, a);
}

}  // namespace batcher_call

// out[0]: the number of requests that have ended. No inputs.
inline void call_batcher(const ridge_call& c) {
  const batcher_call::Answer begin = batcher_call::ask(kBegin);
  const int pages = static_cast<int>(begin.value[2]);
  Server server{begin.value[0], pages, pages, {}};
  int arrived = 0;
  if (batcher_call::take(server, arrived, begin))
    while (batcher_call::play(server, arrived, plan_step(server))) {
    }
  const int ended = arrived - static_cast<int>(server.active.size());
  cudaMemcpyAsync(c.out[0], &ended, sizeof ended, cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);
}
