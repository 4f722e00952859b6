// Task `blocks`: which page of the KV cache belongs to which sequence. On the host; the data are given, the functions
// are yours. A sequence is known by a number of the caller's. All rules are here, so that every state is determined.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "page.hpp"

struct Page {
  int owners = 0;          // sequences that have it in their table
  std::uint64_t hash = 0;  // under which `known` has it, or 0
};

struct Sequence {
  std::vector<int> tokens, pages;  // token j lies in page pages[j / kPage]
};

struct Pool {
  explicit Pool(int count) : pages(static_cast<std::size_t>(count)) {
    for (int p = 0; p < count; ++p) free.push_back(p);
  }
  std::vector<Page> pages;
  std::deque<int> free;                          // pages without an owner; the front is taken next
  std::vector<int> resting;                      // lost their last owner in this step: kernels may still read them
  std::unordered_map<std::uint64_t, int> known;  // full pages, by the hash of their tokens and of all before
  std::map<int, Sequence> sequences;
  std::vector<int> order;  // of the sequences, as they were admitted or forked
};

// The hash of a full page: of its tokens, and of the page before it in the sequence (0 for the first). Never 0.
inline std::uint64_t page_hash(std::uint64_t before, const int* tokens) {
  std::uint64_t h = before ^ 0x9E3779B97F4A7C15ull;
  for (int i = 0; i < kPage; ++i) {
    h = (h ^ static_cast<std::uint64_t>(tokens[i])) * 0xBF58476D1CE4E5B9ull;
    h ^= h >> 31;
  }
  return h | 1;
}
// Those of all full pages of `tokens`, in order.
inline std::vector<std::uint64_t> page_hashes(const std::vector<int>& tokens) {
  std::vector<std::uint64_t> hashes;
  for (std::size_t end = kPage; end <= tokens.size(); end += kPage)
    hashes.push_back(page_hash(hashes.empty() ? 0 : hashes.back(), &tokens[end - kPage]));
  return hashes;
}

constexpr int kNoRoom = -1;

// Takes the page that has been free longest. If `known` has it, it is there no more: its contents will be overwritten.
// `free` must not be empty.
inline int take_page(Pool& pool) {
  const int page = pool.free.front();
  pool.free.pop_front();
  Page& p = pool.pages[static_cast<std::size_t>(page)];
  if (p.hash != 0) pool.known.erase(p.hash);
  p = {1, 0};
  return page;
}

// A page that becomes full gets its hash and its entry in `known`, unless `known` has another page under this hash: then
// it stays without.

// Admits a sequence with its prompt, of at least one token, and returns how many of its tokens need not be computed.
//  - Shared are the first full pages of the prompt that `known` has, as far as there is no gap. But at least one token
//    is computed, since the model's answer to the last one is wanted: at most (tokens - 1) / kPage pages are shared.
//  - A shared page has one owner more. If it had none, it leaves `free` or `resting`.
//  - All other pages are taken. If `free` has too few, once the shared ones have left it: kNoRoom, and nothing changes.
//    Page by page, in order: it is taken, and if it is full it is entered in `known`, before the next one is taken.
int admit(Pool& pool, int id, const std::vector<int>& prompt);

// Where the token's key and value are to be written. copied_from: the page whose first `place` tokens must be copied
// to `page` before, or -1.
struct Write {
  int page, place, copied_from;
};

// Adds a token that was computed. A sequence whose pages are full takes one more. A last page with several owners is
// not written to: the sequence takes another one in its place ("copy on write"). Without a page to take: {kNoRoom, 0,
// -1}, and nothing changes.
Write add_token(Pool& pool, int id, int token);

// `child` becomes a copy of `parent`, with the same pages.
void fork(Pool& pool, int parent, int child);

// The sequence is gone. Its pages lose an owner, the last page first; those without one go to the end of `resting`.
// False, and nothing changes, for a number that no sequence has.
bool release(Pool& pool, int id);

// The kernels of this step have ended: `resting`, in its order, goes to the end of `free`.
void step_ended(Pool& pool);

// Releases the sequence that is last in `order`, so that others find pages; the caller will admit it again later.
// Returns its number, or -1 where there is none.
int preempt(Pool& pool);
