// Task `blocks`: traces of operations, and the state after each.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <mutex>

#include "../trace.hpp"
#include "checks/compare.hpp"
#include "checks/fill.hpp"
#include "pages.hpp"
#include "tasks.hpp"

namespace ridge::lab::serving {

namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  int below(int n) { return static_cast<int>(random_bits(seed_, next_++) % static_cast<std::uint64_t>(n)); }

 private:
  std::uint64_t seed_, next_ = 0;
};

// Operations as numbers, and the states that they leave.
struct Trace {
  int pages, operations = 0;
  std::vector<std::int32_t> numbers;
  std::vector<std::int32_t> states;
};

std::size_t numbers_of_state(std::size_t pages) { return kStateNumbers + kLists * pages; }

// Plays while it draws: what comes next depends on whether there was room.
class Drawn {
 public:
  Drawn(int pages, int operations, std::uint64_t seed) : draw_(seed), pages_(pages), trace_{pages, 0, {}, {}} {
    for (auto& text : texts_)
      for (int i = 0; i < 6 * kPage; ++i) text.push_back(draw_.below(50));
    preempt();  // nobody is there
    while (trace_.operations < operations) step(operations);
  }
  Trace take() { return std::move(trace_); }

 private:
  // Some sequences end, some come, each that runs has a token more. Pages of those that end still rest when others
  // come, and half of the time also those of preempted ones.
  void step(int most) {
    auto has_room = [&] { return trace_.operations < most; };
    if (draw_.below(4) == 0 && has_room() && !running().empty()) {
      const int id = running()[static_cast<std::size_t>(draw_.below(static_cast<int>(running().size())))];
      const std::vector<int> text = model_.pool.sequences.at(id).tokens;
      release(id);
      // The user asks on at once: the pages rest, and are shared.
      if (draw_.below(2) == 0 && has_room()) admit(text);
    }
    if (draw_.below(8) == 0 && has_room()) release(gone_);  // there is none, or it was released before
    if (draw_.below(3) > 0 && has_room()) {
      std::vector<int> prompt = texts_[static_cast<std::size_t>(draw_.below(3))];
      // Short ones, whole pages, and a text that others begin with, too.
      const int length = draw_.below(3) == 0 ? kPage * (1 + draw_.below(5)) : 1 + draw_.below(5 * kPage);
      prompt.resize(static_cast<std::size_t>(length));
      if (draw_.below(3) == 0) prompt[static_cast<std::size_t>(draw_.below(length))] = 50 + draw_.below(50);
      admit(prompt);
    }
    // Preempted ones come back, and may find their own pages.
    if (!waiting_.empty() && draw_.below(2) == 0 && has_room() && admit(waiting_.back())) waiting_.pop_back();
    if (draw_.below(5) == 0 && has_room() && !running().empty())
      fork(running()[static_cast<std::size_t>(draw_.below(static_cast<int>(running().size())))]);
    for (int id : std::vector<int>(running())) {
      if (!has_room()) return;
      while (model_.pool.sequences.count(id) != 0 && has_room() && !add(id)) {
        if (!has_room()) return;
        preempt();
        if (draw_.below(2) == 0 && has_room()) step_ended();
      }
    }
    if (draw_.below(4) > 0 && has_room()) step_ended();
  }
  const std::vector<int>& running() const { return model_.pool.order; }

  bool admit(const std::vector<int>& prompt) {
    const int id = next_++;
    note(kAdmit, id, static_cast<int>(prompt.size()));
    trace_.numbers.insert(trace_.numbers.end(), prompt.begin(), prompt.end());
    const int shared = model_.admit(id, prompt);
    state(id, {shared, 0, 0});
    return shared != kNoRoom;
  }
  bool add(int id) {
    const int token = draw_.below(50);
    note(kAddToken, id, token);
    const Write w = model_.add_token(id, token);
    state(id, {w.page, w.place, w.copied_from});
    return w.page != kNoRoom;
  }
  void fork(int parent) {
    const int id = next_++;
    note(kFork, id, parent);
    model_.fork(parent, id);
    state(id, {});
  }
  void release(int id) {
    gone_ = id;
    note(kRelease, id, 0);
    state(id, {model_.release(id) ? 1 : 0, 0, 0});
  }
  void step_ended() {
    note(kStepEnded, -1, 0);
    model_.step_ended();
    state(-1, {});
  }
  void preempt() {
    note(kPreempt, -1, 0);
    if (!running().empty()) waiting_.push_back(model_.pool.sequences.at(running().back()).tokens);
    const int id = model_.preempt();
    state(id, {id, 0, 0});
  }

