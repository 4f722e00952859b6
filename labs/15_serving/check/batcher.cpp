// Task `batcher`: the judge has the traces and the clock, and plays each plan.
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "../questions.hpp"
#include "checks/compare.hpp"
#include "tasks.hpp"
#include "trace.hpp"

namespace ridge::lab::serving {

namespace {

// A session of questions: one call.
class Session {
 public:
  explicit Session(const Load& load) : pages_(load.pages), play_(load.trace, load.pages) {}

  Answer ask(const Question& q) {
    if (stopped_) return {{kRefused}};
    Answer a;
    if (!answer(q, a)) stopped_ = true, a = {{kRefused}};
    return a;
  }
  const Playback& played() const { return play_; }

 private:
  bool answer(const Question& q, Answer& a) {
    switch (q.value[0]) {
      case kBegin:
        a = {{play_.server.now, double(play_.arrived()), double(pages_)}};
        return true;
      case kArrival: {
        if (q.value[1] < 0 || q.value[1] >= play_.arrived()) return false;
        const Arrival& r = play_.trace()[static_cast<std::size_t>(q.value[1])];
        a = {{r.time, double(r.prompt)}};
        return true;
      }
      case kEvict:
        return play_.evict(static_cast<int>(q.value[1]));
      case kChunks:
        take(q, 1);
        return true;
      case kRun:
        take(q, 2);
        return run(q.value[1], a);
      case kWait:
        if (!play_.wait()) return false;
        a = {{play_.server.now, double(play_.arrived()), play_.ended() ? 1.0 : 0.0}};
        return true;
      default:
        return false;
    }
  }
  void take(const Question& q, std::size_t first) {
    for (std::size_t i = first; i < q.value.size(); ++i)
      if (q.value[i] != 0) chunks_.push_back({id_of(q.value[i]), tokens_of(q.value[i])});
  }
  bool run(std::int64_t bits, Answer& a) {
    std::vector<Chunk> single;
    int rank = 0;
    for (const ::Request& r : play_.server.active) {
      if (!r.resident() || rank == 64) continue;
      if (bits >> rank & 1) single.push_back({r.id, 1});
      ++rank;
    }
    chunks_.insert(chunks_.begin(), single.begin(), single.end());
    std::vector<int> ended;
    if (!play_.step(chunks_, ended)) return false;
    std::uint32_t mask[2] = {};
    for (std::size_t i = 0; i < chunks_.size() && i < 64; ++i)
      if (std::find(ended.begin(), ended.end(), chunks_[i].id) != ended.end()) mask[i / 32] |= 1u << i % 32;
    a = {{play_.server.now, double(play_.arrived()), double(mask[0]), double(mask[1])}};
    chunks_.clear();
    return true;
  }

  int pages_;
  Playback play_;
  std::vector<Chunk> chunks_;
  bool stopped_ = false;
};

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Sizes: the kind of the trace, requests.
class Batcher : public TaskCheck {
 public:
  std::string id() const override { return "batcher"; }
  std::vector<Case> cases(const Request& r) const override {
    const std::int64_t requests = r.mode == Mode::check ? 1000 : 10000;
    std::vector<Case> all;
    for (const auto& [kind, name] :
         {std::pair{Kind::steady, "steady"}, {Kind::bursts, "bursts"}, {Kind::offline, "all at once"}}) {
      Case c{fmt::format("{}, {} requests", name, requests), {static_cast<std::int64_t>(kind), requests}};
      c.secret = random_bits(r.seed, all.size());
      all.push_back(c);
    }
    return all;
  }
  lab::Shape shape(const Case&) const override { return {{}, {sizeof(std::int32_t)}, 0}; }
  void fill(const Case&, std::uint64_t, Buffers) const override {}
  bool host_reads_inputs() const override { return true; }

