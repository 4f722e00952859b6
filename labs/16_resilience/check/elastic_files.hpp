// The judge of `elastic`: it has the clock, the collectives, the gradients and the files, and says who dies.
#pragma once
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../elastic_plan.hpp"
#include "runtime/files/model/file_system.hpp"

namespace ridge::lab::resilience {

// What happens in one scenario.
struct ElasticPlan {
  std::string what;
  int restart = -1;  // s after which a rank that has died starts again; -1: never
  int paused = -1;   // the rank that sends no heartbeat for 25 s from second 9 on; -1: none
  std::vector<std::pair<int, long long>> at_steps = {};  // rank and step: it dies when it enters the collective
  std::vector<std::uint64_t> in_changes = {};            // whoever makes this change of the disk dies in it
  files::Crash crash = files::Crash::process;
};

class ElasticFiles : public files::FileSystem {
 public:
  // Asked before scenario s; none: that was the last one.
  using PlanOf = std::function<std::optional<ElasticPlan>(const ElasticFiles&, int s)>;

  ElasticFiles(std::uint64_t secret, std::size_t calls, PlanOf plan_of)
      : FileSystem(files::Storage{}), secret_(secret), calls_(calls), plan_of_(std::move(plan_of)) {
    on_mark([this](FileSystem&, std::int64_t number, std::int64_t value) {
      const std::int64_t answer = answered(number, value);
      if (answer == kUnexpected) as_expected_ = false;
      return answer == kUnexpected ? std::int64_t{-EPERM} : answer;
    });
  }
  files::Reply call(const files::Request& r, std::span<std::byte> window) override {
    rank_ = r.rank;  // calls come one after another
    return FileSystem::call(r, window);
  }
  // True where each note that came could come from entry.cu.
  bool notes_as_expected() const { return as_expected_ && state_ == State::idle && calls_ == 0; }
  // What is wrong, of the first scenario in which something is: its text, and one without values.
  const std::string& wrong() const { return wrong_; }
  const std::string& kind_of_wrong() const { return kind_; }
  // Of the newest scenario that has ended.
  std::size_t changes_made() const { return changes_made_; }
  // Its changes in the second in which generation 2 became whole: the first of them, from 1 on, and the one after the last.
  std::pair<std::size_t, std::size_t> changes_of_generation_2() const { return generation_2_; }
  std::size_t deaths() const { return deaths_; }

 private:
  static constexpr std::int64_t kUnexpected = INT64_MIN;
  enum class State { idle, plays, over };
  struct Rank {
    bool lives = true, is_waiting = false;
    int back = -1;                // the second in which it starts again
    std::int64_t old = 0;         // the newest generation when its process started
    std::int64_t generation = 0;  // the newest in whose collective it was
    std::int64_t step = 0;        // the next one of it
    std::uint64_t state = 0;      // of the model, as it must be
    std::int64_t claimed_generation = 0, claimed_step = 0;
    std::map<std::int64_t, int> asked = {};  // of a step: micro-batches, a bit each
  };
  struct Collective {
    std::uint64_t mine[kWorkers] = {}, sum = 0;
    int entered = 0;
    bool ended = false;
  };
  struct Begun {  // a generation in whose collective somebody was
    std::int64_t step = 0;
    std::uint64_t state = 0;
    int members = 0;
  };
  struct Sealed {
    std::uint64_t hash = 0;
    std::int64_t step = 0;
    std::uint64_t other = 0;  // members, or the model's state
  };

