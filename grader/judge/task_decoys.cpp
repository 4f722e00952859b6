// The part of a task's judge that asks, where inputs are public, whether the host computed with them. Where they are
// secret it sees others from the start.
#include <fmt/format.h>

#include "grader/base/defence.hpp"
#include "grader/judge/task_judge.hpp"

namespace ridge {

namespace {

// What went wrong with other numbers does not matter: with those that count it was right.
Gate depends_on_host(std::uint64_t bytes) {
  return {"device", fmt::format("{} bytes came back to the host, and the answer depends on what it saw there: with "
                                "other numbers on the host it is wrong, and `ridge grade` shows it others. What is "
                                "computed or decided from values belongs into kernels",
                                bytes)};
}

}  // namespace

bool TaskJudge::asks_the_host(std::uint64_t bytes_to_host) const {
  return bytes_to_host > 0 && options_.backend == lab::Backend::cpu && !decoys() && !check_.host_reads_inputs() &&
         on(Defence::decoy_inputs) && on(Defence::replay);
}

Gate TaskJudge::with_decoys(CaseBuffers& buffers, std::uint64_t number, std::uint64_t bytes_to_host) {
  SubmissionWorkers worker(worker_program_, options_.backend, true);
  buffers.poison(derived_seed(seed_, "decoys", number));
  Gate g = explain_(shared(worker, buffers));
  if (g.check.empty()) g = explain_(worker.run(buffers, 1, false, false, limit_));
  return g.check.empty() && buffers.verify().ok ? Gate{} : depends_on_host(bytes_to_host);
}

Gate TaskJudge::ranks_with_decoys(const lab::Case& c, RankWorkers::Buffers& buffers, std::uint64_t bytes_to_host) {
  RankWorkers workers(worker_program_, c.ranks, options_.backend, true, options_.agents);
  for (CaseBuffers& b : buffers) b.poison(derived_seed(seed_, "decoys"));
  Gate g = explain_(workers.share(buffers, limit_));
  if (g.check.empty())
    g = explain_ranks(explain_, workers.run(buffers, 1, false, false, limit_), workers, worker_program_);
  return g.check.empty() && verify_ranks(c, buffers).ok ? Gate{} : depends_on_host(bytes_to_host);
}

}  // namespace ridge
