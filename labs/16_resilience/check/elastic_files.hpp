// Task `elastic`: the judge's clock: it plays the scenarios, says who dies, and looks at the end.
#pragma once
#include <algorithm>
#include <cerrno>
#include <functional>

#include "elastic_collectives.hpp"

namespace ridge::lab::resilience {

class ElasticFiles : public ElasticCollectives {
 public:
  // Asked before scenario s; none: that was the last one.
  using PlanOf = std::function<std::optional<ElasticPlan>(const ElasticFiles&, int s)>;

  ElasticFiles(std::uint64_t secret, std::size_t calls, PlanOf plan_of)
      : ElasticCollectives(secret), calls_(calls), plan_of_(std::move(plan_of)) {
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
  // Of the newest scenario that has ended.
  std::size_t changes_made() const { return changes_made_; }
  // Its changes in the second in which generation 2 became whole: the first of them, from 1 on, and the one after the last.
  std::pair<std::size_t, std::size_t> changes_of_generation_2() const { return generation_2_; }
  std::size_t deaths() const { return deaths_; }

 private:
  static constexpr std::int64_t kUnexpected = INT64_MIN;
  enum class State { idle, plays, over };
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

  std::size_t calls_;
  PlanOf plan_of_;
  bool as_expected_ = true;
  State state_ = State::idle;
  std::int64_t next_ = 0;  // scenario
  std::size_t changes_made_ = 0;
};

}  // namespace ridge::lab::resilience