  std::int64_t answered(std::int64_t number, std::int64_t value) {
    const bool is_turn = state_ == State::plays && rank_ >= 0 && rank_ < kWorkers && (polls_ >> rank_ & 1) != 0;
    switch (number & 255) {
      case kScenario:
        return state_ == State::idle && number == kScenario ? begin(value) : kUnexpected;
      case kSecond:
        return state_ == State::plays && died().size() == noted_ && value == second_ + 1 ? second(value) : kUnexpected;
      case kGradient:
        return is_turn ? gradient(number >> 8, value) : kUnexpected;
      case kReduce:
        return is_turn ? reduce(number >> 24, number >> 8 & 0xffff, static_cast<std::uint64_t>(value)) : kUnexpected;
      case kPolled: {
        const std::int64_t r = number >> 8 & 255;
        if (state_ != State::plays || r >= kWorkers || (polls_ >> r & 1) == 0 || died().size() != noted_)
          return kUnexpected;
        of_[r].claimed_generation = number >> 16, of_[r].claimed_step = value;
        return 0;
      }
      case kDied:
        if (state_ != State::plays || died().size() != noted_ + 1 || died().back() != value) return kUnexpected;
        ++noted_, ++deaths_, polls_ &= ~(1 << value);
        of_[value].lives = of_[value].is_waiting = false;
        of_[value].back = plan_.restart < 0 ? -1 : second_ + plan_.restart;
        return 0;
      case kAtEnd:
        return state_ == State::over ? state_at_end(static_cast<int>(number >> 8), static_cast<std::uint64_t>(value))
                                     : kUnexpected;
      default:
        return kUnexpected;
    }
  }

  std::int64_t begin(std::int64_t s) {
    if (calls_ == 0 || s != next_) return kUnexpected;
    const std::optional<ElasticPlan> plan = plan_of_(*this, static_cast<int>(s));
    if (!plan) return next_ = 0, --calls_, 0;
    plan_ = *plan, ++next_;
    FileSystem fresh{files::Storage{}};
    fresh.put_folder("ckpt");
    const Sealed first = sealed({0, 0, (1 << kWorkers) - 1});
    files::Bytes bytes(sizeof first);
    std::memcpy(bytes.data(), &first, sizeof first);
    fresh.put(path_of(1), std::move(bytes));
    mount(fresh.disk());
    files::Faults f;
    f.seed = secret_ + static_cast<std::uint64_t>(s), f.crash = plan_.crash;
    for (std::uint64_t n : plan_.in_changes) f.deaths.push_back({.rank = -1, .at_change = n});
    set_faults(f);
    for (Rank& r : of_) r = {};
    collectives_.clear(), begun_.clear();
    noted_ = died().size(), deaths_ = 0, starts_ = 0, newest_step_ = 0, ended_ = 0, last_ended_ = 0;
    changes_before_ = 0, generation_2_ = {0, 0}, states_seen_ = 0;
    second_ = -1, polls_ = 0;
    return state_ = State::plays, 1;
  }

  std::int64_t second(std::int64_t now) {
    if (generation_2_.first == 0 && sealed_in(path_of(2))) generation_2_ = {changes_before_ + 1, changes().size() + 1};
    changes_before_ = changes().size();
    second_ = static_cast<int>(now);
    if (is_done() || second_ == kLongest || second_ - last_ended_ > kStalled) {
      if (!is_done()) say_why_not();
      return state_ = State::over, 1 << 8;
    }
    std::int64_t plan = 0;
    bool again = false;
    for (int r = 0; r < kWorkers; ++r) {
      if (!of_[r].lives && of_[r].back == second_) {
        of_[r] = {};
        of_[r].old = newest();
        plan |= 16 << r, again = true, ++starts_;
      }
      if (of_[r].lives && !(r == plan_.paused && second_ >= 9 && second_ < 34)) plan |= 1 << r;
    }
    if (again) restart();
    polls_ = static_cast<int>(plan & 15);
    return plan;
  }
  std::int64_t gradient(std::int64_t step, std::int64_t range) {
    if (step < 0 || step >= kSteps) return 0;
    std::uint64_t sum = 0;
    for (std::int64_t b = std::max<std::int64_t>(0, range >> 8); b < std::min<std::int64_t>(kMicroBatches, range & 255);
         ++b)
      of_[rank_].asked[step] |= 1 << b, sum += gradient_of(step, b);
    return static_cast<std::int64_t>(sum);
  }
  std::uint64_t gradient_of(std::int64_t step, std::int64_t b) const {
    std::uint64_t z = secret_ + static_cast<std::uint64_t>(step * 64 + b + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) >> 20;
  }
  std::uint64_t state_after(std::int64_t steps) const {
    std::uint64_t state = 0;
    for (std::int64_t s = 0; s < steps; ++s) {
      std::uint64_t sum = 0;
      for (int b = 0; b < kMicroBatches; ++b) sum += gradient_of(s, b);
      state = state * 6364136223846793005u + sum;
    }
    return state;
  }

