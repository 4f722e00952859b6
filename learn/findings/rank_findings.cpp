#include "learn/findings/rank_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

namespace ridge::loop {

namespace {

using Item = Timeline::Item;

constexpr double kMicro = 1e6;  // us of a second
constexpr double kSoon = 1e-6;  // s: what begins so soon after another has waited for it

struct Piece {
  std::string name;  // of the range
  double start, end;
  std::size_t first;  // its first kernel's index
};

// The ranges in which a rank's kernels were launched, in the order of time. A launch has its range before a slash, and
// an item is issued when its call ends.
std::vector<Piece> pieces_of(const Timeline& t) {
  std::map<double, std::string> by_time;
  for (const auto& c : t.calls)
    if (const auto slash = c.name.find('/'); slash != std::string::npos) by_time[c.end] = c.name.substr(0, slash);
  std::map<std::string, Piece> by_name;
  for (std::size_t i = 0; i < t.items.size(); ++i) {
    const Item& item = t.items[i];
    const auto at = by_time.find(item.issued);
    if (item.kind != "kernel" || at == by_time.end()) continue;
    const auto [p, is_new] = by_name.try_emplace(at->second, Piece{at->second, item.start, item.end, i});
    if (is_new) continue;
    if (item.start < p->second.start) p->second.start = item.start, p->second.first = i;
    p->second.end = std::max(p->second.end, item.end);
  }
  std::vector<Piece> all;
  for (auto& [name, piece] : by_name) all.push_back(std::move(piece));
  std::sort(all.begin(), all.end(), [](const Piece& a, const Piece& b) { return a.start < b.start; });
  return all;
}

// The kernel that runs longest in no range, on one rank in one stream.
struct Outside {
  std::string name;
  int stream = 0;
  std::size_t rank = 0;
  double seconds = 0;
};

Outside longest_outside(const std::vector<Timeline>& ranks) {
  Outside most;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::set<double> in_ranges;
    for (const auto& c : ranks[r].calls)
      if (c.name.find('/') != std::string::npos) in_ranges.insert(c.end);
    std::map<std::pair<std::string, int>, double> all;
    for (const Item& i : ranks[r].items)
      if (i.kind == "kernel" && !in_ranges.contains(i.issued)) all[{i.name, i.stream}] += i.end - i.start;
    for (const auto& [which, seconds] : all)
      if (seconds > most.seconds) most = {which.first, which.second, r, seconds};
  }
  return most;
}

struct Step {
  bool forward = true;
  int micro_batch = 0, chunk = 0;
  auto operator<=>(const Step&) const = default;
};

bool step_of(const std::string& name, Step& s) {
  char what[9] = "";
  if (std::sscanf(name.c_str(), "%8s %d chunk %d", what, &s.micro_batch, &s.chunk) < 2) return false;
  s.forward = std::string(what) == "forward";
  return s.forward || std::string(what) == "backward";
}

// What a stream's operation came after: the last to end of those it waited for, and of its own stream's before it.
const Item* held_by(const Timeline& t, const Item& item) {
  const Item* last = nullptr;
  auto consider = [&](const Item& i) {
    if (i.end <= item.start + 1e-8 && (last == nullptr || i.end > last->end)) last = &i;
  };
  for (const Item& i : t.items) {
    if (&i == &item) break;
    if (i.stream == item.stream) consider(i);
  }
  for (const std::uint64_t w : item.waits)
    if (w < t.items.size()) consider(t.items[w]);
  return last;
}

std::string range_of(const std::vector<Piece>& pieces, const Item& kernel) {
  for (const Piece& p : pieces)
    if (kernel.start >= p.start && kernel.end <= p.end) return "`" + p.name + "`";
  return "kernel " + kernel.name;
}

}  // namespace

