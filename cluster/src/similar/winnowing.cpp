#include "cluster/src/similar/winnowing.hpp"

#include <algorithm>
#include <deque>

namespace ridge::cluster::similar {

namespace {

// splitmix64's finalizer, so that the least hash is no particular text.
std::uint64_t mixed(std::uint64_t h) {
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}

}  // namespace

std::vector<std::uint64_t> grams(const std::vector<Token>& tokens, std::size_t k) {
  constexpr std::uint64_t base = 0x9e3779b97f4a7c15u;  // odd: a polynomial modulo 2^64
  std::vector<std::uint64_t> hashes;
  if (tokens.size() < k) return hashes;
  hashes.reserve(tokens.size() - k + 1);
  std::uint64_t power = 1, h = 0;  // power: base^k
  for (std::size_t i = 0; i < k; ++i) power *= base;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    h = h * base + tokens[i].symbol;
    if (i >= k) h -= power * tokens[i - k].symbol;
    if (i + 1 >= k) hashes.push_back(mixed(h));
  }
  return hashes;
}

std::vector<std::uint32_t> winnow(const std::vector<std::uint64_t>& hashes, std::size_t w) {
  std::vector<std::uint32_t> chosen;
  w = std::min(w, hashes.size());
  std::deque<std::uint32_t> rising;  // places of the window whose hashes are below all to their right
  for (std::uint32_t i = 0; i < hashes.size(); ++i) {
    while (!rising.empty() && hashes[rising.back()] >= hashes[i]) rising.pop_back();
    rising.push_back(i);
    if (rising.front() + w <= i) rising.pop_front();
    if (i + 1 >= w && (chosen.empty() || chosen.back() != rising.front())) chosen.push_back(rising.front());
  }
  return chosen;
}

}  // namespace ridge::cluster::similar
