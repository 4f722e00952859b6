// Lab 15, task `batcher`: continuous batching. Host code only; batcher.hpp has the rules.
// Run: ./ridge check 15 --task batcher
#include "batcher.hpp"

// TASK(batcher)
namespace {

constexpr int kBudget = 256;  // tokens of a step: more would delay the answers that are being written

}  // namespace

Plan plan_step(const Server& server) {
  Plan plan;
  std::vector<Request> active = server.active;
  int free = server.free_pages, budget = kBudget, residents = 0;
  for (const Request& r : active) residents += r.resident() ? 1 : 0;

  // As many tokens of r as there is room for, at most `most`.
  auto compute = [&](Request& r, int most) {
    const int room = (pages_of(r.computed) + free) * kPage - r.computed;
    const int tokens = std::min({r.lacks(), most, room});
    if (tokens <= 0) return;
    plan.chunks.push_back({r.id, tokens});
    free -= pages_of(r.computed + tokens) - pages_of(r.computed);
    budget -= tokens;
    r.computed += tokens;
  };
  // Pages for a resident request, if need be those of the ones that came last.
  auto make_room = [&](const Request& r, int tokens) {
    for (std::size_t i = active.size(); i > 0 && active[i - 1].id > r.id; --i) {
      if (pages_of(r.computed + tokens) - pages_of(r.computed) <= free) return;
      Request& last = active[i - 1];
      if (!last.resident()) continue;
      plan.evict.push_back(last.id);
      free += pages_of(last.computed);
      last.computed = 0;
      --residents;
    }
  };

  // Answers first: each of them a token.
  for (Request& r : active)
    if (r.resident() && r.lacks() == 1) make_room(r, 1), compute(r, 1);
  // Then prompts that have begun, and new ones in the order of arrival. A new one begins only where its whole prompt fits,
  // and a page for one in four residents besides: answers grow.
  for (Request& r : active) {
    if (budget <= 0) break;
    if (r.resident() && r.lacks() > 1) make_room(r, std::min(r.lacks(), budget)), compute(r, budget);
  }
  for (Request& r : active) {
    if (budget <= 0 || residents == kMostSequences) break;
    if (r.resident()) continue;
    if (!plan.evict.empty() || pages_of(r.tokens) + residents / 4 > free) break;
    compute(r, budget);
    ++residents;
  }
  return plan;
}
// END(batcher)
