// Plays a trace of `blocks` for entry.cu.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <vector>

#include "blocks.hpp"
#include "lab/call.hpp"
#include "trace.hpp"

namespace blocks_call {

// An operation: 3 numbers, then the prompt. What it returned, and the sequence that it was about.
struct Played {
  int returned[3] = {0, 0, 0}, shown;
};
inline Played play(Pool& pool, const int* in) {
  const int kind = in[0], id = in[1], argument = in[2];
  Played p{{0, 0, 0}, id};
  if (kind == kAdmit) {
    p.returned[0] = admit(pool, id, std::vector<int>(in + 3, in + 3 + argument));
  } else if (kind == kAddToken) {
    const Write w = add_token(pool, id, argument);
    p.returned[0] = w.page, p.returned[1] = w.place, p.returned[2] = w.copied_from;
  } else if (kind == kFork) {
    fork(pool, argument, id);
  } else if (kind == kRelease) {
    p.returned[0] = release(pool, id);
  } else if (kind == kStepEnded) {
    step_ended(pool);
  } else {
    p.shown = p.returned[0] = preempt(pool);
  }
  return p;
}

// `to`: kStateNumbers numbers, then the lists.
inline void store(const Pool& pool, const Played& played, int* to) {
  const std::size_t most = pool.pages.size();
  int* lists = to + kStateNumbers;
  const auto found = pool.sequences.find(played.shown);
  const std::vector<int> table = found == pool.sequences.end() ? std::vector<int>() : found->second.pages;
  const State state{{played.returned[0], played.returned[1], played.returned[2]},
                    static_cast<int>(pool.free.size()),
                    static_cast<int>(pool.resting.size()),
                    static_cast<int>(pool.known.size()),
                    static_cast<int>(pool.sequences.size()),
                    static_cast<int>(table.size())};
  std::memcpy(to, &state, sizeof state);
  std::copy_n(pool.free.begin(), std::min(most, pool.free.size()), lists);
  std::copy_n(pool.resting.begin(), std::min(most, pool.resting.size()), lists + most);
  for (std::size_t p = 0; p < most; ++p) {
    lists[2 * most + p] = pool.pages[p].owners;
    lists[3 * most + p] = static_cast<int>(pool.pages[p].hash ^ pool.pages[p].hash >> 32);
  }
  std::copy_n(table.begin(), std::min(most, table.size()), lists + 4 * most);
}

}  // namespace blocks_call

// in[0]: the operations, on the host; out[0]: the states, -1 from the first one that is missing. Sizes: pages, operations.
inline void call_blocks(const ridge_call& c) {
  const auto* in = static_cast<const int*>(c.in[0]);
  const int pages = static_cast<int>(c.size[0]), operations = static_cast<int>(c.size[1]);
  const std::size_t numbers = kStateNumbers + static_cast<std::size_t>(kLists) * pages;
  std::vector<int> states(numbers * operations, -1);
  Pool pool(pages);
  // A pool that went wrong may let a later operation throw: the states until then tell where it began.
  try {
    for (int i = 0; i < operations; ++i) {
      const int needed = in[0] == kAddToken ? in[1] : in[0] == kFork ? in[2] : -1;
      if (needed >= 0 && pool.sequences.count(needed) == 0) break;
      const blocks_call::Played played = blocks_call::play(pool, in);
      if (pool.pages.size() != static_cast<std::size_t>(pages)) break;
      blocks_call::store(pool, played, &states[numbers * i]);
      in += 3 + (in[0] == kAdmit ? in[2] : 0);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "blocks: %s\n", e.what());
  }
  cudaMemcpyAsync(c.out[0], states.data(), states.size() * sizeof(int), cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);  // before `states` goes
}