  // A step for each token at most, and some more.
  std::size_t most_questions(const Case& c) const override { return static_cast<std::size_t>(c.size[1]) * 400; }
  Answer answer(const Case& c, std::span<const Question> asked) const override {
    std::lock_guard lock(mutex_);
    auto session = sessions_.find(c.secret);
    if (asked.back().value[0] == kBegin) {
      // A trace that was seen once must not be played again in the same call: the first play would tell the future.
      if (asked.size() > 1 && session != sessions_.end() && !session->second.played().ended()) return {{kRefused}};
      session = sessions_.insert_or_assign(c.secret, Session(load(c))).first;
    }
    return session == sessions_.end() ? Answer{{kRefused}} : session->second.ask(asked.back());
  }
  Verdict verify_questions(const Case& c, std::span<const Question> asked) const override {
    if (asked.empty()) return {false, "nothing was asked", "nothing was asked"};
    // `asked` holds the questions of one call.
    const auto plays =
        std::count_if(asked.begin(), asked.end(), [](const Question& q) { return q.value[0] == kBegin; });
    if (plays != 1)
      return {false, fmt::format("the trace was played {} times in one call", plays),
              "the trace was not played once in a call", "questions"};
    const Session all = replay(c, asked);
    const Playback& p = all.played();
    if (!p.error.empty()) return {false, p.error, secret_of(p.check), p.check};
    if (p.ended()) return {};
    return {false, fmt::format("{} requests of {} have ended when the program stopped", ended(p), p.trace().size()),
            "the program stopped before all requests had ended"};
  }
  Verdict verify(const Case& c, ConstBuffers, ConstBuffers out) const override {
    const std::int32_t ended = as<std::int32_t>(out[0])[0];
    if (ended == c.size[1]) return {};
    return {false, fmt::format("{} requests of {} have ended", ended, c.size[1]), "some requests have not ended"};
  }
  std::vector<Mark> marks(const Case& c, ConstBuffers, ConstBuffers, std::span<const Question> asked) const override {
    const Session all = replay(c, asked);
    const Playback& p = all.played();
    if (static_cast<Kind>(c.size[0]) == Kind::offline) {
      const double least = least_seconds(p.trace(), p.server.pages);
      return {mark("throughput", p.server.now / least,
                   fmt::format("{:.1f} s, at least {:.1f}: {} steps, {} requests evicted, {} tokens computed",
                               p.server.now, least, p.steps(), p.evicted(), p.computed()))};
    }
    const std::vector<double> in_turn = first_in_turn(p.trace(), p.server.pages);
    std::vector<double> first, each;
    for (std::size_t i = 0; i < p.trace().size(); ++i) {
      const Arrival& a = p.trace()[i];
      first.push_back(p.first()[i] - a.time);
      if (a.answer > 1) each.push_back((p.last()[i] - p.first()[i]) / (a.answer - 1));
    }
    std::vector<Mark> result;
    auto add = [&](const char* goal, double share, const std::vector<double>& values, double bound, const char* of) {
      const double value = percentile(values, share);
      result.push_back(
          mark(goal, value / bound, fmt::format("{}: {:.1f} ms, {} {:.1f}", c.name, 1e3 * value, of, 1e3 * bound)));
    };
    const char *const idle = "on an idle server", *const turns = "in turn";
    add("tpot_p50", 0.5, each, kStep + kWeights, idle), add("tpot_p99", 0.99, each, kStep + kWeights, idle);
    if (static_cast<Kind>(c.size[0]) == Kind::bursts) return result;  // its queues are as long as the bursts
    add("ttft_p50", 0.5, first, percentile(in_turn, 0.5), turns);
    add("ttft_p99", 0.99, first, percentile(in_turn, 0.99), turns);
    return result;
  }
  Work work(const Case& c) const override { return {static_cast<double>(c.size[1]), "request", 0, 0}; }

 private:
  static Load load(const Case& c) {
    return draw_load(static_cast<Kind>(c.size[0]), static_cast<int>(c.size[1]), c.secret);
  }
  static Session replay(const Case& c, std::span<const Question> asked) {
    Session session(load(c));
    for (const Question& q : asked) session.ask(q);
    return session;
  }
  static std::size_t ended(const Playback& p) {
    return static_cast<std::size_t>(std::count_if(p.last().begin(), p.last().end(), [](double t) { return t >= 0; }));
  }
  static std::string secret_of(const std::string& check) {
    return check == "deadlock"     ? "requests wait, and the plan is empty"
           : check == "starvation" ? "a request waits while kStarved later ones begin"
           : check == "pages"      ? "a plan needs more pages than there are"
                                   : "a plan breaks a rule of batcher.hpp";
  }
  static Mark mark(const char* goal, double value, std::string told) {
    return {goal, value, "x the bound", std::move(told), "far from the bound"};
  }

  mutable std::mutex mutex_;
  mutable std::map<std::uint64_t, Session> sessions_;  // of the last call of each case
};

}  // namespace

std::unique_ptr<TaskCheck> batcher() { return std::make_unique<Batcher>(); }

}  // namespace ridge::lab::serving
