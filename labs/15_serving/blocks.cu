// Lab 15, task `blocks`: pages of the KV cache, and who owns them. Host code only; blocks.hpp has the rules.
// Run: ./ridge check 15 --task blocks
#include <algorithm>

#include "blocks.hpp"

// TASK(blocks)
int admit(Pool& pool, int id, const std::vector<int>& prompt) {
  // TODO: share what `known` has, take the rest from `free`, and enter the full pages in `known`.
  (void)pool, (void)id, (void)prompt;
  return kNoRoom;
}

Write add_token(Pool& pool, int id, int token) {
  // TODO: three cases: the last page has a place and one owner; it has several owners; it is full.
  (void)pool, (void)id, (void)token;
  return {kNoRoom, 0, -1};
}

void fork(Pool& pool, int parent, int child) {
  // TODO: each page of the parent has one owner more.
  (void)pool, (void)parent, (void)child;
}

bool release(Pool& pool, int id) {
  // TODO: each page has one owner less, from the last page to the first; pages without owners go to `resting`.
  (void)pool, (void)id;
  return false;
}

void step_ended(Pool& pool) {
  // TODO: `resting` goes to the end of `free`.
  (void)pool;
}

int preempt(Pool& pool) {
  // TODO: release the sequence that is last in `order`.
  (void)pool;
  return -1;
}
// END(blocks)