  std::int64_t reduce(std::int64_t generation, std::int64_t step, std::uint64_t mine) {
    Rank& me = of_[rank_];
    for (auto at = plan_.at_steps.begin(); at != plan_.at_steps.end(); ++at)
      if (at->first == rank_ && at->second == step) {
        plan_.at_steps.erase(at);
        kill(rank_);
        return kDead;
      }
    const std::string who = "rank " + std::to_string(rank_), which = "generation " + std::to_string(generation);
    const std::optional<Sealed> file = sealed_in(path_of(generation));
    if (!file)
      return say(who + " enters a collective of " + which + ", which has no whole file",
                 "a rank enters a collective of a generation without a file"),
             kNotYet;
    const int members = static_cast<int>(file->other);
    if ((members >> rank_ & 1) == 0)
      return say(who + " enters a collective of " + which + ", whose file does not name it",
                 "a rank enters a collective of a generation that does not name it"),
             kNotYet;
    if (begun_.find(generation) == begun_.end() && !begins(generation, *file)) return kNotYet;
    me.is_waiting = true;
    if (me.generation != generation) {  // its first one
      if (generation < me.generation)
        return say(who + " goes back from generation " + std::to_string(me.generation) + " to " + which,
                   "a rank goes back to an older generation"),
               kNotYet;
      me.generation = generation, me.step = file->step, me.state = begun_[generation].state;
    }
    if (step != me.step)
      return say(who + " enters the collective of step " + std::to_string(step) + " in " + which +
                     ", and its next step there is " + std::to_string(me.step),
                 "a rank goes on from another step than its generation"),
             kNotYet;
    if (generation <= me.old) return kNotYet;  // it waits in vain
    int index = 0, count = 0;
    for (int r = 0; r < kWorkers; ++r) index += r < rank_ && (members >> r & 1) != 0, count += members >> r & 1;
    int share = 0;
    std::uint64_t right = 0;
    for (int b = share_begin(index, count); b < share_begin(index + 1, count); ++b)
      share |= 1 << b, right += gradient_of(step, b);
    const std::string place = std::to_string(index + 1) + " of " + std::to_string(count) + " members";
    if (mine != right)
      return say(who + ", " + place + ", adds another sum to step " + std::to_string(step) +
                     " than that of its micro-batches",
                 "a rank adds another sum than that of its micro-batches"),
             kNotYet;
    // What it has asked for in an older generation may be more.
    if (me.asked.count(step) != 0 && (me.asked[step] & ~share) != 0 && begun_.size() == 1)
      return say(who + ", " + place + ", computes micro-batches of other members in step " + std::to_string(step),
                 "a rank computes micro-batches of others"),
             kNotYet;
    Collective& c = collectives_[{generation, step}];
    c.mine[rank_] = mine, c.entered |= 1 << rank_;
    if ((members & ~c.entered) != 0) return kNotYet;
    if (!c.ended) {
      c.ended = true, ++ended_, last_ended_ = second_;
      for (int r = 0; r < kWorkers; ++r) c.sum += (members >> r & 1) != 0 ? c.mine[r] : 0;
      newest_step_ = std::max(newest_step_, step + 1);
    }
    me.is_waiting = false, ++me.step;
    me.state = me.state * 6364136223846793005u + c.sum;
    return static_cast<std::int64_t>(c.sum);
  }
  // The first collective of a generation: it goes on from the saved model, and few steps are lost.
  bool begins(std::int64_t generation, const Sealed& file) {
    const Sealed model = sealed_in("ckpt/model").value_or(Sealed{});
    const std::string which = "generation " + std::to_string(generation);
    if (file.step != model.step)
      return say(which + " goes on after step " + std::to_string(file.step) + ", and the saved model is of step " +
                     std::to_string(model.step),
                 "a generation goes on from a step that is not saved"),
             false;
    if (model.other != state_after(model.step))
      return say("the saved model of step " + std::to_string(model.step) + " has another state than without failures",
                 "a saved model has another state than without failures"),
             false;
    if (newest_step_ - file.step > kEvery)
      return say(which + " loses the steps from " + std::to_string(file.step) + " to " + std::to_string(newest_step_) +
                     ": at most " + std::to_string(kEvery) + " may be lost",
                 "more steps are lost than the interval"),
             false;
    begun_[generation] = {file.step, model.other, static_cast<int>(file.other)};
    return true;
  }