  void note(Operation kind, int id, int argument) {
    trace_.numbers.insert(trace_.numbers.end(), {kind, id, argument});
    ++trace_.operations;
  }
  void state(int id, std::array<int, 3> returned) {
    const Pool& pool = model_.pool;
    const auto found = pool.sequences.find(id);
    const std::vector<int> table = found == pool.sequences.end() ? std::vector<int>() : found->second.pages;
    auto& to = trace_.states;
    const std::size_t first = to.size(), pages = static_cast<std::size_t>(pages_);
    to.resize(first + numbers_of_state(pages), -1);
    const State s{{returned[0], returned[1], returned[2]}, static_cast<int>(pool.free.size()),
                  static_cast<int>(pool.resting.size()),   static_cast<int>(pool.known.size()),
                  static_cast<int>(pool.sequences.size()), static_cast<int>(table.size())};
    std::memcpy(&to[first], &s, sizeof s);
    auto* lists = &to[first + kStateNumbers];
    std::copy(pool.free.begin(), pool.free.end(), lists);
    std::copy(pool.resting.begin(), pool.resting.end(), lists + pages);
    for (std::size_t p = 0; p < pages; ++p) {
      lists[2 * pages + p] = pool.pages[p].owners;
      lists[3 * pages + p] = static_cast<int>(pool.pages[p].hash ^ pool.pages[p].hash >> 32);
    }
    std::copy(table.begin(), table.end(), lists + 4 * pages);
  }

  Draw draw_;
  int pages_, next_ = 0, gone_ = 5000;
  std::vector<int> texts_[3];
  std::vector<std::vector<int>> waiting_;
  Trace trace_;
  Pages model_{pages_};
};

// A state with its lists, as numbers of one of two sides.
struct View {
  State head;
  std::span<const std::int32_t> lists;
  std::size_t pages;
  View(std::span<const std::int32_t> numbers, std::size_t count) : lists(numbers.subspan(kStateNumbers)), pages(count) {
    std::memcpy(&head, numbers.data(), sizeof head);
  }
  std::span<const std::int32_t> list(std::size_t which, int length) const {
    return lists.subspan(which * pages, std::min(pages, static_cast<std::size_t>(std::max(0, length))));
  }
  auto free() const { return list(0, head.free); }
  auto resting() const { return list(1, head.resting); }
  auto owners() const { return lists.subspan(2 * pages, pages); }
  auto hashes() const { return lists.subspan(3 * pages, pages); }
  auto table() const { return list(4, head.table); }
};

