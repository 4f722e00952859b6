// Plays `save` for entry.cu.
#pragma once
#include <vector>

#include "files/ranks.hpp"
#include "lab/call.hpp"
#include "save.hpp"
#include "save_plan.hpp"

// One save by all ranks, `first` before the others. Returns what commit returned.
inline bool play_save(const char* state, long long bytes, long long step, int ranks, int first) {
  std::vector<Part> parts(static_cast<std::size_t>(ranks));
  for (int i = 0; i < ranks; ++i) {
    const int rank = (i + first) % ranks;
    files::lives_through(rank,
                         [&] { parts[static_cast<std::size_t>(rank)] = write_part(state, bytes, step, rank, ranks); });
  }
  bool committed = false;
  files::lives_through(0, [&] { committed = commit(step, parts); });
  return committed;
}
// The lists of steps in an answer of the judge's.
inline std::vector<std::vector<long long>> lists_of(long long packed) {
  std::vector<std::vector<long long>> lists(kListRanks);
  for (int i = 0; i < kListRanks * kListSteps; ++i)
    if (const long long step = packed >> 4 * i & 15; step > 0)
      lists[static_cast<std::size_t>(i / kListSteps)].push_back(step);
  return lists;
}

// in[0]: the state at each save. Sizes: bytes of a state, ranks, disks. out[0]: for each disk the agreed step, then, for
// each rank, whether read_part returned true for it; out[1]: for each disk what was read, as one state.
inline void call_save(const ridge_call& c) {
  const auto* states = static_cast<const char*>(c.in[0]);
  const long long bytes = c.size[0];
  const int ranks = static_cast<int>(c.size[1]);
  for (int save = 0; save < kSaves; ++save) {
    files::mark(kSaveBegins, save);
    const bool committed = play_save(states + save * bytes, bytes, step_of(save), ranks, save);
    files::mark(kSaveEnds, committed ? save : -1);
  }
  for (int fault = 0; fault < kFaults; ++fault) {
    const long long plan = files::mark(kFault, fault);
    const bool committed =
        play_save(states + plan % 8 * bytes, bytes, step_of(static_cast<int>(plan / 8)), ranks, fault);
    files::mark(kFaultEnds, committed ? 1 : 0);
  }
  for (int list = 0; list < kLists; ++list) files::mark(kAgreed, agreed_step(lists_of(files::mark(kList, list))));
  std::vector<long long> out;
  std::vector<char> loaded(static_cast<std::size_t>(c.size[2] * bytes), 0);
  for (int disk = 0; disk < c.size[2]; ++disk) {
    files::mark(kMount, disk);
    std::vector<std::vector<long long>> whole(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
      files::lives_through(rank, [&] { whole[static_cast<std::size_t>(rank)] = whole_steps(rank, ranks); });
    const long long step = agreed_step(whole);
    out.push_back(step);
    for (int rank = 0; rank < ranks; ++rank) {
      const long long begin = part_begin(bytes, rank, ranks), room = part_begin(bytes, rank + 1, ranks) - begin;
      bool read = false;
      if (step >= 0)
        files::lives_through(rank,
                             [&] { read = read_part(step, rank, ranks, loaded.data() + disk * bytes + begin, room); });
      out.push_back(read ? 1 : 0);
    }
  }
  cudaMemcpyAsync(c.out[0], out.data(), out.size() * sizeof out[0], cudaMemcpyHostToDevice, c.stream);
  cudaMemcpyAsync(c.out[1], loaded.data(), loaded.size(), cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);
}
