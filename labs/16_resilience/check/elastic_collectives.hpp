// Task `elastic`: the judge's gradients and collectives, and what each rank must have by now.
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../elastic_plan.hpp"
#include "elastic_disk.hpp"

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

class ElasticCollectives : public ElasticDisk {
 public:
  explicit ElasticCollectives(std::uint64_t secret) : ElasticDisk(files::Storage{}), secret_(secret) {}
  // What is wrong, of the first scenario in which something is: its text, and one without values.
  const std::string& wrong() const { return wrong_; }
  const std::string& kind_of_wrong() const { return kind_; }

 protected:
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

  void say(const std::string& what, const char* kind) {
    if (wrong_.empty()) wrong_ = plan_.what + ": " + what, kind_ = kind;
  }

  const std::uint64_t secret_;
  std::string wrong_, kind_;
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
