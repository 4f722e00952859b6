// Lab 15, task `blocks`: pages of the KV cache, and who owns them. Host code only; blocks.hpp has the rules.
// Run: ./ridge check 15 --task blocks
#include <algorithm>

#include "blocks.hpp"

// TASK(blocks)
namespace {

// Page `i` of the sequence is full.
void became_full(Pool& pool, const Sequence& s, int i, std::uint64_t hash) {
  if (pool.known.emplace(hash, s.pages[i]).second) pool.pages[s.pages[i]].hash = hash;
}

}  // namespace

int admit(Pool& pool, int id, const std::vector<int>& prompt) {
  const int tokens = static_cast<int>(prompt.size()), pages = (tokens + kPage - 1) / kPage;
  const std::vector<std::uint64_t> hashes = page_hashes(prompt);
  Sequence s{prompt, {}};
  int of_free = 0;  // shared pages that are in `free`
  for (int i = 0; i < (tokens - 1) / kPage; ++i) {
    const auto found = pool.known.find(hashes[i]);
    if (found == pool.known.end()) break;
    s.pages.push_back(found->second);
    if (std::count(pool.free.begin(), pool.free.end(), found->second) > 0) ++of_free;
  }
  const int shared = static_cast<int>(s.pages.size());
  if (pages - shared > static_cast<int>(pool.free.size()) - of_free) return kNoRoom;
  for (int page : s.pages)
    if (pool.pages[page].owners++ == 0) std::erase(pool.free, page), std::erase(pool.resting, page);
  for (int i = shared; i < pages; ++i) {
    s.pages.push_back(take_page(pool));
    if (i < static_cast<int>(hashes.size())) became_full(pool, s, i, hashes[i]);
  }
  pool.sequences[id] = s;
  pool.order.push_back(id);
  return shared * kPage;
}

Write add_token(Pool& pool, int id, int token) {
  Sequence& s = pool.sequences[id];
  Write w{kNoRoom, static_cast<int>(s.tokens.size()) % kPage, -1};
  if (w.place > 0 && pool.pages[s.pages.back()].owners == 1) {
    w.page = s.pages.back();
  } else {
    if (pool.free.empty()) return {kNoRoom, 0, -1};
    w.page = take_page(pool);
    if (w.place > 0) {
      w.copied_from = s.pages.back();
      --pool.pages[w.copied_from].owners;
      s.pages.pop_back();
    }
    s.pages.push_back(w.page);
  }
  s.tokens.push_back(token);
  if (w.place == kPage - 1) became_full(pool, s, static_cast<int>(s.pages.size()) - 1, page_hashes(s.tokens).back());
  return w;
}

void fork(Pool& pool, int parent, int child) {
  for (int page : pool.sequences[parent].pages) ++pool.pages[page].owners;
  pool.sequences[child] = Sequence(pool.sequences[parent]);
  pool.order.push_back(child);
}

bool release(Pool& pool, int id) {
  const auto found = pool.sequences.find(id);
  if (found == pool.sequences.end()) return false;
  std::vector<int>& pages = found->second.pages;
  for (auto page = pages.rbegin(); page != pages.rend(); ++page)
    if (--pool.pages[*page].owners == 0) pool.resting.push_back(*page);
  pool.sequences.erase(found);
  std::erase(pool.order, id);
  return true;
}

void step_ended(Pool& pool) {
  pool.free.insert(pool.free.end(), pool.resting.begin(), pool.resting.end());
  pool.resting.clear();
}

int preempt(Pool& pool) {
  if (pool.order.empty()) return -1;
  const int id = pool.order.back();
  release(pool, id);
  return id;
}
// END(blocks)
