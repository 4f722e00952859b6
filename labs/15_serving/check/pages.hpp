// The rules of blocks.hpp, for the judge: what each operation returns and leaves.
#pragma once
#include <algorithm>
#include <vector>

#include "../blocks.hpp"

namespace ridge::lab::serving {

class Pages {
 public:
  explicit Pages(int count) : pool(count) {}

  int admit(int id, const std::vector<int>& prompt) {
    const std::size_t pages = (prompt.size() + kPage - 1) / kPage, full = prompt.size() / kPage;
    std::vector<std::uint64_t> hash(full);
    for (std::size_t i = 0; i < full; ++i) hash[i] = page_hash(i == 0 ? 0 : hash[i - 1], prompt.data() + i * kPage);
    std::vector<int> table;
    while (table.size() < (prompt.size() - 1) / kPage && pool.known.count(hash[table.size()]) != 0)
      table.push_back(pool.known.at(hash[table.size()]));
    const std::size_t shared = table.size();
    std::deque<int> left;
    for (int p : pool.free)
      if (std::find(table.begin(), table.end(), p) == table.end()) left.push_back(p);
    if (pages - shared > left.size()) return kNoRoom;
    pool.free = left;
    for (int p : table) std::erase(pool.resting, p), ++pool.pages[at(p)].owners;
    for (std::size_t i = shared; i < pages; ++i) {
      table.push_back(take());
      if (i < full) enter(table.back(), hash[i]);
    }
    pool.sequences[id] = {prompt, table};
    pool.order.push_back(id);
    return static_cast<int>(shared) * kPage;
  }

  Write add_token(int id, int token) {
    Sequence& s = pool.sequences.at(id);
    const int place = static_cast<int>(s.tokens.size() % kPage);
    const bool copies = place > 0 && pool.pages[at(s.pages.back())].owners > 1;
    if (place > 0 && !copies) {
      write(s, token);
      return {s.pages.back(), place, -1};
    }
    if (pool.free.empty()) return {kNoRoom, 0, -1};
    const int page = take(), before = copies ? s.pages.back() : -1;
    if (copies) --pool.pages[at(before)].owners, s.pages.pop_back();
    s.pages.push_back(page);
    write(s, token);
    return {page, place, before};
  }

  void fork(int parent, int child) {
    const Sequence s = pool.sequences.at(parent);
    for (int p : s.pages) ++pool.pages[at(p)].owners;
    pool.sequences[child] = s;
    pool.order.push_back(child);
  }

  bool release(int id) {
    if (pool.sequences.count(id) == 0) return false;
    std::vector<int> table = pool.sequences.at(id).pages;
    std::reverse(table.begin(), table.end());
    for (int p : table)
      if (--pool.pages[at(p)].owners == 0) pool.resting.push_back(p);
    pool.sequences.erase(id);
    std::erase(pool.order, id);
    return true;
  }

  void step_ended() {
    for (int p : pool.resting) pool.free.push_back(p);
    pool.resting.clear();
  }

  int preempt() {
    if (pool.order.empty()) return -1;
    const int id = pool.order.back();
    release(id);
    return id;
  }

  Pool pool;

 private:
  static std::size_t at(int page) { return static_cast<std::size_t>(page); }
  int take() {
    const int page = pool.free.front();
    pool.free.pop_front();
    if (pool.pages[at(page)].hash != 0) pool.known.erase(pool.pages[at(page)].hash);
    pool.pages[at(page)] = {1, 0};
    return page;
  }
  void enter(int page, std::uint64_t hash) {
    if (pool.known.count(hash) != 0) return;
    pool.known[hash] = page;
    pool.pages[at(page)].hash = hash;
  }
  void write(Sequence& s, int token) {
    s.tokens.push_back(token);
    if (s.tokens.size() % kPage != 0) return;
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < s.tokens.size(); i += kPage) hash = page_hash(hash, s.tokens.data() + i);
    enter(s.pages.back(), hash);
  }
};

}  // namespace ridge::lab::serving