std::string text_of(std::span<const std::int32_t> list) {
  std::string text;
  for (std::size_t i = 0; i < list.size() && i < 12; ++i) text += fmt::format("{}{}", i > 0 ? " " : "", list[i]);
  if (list.empty()) return "none";
  return list.size() > 12 ? text + " ..." : text;
}
bool same(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// What is wrong with a state, and which mistake that is; two empty texts where nothing is.
struct Wrong {
  std::string told, kind;
};
Wrong compare(Operation kind, const View& got, const View& want) {
  const std::size_t pages = got.pages;
  std::vector<int> unowned(pages);
  auto in = [](std::span<const std::int32_t> list, std::size_t page) {
    return std::find(list.begin(), list.end(), static_cast<std::int32_t>(page)) != list.end();
  };
  for (int p : got.free())
    if (p < 0 || static_cast<std::size_t>(p) >= pages)
      return {fmt::format("`free` has page {}, and the pool has pages 0 to {}", p, pages - 1), "a page that is none"};
  for (int p : got.free()) ++unowned[static_cast<std::size_t>(p)];
  for (int p : got.resting())
    if (p >= 0 && static_cast<std::size_t>(p) < pages) ++unowned[static_cast<std::size_t>(p)];
  for (std::size_t p = 0; p < pages; ++p) {
    if (unowned[p] > 1)
      return {fmt::format("page {} is in `free` and `resting` {} times: freed twice", p, unowned[p]), "a double free"};
    if (unowned[p] > 0 && got.owners()[p] > 0 && kind == kAdmit && want.owners()[p] > 0)
      return {fmt::format("page {} is shared again and did not leave `{}`", p, in(got.free(), p) ? "free" : "resting"),
              "a shared page that stays in a list"};
    if (unowned[p] > 0 && got.owners()[p] > 0)
      return {fmt::format("page {} is free and has {} owner{}: it was freed while a sequence has it", p,
                          got.owners()[p], got.owners()[p] == 1 ? "" : "s"),
              "a page that is freed while a sequence has it"};
    if (got.owners()[p] < 0)
      return {fmt::format("page {} has {} owners, fewer than none: a double free", p, got.owners()[p]),
              "a double free"};
  }
  for (int p : got.free())
    if (std::find(want.resting().begin(), want.resting().end(), p) != want.resting().end())
      return {fmt::format("page {} is in `free` before the step has ended: kernels that still read it would see "
                          "another sequence's tokens",
                          p),
              "a page is reused while kernels may read it"};
  const int* r = got.head.returned;
  const int* e = want.head.returned;
  if (kind == kAdmit && r[0] != e[0]) {
    auto told = [](int n) { return n == kNoRoom ? std::string("kNoRoom") : fmt::format("{} shared tokens", n); };
    return {fmt::format("admit returned {}, expected {}", told(r[0]), told(e[0])), "what admit returned"};
  }
  if (kind == kAddToken && (r[0] != e[0] || r[1] != e[1] || r[2] != e[2]))
    return {
        fmt::format("add_token returned page {}, place {}, copied from {}; expected page {}, place {}, copied from {}",
                    r[0], r[1], r[2], e[0], e[1], e[2]),
        "what add_token returned"};
  for (std::size_t p = 0; p < pages; ++p) {
    if (got.owners()[p] > 0 && want.owners()[p] == 0)
      return {fmt::format("page {} has {} owner{}, and no sequence has it: a leak", p, got.owners()[p],
                          got.owners()[p] == 1 ? "" : "s"),
              "a leak"};
    if (got.owners()[p] == 0 && unowned[p] == 0)
      return {fmt::format("page {} has no owner and is in no list: a leak", p), "a leak"};
  }
  if (r[0] != e[0]) return {fmt::format("it returned {}, expected {}", r[0], e[0]), "what release or preempt returned"};
  if (!same(got.table(), want.table()))
    return {fmt::format("the sequence's pages are {}, expected {}", text_of(got.table()), text_of(want.table())),
            "a sequence's pages"};
  for (std::size_t p = 0; p < pages; ++p)
    if (got.owners()[p] != want.owners()[p])
      return {fmt::format("page {} has {} owners, expected {}", p, got.owners()[p], want.owners()[p]),
              "the owners of a page"};
  if (!same(got.resting(), want.resting()) || got.head.resting != want.head.resting)
    return {fmt::format("`resting` is {}, expected {}", text_of(got.resting()), text_of(want.resting())), "`resting`"};
  if (!same(got.free(), want.free()) || got.head.free != want.head.free)
    return {fmt::format("`free` is {}, expected {}", text_of(got.free()), text_of(want.free())), "`free`"};
  for (std::size_t p = 0; p < pages; ++p)
    if (got.hashes()[p] != want.hashes()[p])
      return {fmt::format("page {} {}", p,
                          want.hashes()[p] == 0  ? "has a hash, and should have none"
                          : got.hashes()[p] == 0 ? "has no hash, and should have one"
                                                 : "has another hash than its tokens"),
              "the hash of a page"};
  if (got.head.known != want.head.known)
    return {fmt::format("`known` has {} pages, expected {}", got.head.known, want.head.known), "`known`"};
  if (got.head.sequences != want.head.sequences)
    return {fmt::format("there are {} sequences, expected {}", got.head.sequences, want.head.sequences), "`sequences`"};
  return {};
}

// Sizes: pages, operations; those of the trace's numbers.
class Blocks : public TaskCheck {
 public:
  std::string id() const override { return "blocks"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](int pages, int operations) {
      const std::uint64_t seed = random_bits(r.seed, all.size());
      const Trace t = Drawn(pages, operations, seed).take();
      Case c{fmt::format("{} pages, {} operations", pages, operations), {pages, t.operations}};
      c.size[2] = static_cast<std::int64_t>(t.numbers.size());
      c.secret = seed;
      all.push_back(c);
    };
    add(8, 60), add(24, 400), add(64, 1200);
    if (r.mode == Mode::grade) add(17, 500), add(48, 2000);
    return all;
  }
  lab::Shape shape(const Case& c) const override {
    return {{static_cast<std::size_t>(c.size[2]) * sizeof(std::int32_t)}, {states(c)}, 0, Place::pinned, Place::device};
  }
  void fill(const Case& c, std::uint64_t, Buffers in) const override {
    const auto numbers = trace(c).numbers;
    std::memcpy(in[0].data(), numbers.data(), in[0].size());
  }
  bool host_reads_inputs() const override { return true; }
  double bytes_from_host(const Case& c) const override { return 65536 + 1.1 * static_cast<double>(states(c)); }
  Verdict verify(const Case& c, ConstBuffers, ConstBuffers out) const override {
    const Trace t = trace(c);
    const auto got = as<std::int32_t>(out[0]);
    const std::size_t pages = static_cast<std::size_t>(t.pages), each = numbers_of_state(pages);
    const std::int32_t* operation = t.numbers.data();
    for (std::size_t i = 0; i < static_cast<std::size_t>(t.operations); ++i) {
      const auto kind = static_cast<Operation>(operation[0]);
      if (got[i * each + 3] == -1)
        return {false,
                fmt::format("operation {}, {}: it threw an exception, or `pages` has another size after it", i,
                            name(operation)),
                "an operation threw an exception"};
      const Wrong wrong = compare(kind, View(got.subspan(i * each, each), pages),
                                  View(std::span(t.states).subspan(i * each, each), pages));
      if (!wrong.told.empty())
        return {false, fmt::format("after operation {}, {}: {}", i, name(operation), wrong.told), wrong.kind};
      operation += 3 + (kind == kAdmit ? operation[2] : 0);
    }
    return {};
  }
  Work work(const Case& c) const override { return {static_cast<double>(c.size[1]), "operation", 0, 0}; }

 private:
  static std::size_t states(const Case& c) {
    return numbers_of_state(static_cast<std::size_t>(c.size[0])) * static_cast<std::size_t>(c.size[1]) *
           sizeof(std::int32_t);
  }
  static Trace trace(const Case& c) {
    return Drawn(static_cast<int>(c.size[0]), static_cast<int>(c.size[1]), c.secret).take();
  }
  static std::string name(const std::int32_t* o) {
    switch (o[0]) {
      case kAdmit:
        return fmt::format("admit({}) with {} tokens", o[1], o[2]);
      case kAddToken:
        return fmt::format("add_token({}, {})", o[1], o[2]);
      case kFork:
        return fmt::format("fork({}, {})", o[2], o[1]);
      case kRelease:
        return fmt::format("release({})", o[1]);
      case kStepEnded:
        return "step_ended()";
      default:
        return "preempt()";
    }
  }
};

}  // namespace

std::unique_ptr<TaskCheck> blocks() { return std::make_unique<Blocks>(); }

}  // namespace ridge::lab::serving