RankFinding one_rank_at_a_time(const std::vector<Timeline>& ranks) {
  constexpr double kHardly = 0.03;  // of the time in which ranks compute
  if (ranks.size() < 2) return {};
  std::vector<std::pair<double, double>> all;
  double sum = 0, together = 0, end = 0;
  std::vector<std::vector<Piece>> pieces;
  for (const Timeline& t : ranks) {
    pieces.push_back(pieces_of(t));
    if (pieces.back().size() < 2) return {};
    for (const Piece& p : pieces.back()) all.emplace_back(p.start, p.end), sum += p.end - p.start;
  }
  std::sort(all.begin(), all.end());
  for (const auto& [from, to] : all) {
    together += std::max(0.0, std::min(end, to) - from);
    end = std::max(end, to);
  }
  if (together > kHardly * sum) return {};
  const Outside outside = longest_outside(ranks);
  const bool others = outside.seconds > kHardly * sum;  // kernels that are in no range
  RankFinding f{others ? "No two ranks are in a step at the same time" : "No two ranks compute at the same time", {}};
  const std::vector<Piece>& of = pieces.front();
  for (std::size_t i = 1; i < of.size(); ++i) {
    Step before, next;
    if (!step_of(of[i].name, next) || !step_of(of[i - 1].name, before)) continue;
    if (!next.forward || before.forward) continue;
    f.fact += fmt::format(": rank 0 begins `{}` only after `{}`, at {:.1f} us", of[i].name, of[i - 1].name,
                          of[i].start * kMicro);
    break;
  }
  if (others)
    f.fact += fmt::format("; {} ({:.1f} us in stream {} of rank {}) belongs to no step", outside.name,
                          outside.seconds * kMicro, outside.stream, outside.rank);
  f.advice =
      "Change the order of the steps first: a rank that has sent micro-batch 0 on can begin micro-batch 1, while the "
      "next rank works on micro-batch 0. Streams and early receives come after that.";
  return f;
}

RankFinding late_step(const std::vector<Timeline>& ranks) {
  const std::size_t p = ranks.size();
  if (p < 2) return {};
  std::vector<std::vector<Piece>> pieces;
  std::vector<std::map<Step, const Piece*>> steps(p);
  int chunks = 1;
  for (const Timeline& t : ranks) pieces.push_back(pieces_of(t));
  for (std::size_t r = 0; r < p; ++r)
    for (const Piece& piece : pieces[r])
      if (Step s; step_of(piece.name, s)) steps[r][s] = &piece, chunks = std::max(chunks, s.chunk + 1);

  struct Late {
    double seconds = 0, least = 1;  // the longest delay and the shortest: that of a transfer
    std::size_t rank = 0, peer = 0;
    const Piece *piece = nullptr, *needed = nullptr;
    double idle = 0;  // since when
  } late;
  for (std::size_t r = 0; r < p; ++r) {
    double idle = 0;
    for (const Piece& piece : pieces[r]) {
      Step s;
      const double since = std::exchange(idle, piece.end);
      if (!step_of(piece.name, s)) continue;
      const bool around = s.forward ? r == 0 : r + 1 == p;
      const std::size_t peer = s.forward ? (r + p - 1) % p : (r + 1) % p;
      if (around) s.chunk += s.forward ? -1 : 1;
      if (s.chunk < 0 || s.chunk >= chunks) continue;
      const auto needed = steps[peer].find(s);
      if (needed == steps[peer].end()) continue;
      const double ready = needed->second->end;
      late.least = std::min(late.least, piece.start - ready);
      const double delay = piece.start - std::max(since, ready);
      if (delay <= late.seconds) continue;
      late.seconds = delay, late.rank = r, late.peer = peer, late.piece = &piece, late.needed = needed->second;
      late.idle = since;
    }
  }
  if (late.piece == nullptr || late.seconds < 2 * late.least) return {};
  const Timeline& here = ranks[late.rank];
  RankFinding f;
  f.fact = fmt::format(
      "Rank {} is idle from {:.1f} us and begins `{}` at {:.1f} us, though rank {} has ended it at {:.1f} us",
      late.rank, late.idle * kMicro, late.piece->name, late.piece->start * kMicro, late.peer,
      late.needed->end * kMicro);
  // The transfer: the last one that came from there.
  const Item* receive = nullptr;
  const Item::Part* part = nullptr;
  for (const Item& i : here.items)
    for (const Item::Part& q : i.parts)
      if (q.peer == late.peer && q.sent == 0 && i.end <= late.piece->start + 1e-8 &&
          (receive == nullptr || i.end > receive->end))
        receive = &i, part = &q;
  if (receive == nullptr) return f;
  const Timeline& there = ranks[late.peer];
  const Item* send = nullptr;
  for (const Item& i : there.items)
    for (const Item::Part& q : i.parts)
      if (q.channel == part->channel && q.number == part->number && q.sent != 0) send = &i;
  if (send == nullptr) return f;
  const bool asked_late = receive->start > send->start;
  const Item& last = asked_late ? *receive : *send;
  const std::size_t rank = asked_late ? late.rank : late.peer;
  f.fact += fmt::format(". The transfer begins when rank {} comes to its {}, at {:.1f} us", rank,
                        asked_late ? "receive" : "send", last.start * kMicro);
  if (const Item* held = held_by(ranks[rank], last); held != nullptr && held->end > last.start - kSoon)
    f.fact += fmt::format(", behind {} that ends at {:.1f} us",
                          held->kind == "kernel" ? range_of(pieces[rank], *held)
                                                 : held->name + " in stream " + std::to_string(held->stream),
                          held->end * kMicro);
  f.advice =
      asked_late
          ? "Does this receive wait for a buffer that another micro-batch still uses? Take a buffer that has been "
            "free for longer, so that the next input can arrive while the last step is at work."
          : "Does this send wait for more than the step that makes its data?";
  return f;
}

