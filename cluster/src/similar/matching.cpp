#include "cluster/src/similar/matching.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace ridge::cluster::similar {

namespace {

// A text in which one hash is everywhere would make all pairs of places candidates.
constexpr int kMostOfOneHash = 16;

struct Read {
  std::vector<Token> tokens;          // of all files
  std::vector<std::uint32_t> file;    // of each token
  std::vector<std::size_t> ends;      // of each file, in tokens
  std::vector<std::uint64_t> hashes;  // of the k-gram from each token on; 0 where the file ends before
  std::vector<char> given, counted;   // of each token; counted: neither given nor common
  std::vector<Share> own;             // of each file, nothing matched yet
};

struct Seed {
  std::uint32_t a, b;  // tokens
};

struct Run {
  std::uint32_t a, b, length;
};

Read read(const HandIn& hand_in, const Rules& rules, bool& cut) {
  Read r;
  for (std::size_t f = 0; f < hand_in.files.size(); ++f) {
    const std::size_t room = rules.most_tokens - std::min(rules.most_tokens, r.tokens.size());
    std::vector<Token> its = tokens_of(hand_in.files[f].second, room + 1);
    if (its.size() > room) cut = true, its.resize(room);
    std::vector<std::uint64_t> hashes = grams(its, rules.sizes.k);
    hashes.resize(its.size(), 0);
    r.tokens.insert(r.tokens.end(), its.begin(), its.end());
    r.hashes.insert(r.hashes.end(), hashes.begin(), hashes.end());
    r.file.resize(r.tokens.size(), static_cast<std::uint32_t>(f));
    r.ends.push_back(r.tokens.size());
  }
  r.given.resize(r.tokens.size());
  r.counted.resize(r.tokens.size(), 1);
  return r;
}

template <class Is>
void mark(const Read& r, std::size_t k, std::vector<char>& tokens, char value, Is is) {
  for (std::size_t i = 0, until = 0; i < r.hashes.size(); ++i) {
    if (r.hashes[i] != 0 && is(r.hashes[i])) until = i + k;
    if (i < until) tokens[i] = value;
  }
}

// The fingerprints of all files that are neither given nor common, as tokens at which they begin.
template <class Is>
std::vector<std::uint32_t> seeds_of(const Read& r, const Sizes& sizes, Is left_out) {
  std::vector<std::uint32_t> all;
  std::unordered_map<std::uint64_t, int> times;
  std::size_t begin = 0;
  for (std::size_t end : r.ends) {
    const std::size_t last = end - begin < sizes.k ? begin : end - sizes.k + 1;
    const std::vector<std::uint64_t> its(r.hashes.begin() + static_cast<std::ptrdiff_t>(begin),
                                         r.hashes.begin() + static_cast<std::ptrdiff_t>(last));
    for (std::uint32_t at : winnow(its, sizes.w))
      if (!left_out(its[at]) && ++times[its[at]] <= kMostOfOneHash)
        all.push_back(at + static_cast<std::uint32_t>(begin));
    begin = end;
  }
  return all;
}

// The longest common runs around the seeds.
std::vector<Run> runs_around(const Read& a, const Read& b, std::vector<Seed>& seeds) {
  std::sort(seeds.begin(), seeds.end(), [](const Seed& x, const Seed& y) {
    return std::pair(std::int64_t{x.a} - x.b, x.a) < std::pair(std::int64_t{y.a} - y.b, y.a);
  });
  std::vector<Run> runs;
  std::int64_t diagonal = 0;
  std::uint32_t covered = 0;  // tokens of `a` on this diagonal
  for (const Seed& s : seeds) {
    const std::int64_t d = std::int64_t{s.a} - s.b;
    if (runs.empty() || d != diagonal) diagonal = d, covered = 0;
    if (s.a < covered) continue;
    std::uint32_t x = s.a, y = s.b, end = s.a;
    const auto same = [&](std::uint32_t i, std::uint32_t j) {
      return a.tokens[i].symbol == b.tokens[j].symbol && a.file[i] == a.file[s.a] && b.file[j] == b.file[s.b];
    };
    while (x > 0 && y > 0 && same(x - 1, y - 1)) --x, --y;
    while (end < a.tokens.size() && end - x + y < b.tokens.size() && same(end, end - x + y)) ++end;
    covered = end;
    if (end > x) runs.push_back({x, y, end - x});
  }
  return runs;
}

Place place(const Read& r, std::uint32_t first, std::uint32_t length) {
  return {r.file[first], r.tokens[first].begin, r.tokens[first + length - 1].end};
}

// Greedy: the longest runs first, no token in two passages.
void tile(const Read& a, const Read& b, std::vector<Run> runs, std::size_t least, Pair& pair) {
  const auto counts = [&](std::uint32_t i, std::uint32_t j) { return a.counted[i] != 0 && b.counted[j] != 0; };
  std::stable_sort(runs.begin(), runs.end(), [](const Run& x, const Run& y) { return x.length > y.length; });
  std::vector<char> taken_a(a.tokens.size()), taken_b(b.tokens.size());
  pair.files_a = a.own;
  pair.files_b = b.own;
  for (const Run& r : runs)
    for (std::uint32_t i = 0; i < r.length;) {
      std::uint32_t end = i;
      std::size_t tokens = 0;
      for (; end < r.length && taken_a[r.a + end] == 0 && taken_b[r.b + end] == 0; ++end)
        tokens += counts(r.a + end, r.b + end) ? 1 : 0;
      const std::uint32_t next = end + 1;
      if (tokens >= least) {
        while (!counts(r.a + i, r.b + i)) ++i;
        while (!counts(r.a + end - 1, r.b + end - 1)) --end;
        pair.passages.push_back({place(a, r.a + i, end - i), place(b, r.b + i, end - i), tokens});
        pair.files_a[a.file[r.a]].matched += tokens;
        pair.files_b[b.file[r.b]].matched += tokens;
        pair.matched += tokens;
        for (; i < end; ++i) taken_a[r.a + i] = taken_b[r.b + i] = 1;
      }
      i = next;
    }
  std::sort(pair.passages.begin(), pair.passages.end(), [](const Passage& x, const Passage& y) {
    return std::pair(x.a.file, x.a.begin) < std::pair(y.a.file, y.a.begin);
  });
}

Share sum_of(const std::vector<Share>& files) {
  Share all;
  for (const Share& f : files) all.own += f.own, all.matched += f.matched;
  return all;
}

}  // namespace

