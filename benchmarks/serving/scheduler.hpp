// What the server computes in each step, on the host: the solution's `plan_step` chooses requests and chunks, and its
// allocator gives them pages. Nothing here knows a GPU or a clock.
#pragma once
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "batcher.hpp"
#include "blocks.hpp"

namespace serving {

// Tokens of a request that a step puts into its cache: count of them, behind `before` that are there.
struct Part {
  int request, before, count;
  bool answers;             // the request's tokens are then all there: the step gives the next one
  std::vector<int> tokens;  // (count)
  std::vector<int> pages;   // of the request, with those of these tokens
};

class Scheduler {
 public:
  using Planner = std::function<Plan(const Server&)>;

  // Pages that other requests share are no room when one of these is evicted, so a plan may count on more pages than there
  // are. Whatever the plan, a step computes what fits.
  explicit Scheduler(int pages, Planner planner = plan_step)
      : pages_(pages), planner_(std::move(planner)), pool_(pages) {}

  // A request has arrived. Its number is that of the arrivals before it.
  void arrive(double seconds, std::vector<int> prompt, int answer) {
    if (pages_of(static_cast<int>(prompt.size()) + answer) > pages_)
      throw std::invalid_argument("a request needs more pages than the cache has");
    requests_.push_back({seconds, static_cast<int>(prompt.size()), answer, 0, std::move(prompt)});
    active_.push_back(static_cast<int>(requests_.size()) - 1);
  }
  bool idle() const { return active_.empty(); }

  // The next step: requests with one token first, which `decodes` counts. The kernels of the last step have ended.
  const std::vector<Part>& plan(double now) {
    parts_.clear();
    const Plan wanted = planner_(seen(now));
    for (int id : wanted.evict) evict(id);
    for (const Chunk& chunk : wanted.chunks) {
      Request& r = requests_.at(static_cast<std::size_t>(chunk.id));
      // What a page is missing for waits, and so do those that came later.
      if (r.computed > 0 ? !extend(chunk.id, chunk.tokens) : !begin(chunk.id, chunk.tokens)) break;
    }
    std::stable_partition(parts_.begin(), parts_.end(), [](const Part& p) { return p.count == 1; });
    idle_steps_ = parts_.empty() ? idle_steps_ + 1 : 0;
    if (idle_steps_ > 3)
      throw std::runtime_error("deadlock: " + std::to_string(active_.size()) + " requests wait, and no step runs");
    return parts_;
  }
  int decodes() const {
    return static_cast<int>(std::count_if(parts_.begin(), parts_.end(), [](const Part& p) { return p.count == 1; }));
  }

  // The step has ended. `next`: the token that follows each part, used where it `answers`. Calls
  // written(request, first, last) for each new token of an answer.
  template <class Written>
  void ended(const std::vector<int>& next, Written&& written) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Request& r = requests_[static_cast<std::size_t>(parts_[i].request)];
      r.computed = parts_[i].before + parts_[i].count;
      if (!parts_[i].answers) continue;
      r.tokens.push_back(next.at(i));
      const bool last = r.written() == r.answer;
      if (last) {
        release(pool_, parts_[i].request);
        std::erase(active_, parts_[i].request);
      }
      written(parts_[i].request, r.written() == 1, last);
    }
    step_ended(pool_);
  }

  // The prompt and its answer so far.
  const std::vector<int>& tokens(int request) const { return requests_.at(static_cast<std::size_t>(request)).tokens; }
  int prompt(int request) const { return requests_.at(static_cast<std::size_t>(request)).prompt; }
  int evicted() const { return evicted_; }
  long long shared() const { return shared_; }  // tokens of prompts that were found in the cache
  // Pages with an owner. 0 when nothing is active: otherwise some leaked.
  int owned() const {
    return static_cast<int>(
        std::count_if(pool_.pages.begin(), pool_.pages.end(), [](const Page& p) { return p.owners > 0; }));
  }

 private:
  struct Request {
    double arrival;
    int prompt, answer, computed;
    std::vector<int> tokens;
    int written() const { return static_cast<int>(tokens.size()) - prompt; }
  };

  Server seen(double now) const {
    Server server{now, pages_, static_cast<int>(pool_.free.size()), {}};
    for (int id : active_) {
      const Request& r = requests_[static_cast<std::size_t>(id)];
      server.active.push_back({id, r.arrival, static_cast<int>(r.tokens.size()), r.computed, r.written()});
    }
    return server;
  }

  // No kernel runs while a step is planned, so released pages are free at once.
  void evict(int id) {
    release(pool_, id);
    step_ended(pool_);
    forget(id);
  }
  void forget(int id) {
    requests_[static_cast<std::size_t>(id)].computed = 0;
    std::erase_if(parts_, [&](const Part& p) { return p.request == id; });
    ++evicted_;
  }

  // A request that has nothing in the cache, with the pages that others have computed, and `count` tokens more.
  bool begin(int id, int count) {
    const Request& r = requests_[static_cast<std::size_t>(id)];
    const int all = static_cast<int>(r.tokens.size());
    int known = 0;
    for (std::uint64_t hash : page_hashes(r.tokens)) {
      if (known + kPage >= all || pool_.known.count(hash) == 0) break;
      known += kPage;
    }
    const int end = std::min(all, known + count);
    const int found = admit(pool_, id, {r.tokens.begin(), r.tokens.begin() + end});
    if (found == kNoRoom) return false;
    shared_ += found;
    add(id, found, end);
    return true;
  }

  // `count` tokens more. Without a page the request that was admitted last goes; false if that is this one.
  bool extend(int id, int count) {
    Request& r = requests_[static_cast<std::size_t>(id)];
    const int before = r.computed;
    for (int i = before; i < before + count; ++i)
      while (add_token(pool_, id, r.tokens[static_cast<std::size_t>(i)]).page == kNoRoom)
        if (preempt_last() == id) return false;
    add(id, before, before + count);
    return true;
  }

  // The pages that were to become full in this step are computed by nobody, so nobody may share them.
  int preempt_last() {
    const int id = pool_.order.back();
    int computed = requests_[static_cast<std::size_t>(id)].computed;
    for (const Part& p : parts_)
      if (p.request == id) computed = p.before;
    const std::vector<int>& pages = pool_.sequences.at(id).pages;
    for (std::size_t i = static_cast<std::size_t>(computed / kPage); i < pages.size(); ++i) {
      Page& page = pool_.pages[static_cast<std::size_t>(pages[i])];
      if (page.hash != 0) pool_.known.erase(page.hash);
      page.hash = 0;
    }
    preempt(pool_);
    step_ended(pool_);
    forget(id);
    return id;
  }

  void add(int id, int before, int end) {
    const Request& r = requests_[static_cast<std::size_t>(id)];
    parts_.push_back({id,
                      before,
                      end - before,
                      end == static_cast<int>(r.tokens.size()),
                      {r.tokens.begin() + before, r.tokens.begin() + end},
                      pool_.sequences.at(id).pages});
  }

  int pages_;
  Planner planner_;
  Pool pool_;
  std::vector<Request> requests_;
  std::vector<int> active_;  // arrived and not ended, by number
  std::vector<Part> parts_;
  int evicted_ = 0, idle_steps_ = 0;
  long long shared_ = 0;
};

}  // namespace serving
