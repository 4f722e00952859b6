// Plays a trace of `blocks` for entry.cu.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "blocks.hpp"
#include "lab/call.hpp"
#include "trace.hpp"

// in[0]: the operations, on the host; out[0]: the states. Sizes: pages, operations.
inline void call_blocks(const ridge_call& c) {
  const auto* in = static_cast<const int*>(c.in[0]);
  const int pages = static_cast<int>(c.size[0]), operations = static_cast<int>(c.size[1]);
  const std::size_t numbers = kStateNumbers + static_cast<std::size_t>(kLists) * pages;
  std::vector<int> states(numbers * operations, -1);
  Pool pool(pages);
  for (int i = 0; i < operations; ++i) {
    const int kind = in[0], id = in[1], argument = in[2];
    in += 3;
    State state{{0, 0, 0}, 0, 0, 0, 0, 0};
    int shown = id;
    if (kind == kAdmit) {
      state.returned[0] = admit(pool, id, std::vector<int>(in, in + argument));
      in += argument;
    } else if (kind == kAddToken) {
      const Write w = add_token(pool, id, argument);
      state.returned[0] = w.page, state.returned[1] = w.place, state.returned[2] = w.copied_from;
    } else if (kind == kFork) {
      fork(pool, argument, id);
    } else if (kind == kRelease) {
      state.returned[0] = release(pool, id);
    } else if (kind == kStepEnded) {
      step_ended(pool);
    } else {
      shown = state.returned[0] = preempt(pool);
    }
    int* to = &states[numbers * i];
    int* lists = to + kStateNumbers;
    const auto found = pool.sequences.find(shown);
    const std::vector<int> table = found == pool.sequences.end() ? std::vector<int>() : found->second.pages;
    state.free = static_cast<int>(pool.free.size()), state.resting = static_cast<int>(pool.resting.size());
    state.known = static_cast<int>(pool.known.size()), state.sequences = static_cast<int>(pool.sequences.size());
    state.table = static_cast<int>(table.size());
    std::memcpy(to, &state, sizeof state);
    const auto most = static_cast<std::size_t>(pages);
    std::copy_n(pool.free.begin(), std::min(most, pool.free.size()), lists);
    std::copy_n(pool.resting.begin(), std::min(most, pool.resting.size()), lists + pages);
    for (std::size_t p = 0; p < std::min(most, pool.pages.size()); ++p) {
      lists[2 * most + p] = pool.pages[p].owners;
      lists[3 * most + p] = static_cast<int>(pool.pages[p].hash ^ pool.pages[p].hash >> 32);
    }
    std::copy_n(table.begin(), std::min(most, table.size()), lists + 4 * most);
  }
  cudaMemcpyAsync(c.out[0], states.data(), states.size() * sizeof(int), cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);  // before `states` goes
}