Comparison compare(const std::vector<HandIn>& hand_ins, const std::vector<std::string>& given, const Rules& rules) {
  Comparison result;
  const std::size_t k = rules.sizes.k;
  std::unordered_set<std::uint64_t> base;
  for (const std::string& text : given)
    for (std::uint64_t h : grams(tokens_of(text, rules.most_tokens), k)) base.insert(h);

  std::vector<Read> all;
  std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> having;  // hand-ins, and the last of them
  std::size_t class_size = 0;
  for (std::size_t i = 0; i < hand_ins.size(); ++i) {
    bool cut = false;
    all.push_back(read(hand_ins[i], rules, cut));
    if (cut) result.cut.push_back(i);
    if (!hand_ins[i].in_class) continue;
    ++class_size;
    for (std::uint64_t h : all.back().hashes)
      if (auto& [count, last] = having[h]; count == 0 || last != i) ++count, last = static_cast<std::uint32_t>(i);
  }
  const double limit =
      std::max(static_cast<double>(rules.common_at_least), rules.common * static_cast<double>(class_size));
  const auto is_given = [&](std::uint64_t h) { return base.count(h) != 0; };
  const auto is_common = [&](std::uint64_t h) {
    const auto at = having.find(h);
    return at != having.end() && at->second.first > limit;
  };

  struct Posting {
    std::uint32_t hand_in, token;
  };
  std::unordered_map<std::uint64_t, std::vector<Posting>> postings;
  std::vector<std::vector<std::uint32_t>> seeds(all.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    Read& r = all[i];
    mark(r, k, r.given, 1, is_given);
    mark(r, k, r.counted, 0, is_given);
    r.own.resize(r.ends.size());
    for (std::size_t t = 0; t < r.tokens.size(); ++t) r.own[r.file[t]].own += r.given[t] == 0 ? 1 : 0;
    const auto before = std::count(r.counted.begin(), r.counted.end(), 1);
    mark(r, k, r.counted, 0, is_common);
    if (hand_ins[i].in_class)
      result.common_tokens += static_cast<std::size_t>(before - std::count(r.counted.begin(), r.counted.end(), 1));
    seeds[i] = seeds_of(r, rules.sizes, [&](std::uint64_t h) { return is_given(h) || is_common(h); });
    for (std::uint32_t at : seeds[i]) postings[r.hashes[at]].push_back({i, at});
  }

  for (std::uint32_t a = 0; a < all.size(); ++a) {
    if (!hand_ins[a].in_class) continue;
    std::map<std::uint32_t, std::vector<Seed>> shared;  // by the other hand-in
    for (std::uint32_t at : seeds[a])
      for (const Posting& p : postings[all[a].hashes[at]])
        if (p.hand_in > a || !hand_ins[p.hand_in].in_class) shared[p.hand_in].push_back({at, p.token});
    for (auto& [b, its] : shared) {
      Pair pair;
      pair.a = a, pair.b = b;
      tile(all[a], all[b], runs_around(all[a], all[b], its), k, pair);
      if (pair.matched == 0) continue;
      pair.of_a = sum_of(pair.files_a);
      pair.of_b = sum_of(pair.files_b);
      result.pairs.push_back(std::move(pair));
    }
  }
  std::stable_sort(result.pairs.begin(), result.pairs.end(),
                   [](const Pair& x, const Pair& y) { return x.matched > y.matched; });
  return result;
}

}  // namespace ridge::cluster::similar