  bool is_done() const {
    if (plan_.paused >= 0 && second_ < 40) return false;
    const Sealed model = sealed_in("ckpt/model").value_or(Sealed{});
    const std::int64_t last = newest();
    const std::optional<Sealed> file = sealed_in(path_of(last));
    for (int r = 0; r < kWorkers; ++r) {
      if (!of_[r].lives && plan_.restart >= 0) return false;
      if (of_[r].lives && !has_ended(r, last, file)) return false;
    }
    return model.step == kSteps;
  }
  // Made the last step in the newest generation, or joined it when the last step was saved.
  bool has_ended(int r, std::int64_t last, const std::optional<Sealed>& file) const {
    if (!file || (file->other >> r & 1) == 0) return false;
    const Rank& k = of_[r];
    if (k.claimed_generation != last || k.claimed_step != kSteps) return false;
    return file->step == kSteps || (k.generation == last && k.step == kSteps);
  }
  void say_why_not() {
    const std::string after = " (" + std::to_string(second_) + " s, " + std::to_string(ended_) + " steps made)";
    for (int r = 0; r < kWorkers; ++r)
      for (int other = 0; of_[r].lives && of_[r].is_waiting && other < kWorkers; ++other) {
        const auto c = collectives_.find({of_[r].generation, of_[r].step});
        const bool entered = c != collectives_.end() && (c->second.entered >> other & 1) != 0;
        if (other == r || entered || (begun_[of_[r].generation].members >> other & 1) == 0) continue;
        return say("rank " + std::to_string(r) + " hangs in a collective of generation " +
                       std::to_string(of_[r].generation) + ": it waits for rank " + std::to_string(other) + ", which " +
                       (of_[other].lives ? "does not enter it" : "is dead") + after,
                   "a rank hangs in a collective that another one does not enter");
      }
    const std::int64_t last = newest();
    const std::optional<Sealed> file = sealed_in(path_of(last));
    for (int r = 0; r < kWorkers; ++r)
      if (of_[r].lives && file && (file->other >> r & 1) == 0)
        return say(
            "rank " + std::to_string(r) + " lives and is no member of generation " + std::to_string(last) + after,
            "a rank that lives is no member of the newest generation");
    if (newest_step_ == kSteps && sealed_in("ckpt/model").value_or(Sealed{}).step != kSteps)
      return say("the last step is made, and the saved model is of step " +
                     std::to_string(sealed_in("ckpt/model").value_or(Sealed{}).step) + after,
                 "the last step is not saved");
    for (int r = 0; r < kWorkers; ++r)
      if (of_[r].lives && !has_ended(r, last, file))
        return say("rank " + std::to_string(r) + " does not come to step " + std::to_string(kSteps) +
                       " in generation " + std::to_string(last) + after,
                   "training does not come to its last step");
    say("the run does not end" + after, "the run does not end");
  }