RankFinding message_behind_another(const std::vector<Timeline>& ranks) {
  struct Found {
    const Item *item = nullptr, *before = nullptr;
    std::size_t rank = 0;
    double ready = 0, seconds = 0;
  } found;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Timeline& t = ranks[r];
    std::map<int, const Item*> last;  // by stream
    for (const Item& i : t.items) {
      const Item* before = std::exchange(last[i.stream], &i);
      if (i.kind != "exchange" || before == nullptr || before->kind != "exchange") continue;
      // Behind the wait of another call of its kind: nobody knows when its own data is there.
      if (i.waits.empty() && i.name == before->name) continue;
      double ready = i.issued, beside = 0;
      for (const std::uint64_t w : i.waits)
        if (w < t.items.size()) ready = std::max(ready, t.items[w].end);
      // What the one before it waited for came later, and kernels ran in the meantime.
      if (before->start <= ready) continue;
      for (const Item& k : t.items)
        if (k.kind == "kernel") beside += std::max(0.0, std::min(k.end, before->start) - std::max(k.start, ready));
      const double gain = std::min(beside, i.end - i.start);
      if (gain > found.seconds) found = {&i, before, r, ready, gain};
    }
  }
  if (found.item == nullptr) return {};
  return {fmt::format("{} that begins at {:.1f} us on rank {} could begin at {:.1f} us, beside kernels, but it stands "
                      "behind {} in stream {}, which begins at {:.1f} us",
                      found.item->name, found.item->start * kMicro, found.rank, found.ready * kMicro,
                      found.before->name, found.item->stream, found.before->start * kMicro),
          fmt::format("A stream and a communicator run their calls in the order of the calls: call the {} that could "
                      "begin at {:.1f} us before the {} that begins at {:.1f} us.",
                      found.item->name, found.ready * kMicro, found.before->name, found.before->start * kMicro)};
}

RankFinding messages_behind_all_kernels(const std::vector<Timeline>& ranks) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    double last = 0, first = 0;  // the kernels' end, the messages' begin
    int kernels = 0, messages = 0;
    std::set<std::string> names;
    for (const Item& i : ranks[r].items) {
      if (i.kind == "kernel") ++kernels, last = std::max(last, i.end);
      if (i.kind != "exchange") continue;
      first = messages++ == 0 ? i.start : std::min(first, i.start);
      names.insert(i.name);
    }
    if (kernels < 2 || messages < 2 || names.size() > 1 || first < last - kSoon) continue;
    return {
        fmt::format("All {} calls of {} on rank {} begin behind its last kernel, which ends at {:.1f} us: the first of "
                    "them at {:.1f} us",
                    messages, *names.begin(), r, last * kMicro, first * kMicro),
        "Which kernels does the first of these calls wait for? An event that is recorded behind the kernels that make "
        "its data, and not behind all, lets it begin while the others run."};
  }
  return {};
}

}  // namespace ridge::loop
