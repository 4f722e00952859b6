// The part of a task's judge that is about several ranks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grader/base/clock.hpp"
#include "grader/base/defence.hpp"
#include "grader/judge/task_judge.hpp"
#include "grader/measure/counters.hpp"
#include "grader/worker/buffers.hpp"

namespace ridge {

using lab::Backend;

lab::Verdict TaskJudge::verify_ranks(const lab::Case& c, const RankWorkers::Buffers& buffers) {
  std::vector<std::span<const std::byte>> in, out;
  std::vector<std::vector<std::byte>> storage;
  storage.reserve(4 * buffers.size());
  for (const CaseBuffers& b : buffers) b.collect(in, out, storage);
  Lap lap(task_.judge_time.verify);
  return check_.verify(c, in, out);
}

namespace {

// Without the emulator's report of ranks, which is a gate's message already. It is the last that a rank prints.
std::string own_words(const std::string& output) {
  const std::string lines = "\n" + output;
  const std::size_t end = std::min(lines.find("\nridge: NCCL: "), lines.find("\nridge: MPI: "));
  return output.substr(0, end == 0 ? 0 : end - 1);
}

}  // namespace

std::string TaskJudge::without_gpus() const {
  std::vector<int> left;
  for (int p : lab_.ranks)
    if (std::find(ranks_.begin(), ranks_.end(), p) == ranks_.end()) left.push_back(p);
  if (left.empty()) return {};
  return fmt::format("{} GPUs here: skipped with {} ranks", cuda_devices(), fmt::join(left, ", "));
}

bool TaskJudge::judge_ranks(const lab::Case& c, std::uint64_t number, bool again, std::uint32_t& next_id) {
  RankWorkers& workers = ranks_of(c.ranks, rank_workers_);
  RankWorkers::Buffers buffers = rank_buffers(c, number, next_id);
  Reply reply;
  {
    Lap lap(task_.judge_time.start);
    reply = workers.share(buffers, limit_);
  }
  Gate g = explain_(reply);
  std::vector<Reply> replies;
  if (g.check.empty()) {
    Lap lap(task_.judge_time.run);
    replies = workers.run(buffers, 1, c.measured, false, limit_);
    g = explain_ranks(explain_, replies, workers, worker_program_);
  }
  task_.output = own_words(workers.output(0)).substr(0, 2048);
  if (g.check.empty()) {
    lab::Verdict v = verify_ranks(c, buffers);
    const lab::Verdict traffic =
        options_.backend == Backend::cpu ? check_.verify_messages(c, workers.messages()) : lab::Verdict{};
    // Only told where all answers are right.
    if (v.ok && !traffic.ok && traffic_.check.empty())
      traffic_ = {traffic.check, fmt::format("{}: {}", told(c), told({traffic.check, traffic.message}))};
    if (options_.sanitize && on(Defence::sanitizer) && c.ranks <= kSanitizedRanks && !c.measured)
      g = sanitized_ranks(c, buffers);
    for (const Reply& r : replies)
      if (v.ok && g.check.empty()) g = waited(r);
    std::uint64_t to_host = 0;
    for (const Reply& r : replies) to_host += r.done.to_host;
    if (v.ok && g.check.empty() && asks_the_host(to_host)) g = ranks_with_decoys(c, buffers, to_host);
    if (!v.ok) g = {v.check, v.message + (g.check.empty() ? "" : "\n" + g.message), v.secret};
    if (g.check.empty() && again) g = ranks_once_more(workers, c, number, next_id);
  }
  task_.cases.push_back({told(c), g.check.empty(), told(g)});
  if (!g.check.empty()) {
    gate({g.check, fmt::format("{}: {}", told(c), told(g))});
    return false;
  }
  if (!c.measured || !traffic_.check.empty()) return true;
  // The slowest rank's counts are the task's.
  const Reply* slowest = nullptr;
  double most = -1;
  for (const Reply& r : replies) {
    task_.ranks.push_back(count_launches(r.launches, worker_program_).timeline);
    if (const double seconds = task_.ranks.back().seconds; seconds > most) most = seconds, slowest = &r;
  }
  return take_counts(c, *slowest);
}

Gate TaskJudge::ranks_once_more(RankWorkers& workers, const lab::Case& c, std::uint64_t number,
                                std::uint32_t& next_id) {
  constexpr std::uint64_t kOther = 1 << 20;  // beyond all cases
  RankWorkers::Buffers buffers = rank_buffers(c, number + kOther, next_id);
  Gate g = explain_(workers.share(buffers, limit_));
  if (!g.check.empty()) return g;
  auto call = [&](RankWorkers& by) {
    Lap lap(task_.judge_time.run);
    Gate called = explain_ranks(explain_, by.run(buffers, 1, false, false, limit_), by, worker_program_);
    if (called.check.empty())
      if (lab::Verdict v = verify_ranks(c, buffers); !v.ok) called = {v.check, v.message, v.secret};
    return called;
  };
  g = call(workers);
  if (g.check.empty()) return {};
  // Where new processes fail as well, it is the data.
  RankWorkers fresh(worker_program_, c.ranks, options_.backend, decoys(), options_.agents);
  for (CaseBuffers& b : buffers) b.poison(derived_seed(seed_, "fresh"));
  if (Gate shown = explain_(fresh.share(buffers, limit_)); !shown.check.empty()) return shown;
  const Gate alone = call(fresh);
  return alone.check.empty() ? stale(std::move(g)) : alone;
}

RankWorkers& TaskJudge::ranks_of(int ranks, std::map<int, std::unique_ptr<RankWorkers>>& all) {
  std::unique_ptr<RankWorkers>& found = all[ranks];
  Lap lap(task_.judge_time.start);
  if (!found && options_.backend == Backend::cuda) all.clear(), all[ranks] = start_ranks(worker_program_, ranks);
  if (options_.backend == Backend::cuda) return *all[ranks];
  if (!found)
    found = std::make_unique<RankWorkers>(worker_program_, ranks, options_.backend, decoys(), options_.agents);
  return *found;
}

RankWorkers::Buffers TaskJudge::rank_buffers(lab::Case c, std::uint64_t number, std::uint32_t& next_id) {
  RankWorkers::Buffers all;
  const std::uint32_t first = next_id;
  c.shared_seed = derived_seed(seed_, "shared", number);
  for (c.rank = 0; c.rank < c.ranks; ++c.rank) {
    all.emplace_back(device_of(c.rank), check_, c,
                     derived_seed(seed_, "case", number * 64 + static_cast<std::uint64_t>(c.rank)), first,
                     task_.judge_time);
    next_id = std::max(next_id, all.back().next_id());
  }
  return all;
}

std::unique_ptr<RankWorkers> TaskJudge::start_ranks(const fs::path& program, int ranks) {
  return std::make_unique<RankWorkers>(program, ranks, Backend::cuda, false);
}

Device& TaskJudge::device_of(int rank) {
  if (options_.backend == Backend::cpu || rank == 0) return device_;
  while (std::ssize(more_devices_) < rank)
    more_devices_.push_back(make_cuda_device(static_cast<int>(more_devices_.size()) + 1));
  return *more_devices_[static_cast<std::size_t>(rank) - 1];
}

Gate TaskJudge::sanitized_ranks(const lab::Case& c, RankWorkers::Buffers& buffers) {
  RankWorkers& workers = ranks_of(c.ranks, sanitizing_ranks_);
  for (CaseBuffers& b : buffers) b.poison(derived_seed(seed_, "sanitized"));
  Gate g = explain_(workers.share(buffers, limit_));
  if (!g.check.empty()) return g;
  Lap lap(task_.judge_time.run);
  return explain_ranks(explain_, workers.run(buffers, 2, false, true, limit_), workers, worker_program_);
}

}  // namespace ridge