  std::int64_t state_at_end(int rank, std::uint64_t state) {
    if (rank != states_seen_++) return kUnexpected;
    const std::uint64_t right = state_after(kSteps);
    if (of_[rank].lives && state != right)
      say("rank " + std::to_string(rank) + " has another state after step " + std::to_string(kSteps) +
              " than without failures",
          "a rank has another state at the end than without failures");
    if (states_seen_ < kWorkers) return 0;
    const Sealed model = sealed_in("ckpt/model").value_or(Sealed{});
    if (model.step != kSteps || model.other != right)
      say("the last checkpoint is of step " + std::to_string(model.step) +
              ", or has another state than without failures",
          "the last checkpoint is not that of the last step");
    if (ended_ < kSteps)
      say(std::to_string(ended_) + " collectives ended, and " + std::to_string(kSteps) + " steps were made",
          "steps are made without a collective");
    const std::size_t most = 1 + deaths_ + starts_ + (plan_.paused >= 0 ? 2 : 0);
    std::size_t whole = 0;
    for (std::int64_t g = newest_file(); g > 0; --g) whole += sealed_in(path_of(g)) ? 1 : 0;
    if (whole > most)
      say(std::to_string(whole) + " generations, where " + std::to_string(most) +
              " are enough: one for each death and each "
              "start of a rank",
          "more generations than failures explain");
    if (deaths_ < died_of_plan())
      say(std::to_string(deaths_) + " of " + std::to_string(died_of_plan()) +
              " ranks died: a step was left out, or the disk was changed otherwise than without a death",
          "a death did not come");
    changes_made_ = changes().size();
    state_ = State::idle;
    return 0;
  }
  std::size_t died_of_plan() const { return deaths_ + plan_.at_steps.size() + undone_changes(); }
  // Deaths in changes that were never made.
  std::size_t undone_changes() const {
    return static_cast<std::size_t>(std::count_if(plan_.in_changes.begin(), plan_.in_changes.end(),
                                                  [this](std::uint64_t n) { return n > changes().size(); }));
  }

  void say(const std::string& what, const char* kind) {
    if (wrong_.empty()) wrong_ = plan_.what + ": " + what, kind_ = kind;
  }
  static std::string path_of(std::int64_t generation) {
    char name[40];
    std::snprintf(name, sizeof name, "ckpt/generation-%06lld", static_cast<long long>(generation));
    return name;
  }
  static Sealed sealed(Sealed s) {
    std::uint64_t hash = 14695981039346656037ull;
    const auto* p = reinterpret_cast<const unsigned char*>(&s);
    for (std::size_t i = 8; i < sizeof s; ++i) hash = (hash ^ p[i]) * 1099511628211ull;
    s.hash = hash;
    return s;
  }
  // None where the file is not there, or not whole.
  std::optional<Sealed> sealed_in(const std::string& path) const {
    const files::Bytes* b = find(path);
    Sealed s;
    if (b == nullptr || b->size() < sizeof s) return {};
    std::memcpy(&s, b->data(), sizeof s);
    if (sealed(s).hash != s.hash) return {};
    return s;
  }
  // The newest generation whose file is whole, and the newest file.
  std::int64_t newest() const {
    std::int64_t g = newest_file();
    while (g > 1 && !sealed_in(path_of(g))) --g;
    return g;
  }
  std::int64_t newest_file() const {
    std::int64_t g = 1;
    for (const std::string& name : disk().list("ckpt")) {
      long long n = 0;
      if (std::sscanf(name.c_str(), "generation-%lld", &n) == 1) g = std::max<std::int64_t>(g, n);
    }
    return g;
  }

  const std::uint64_t secret_;
  std::size_t calls_;
  PlanOf plan_of_;
  bool as_expected_ = true;
  State state_ = State::idle;
  std::int64_t next_ = 0;  // scenario
  std::string wrong_, kind_;
  std::size_t changes_made_ = 0;
  // Of this scenario.
  ElasticPlan plan_;
  Rank of_[kWorkers];
  std::map<std::pair<std::int64_t, std::int64_t>, Collective> collectives_;  // generation and step
  std::map<std::int64_t, Begun> begun_;
  std::pair<std::size_t, std::size_t> generation_2_;
  std::size_t noted_ = 0, deaths_ = 0, starts_ = 0, changes_before_ = 0;
  std::int64_t newest_step_ = 0, ended_ = 0;
  int second_ = -1, last_ended_ = 0, states_seen_ = 0;
  int rank_ = 0, polls_ = 0;  // rank_: of the request; polls_: the ranks that poll in this second, a bit each
};

}  // namespace ridge::lab::resilience
