// The questions about a case besides its answer: races, waits of the host, values computed by the host, state that was
// kept.
#include <fmt/format.h>

#include "checks/same_bits.hpp"
#include "grader/base/clock.hpp"
#include "grader/base/defence.hpp"
#include "grader/base/seeds.hpp"
#include "grader/base/text.hpp"
#include "grader/judge/case_judge.hpp"
#include "grader/measure/counters.hpp"

namespace ridge {

namespace {

constexpr double kSanitizedSeconds = 0.1;
constexpr int kSanitizedRanks = 3;
constexpr std::uint64_t kOther = 1 << 20;  // a case's number for the data of its second call, beyond all cases

// Errors with other numbers do not matter: the answer with the judged ones was right.
Gate depends_on_host(std::uint64_t bytes) {
  return {"device",
          fmt::format("{} bytes came back to the host, and the answer depends on what it saw there: with "
                      "other numbers on the host it is wrong, and `ridge grade` shows it others. What is "
                      "computed or decided from values belongs into kernels",
                      bytes),
          {},
          Cause::host_decides};
}

Gate stale(Gate g) {
  if (!g.check.empty()) {
    g.cause = Cause::stale_state;
    g.message =
        "on a second call, with other data in other buffers of the same sizes: " + g.message +
        ". The first call was right: something that it kept (a graph, a result, an address) does not fit the second";
  }
  return g;
}

}  // namespace

// Small cases have the same code paths as large ones, and few ranks the same as many. A case that takes long is left
// out where another was not.
bool CaseJudge::looks_for_races(const lab::Case& c, double seconds) const {
  if (!options_.sanitize || !on(Defence::sanitizer) || sanitizer_gave_up_) return false;
  if (c.ranks > 0) return c.ranks <= kSanitizedRanks && !c.measured;
  return seconds <= kSanitizedSeconds || sanitized_cases_ == 0;
}

// The case once more, under the sanitizer: in workers of their own, so that what a submission keeps between calls, its
// counts and its time are those of a plain run. A finding is about correctness, whatever the output is.
Gate CaseJudge::sanitized(const lab::Case& c, RankBuffers& buffers, std::uint64_t number) {
  SubmissionWorkers& workers = workers_of(sanitizing_, c.ranks);
  buffers.poison(derived_seed(seed_, "sanitized", number));
  if (Gate g = share(workers, buffers); !g.check.empty()) return g;
  Lap lap(time_.run);
  listen(workers, c, 2);
  std::vector<Reply> replies = workers.run(buffers, 2, false, true, limit_);  // twice: leaks
  sanitizer_gave_up_ = forgive_slow(replies);
  if (!sanitizer_gave_up_) ++sanitized_cases_;
  return explain_all(explain_, replies, c.ranks);
}

// Refuses a host that waits or reads where the contract says that it does not.
Gate CaseJudge::waited(const Reply& reply) const {
  if (!check_.host_may_read() && reply.done.to_host > 0)
    return {"device",
            fmt::format("{} bytes were copied back to the host, and the contract says that nothing is: what depends on "
                        "values is decided by a kernel",
                        reply.done.to_host),
            "something is read back to the host, and the contract says that nothing is", Cause::host_copy};
  if (check_.host_may_wait() || reply.done.host_wait[0] == 0) return {};
  const auto [file, line] = source_lines(program_, {reply.done.host_wait_pc})[0];
  if (file == "entry.cu") return {};  // the lab's own, behind the submission's call
  const std::string call = reply.done.host_wait + (file.empty() ? "" : fmt::format(" ({}:{})", file, line));
  return {"device",
          fmt::format(
              "the host waits for the device in {}, and the contract says that it waits for nothing: let a stream wait "
              "for an event instead",
              printable(call)),
          "the host waits for the device, and the contract says that it waits for nothing", Cause::host_wait};
}

// The same call in new processes. A call whose counts are taken has its blocks in order, and any other one does not.
Gate CaseJudge::same_bits(const lab::Case& c, RankBuffers& buffers, std::uint64_t number, const HostCopy& first,
                          bool recorded) {
  const auto workers = start(c.ranks, decoys(options_, check_));
  buffers.poison(derived_seed(seed_, "same bits", number));
  if (Gate g = share(*workers, buffers); !g.check.empty()) return g;
  std::vector<Reply> replies;
  if (Gate g = run(*workers, c, buffers, !recorded, replies); !g.check.empty()) return g;
  const HostCopy again = buffers.collect(-1);
  Lap lap(time_.verify);
  const lab::Verdict v = dynamic_cast<const lab::SameBits&>(check_).verify_again(c, first.in, first.out, again.out);
  return v.ok ? Gate{} : Gate{v.check, v.message, v.secret, v.cause, v.picture};
}

// Whether the host computed with inputs that are public. Where they are secret it sees others from the start.
bool CaseJudge::asks_the_host(std::uint64_t bytes_to_host) const {
  return bytes_to_host > 0 && options_.backend == lab::Backend::cpu && !decoys(options_, check_) &&
         !check_.host_reads_inputs() && on(Defence::decoy_inputs) && on(Defence::replay);
}

Gate CaseJudge::with_decoys(const lab::Case& c, RankBuffers& buffers, std::uint64_t number,
                            std::uint64_t bytes_to_host) {
  const auto workers = start(c.ranks, true);
  buffers.poison(derived_seed(seed_, "decoys", number));
  Gate g = share(*workers, buffers);
  if (g.check.empty()) g = answered(*workers, c, buffers);
  return g.check.empty() ? Gate{} : depends_on_host(bytes_to_host);
}

// A second call with other data in other buffers of the same sizes, by the same processes.
Gate CaseJudge::once_more(SubmissionWorkers& workers, const lab::Case& c, std::uint64_t number) {
  // Where the order of values has no meaning, the same ones in another order: a sum over them tells nothing.
  lab::Case other = c;
  const bool reorders = on(Defence::reordered_inputs) && check_.value_bytes(c, 0) != 0;
  if (reorders) other.reordered = derived_seed(seed_, "reordered", number);
  if (dynamic_cast<const lab::UsesFiles*>(&check_) != nullptr) other.secret = derived_seed(c.secret, "again");
  RankBuffers buffers = buffers_of(other, reorders ? number : number + kOther);
  if (Gate g = share(workers, buffers); !g.check.empty()) return g;
  Gate g = answered(workers, other, buffers);
  if (g.check.empty()) return elsewhere_.empty() ? Gate{} : in_second_build(other, buffers, number);
  // Where new processes fail as well, it is the data.
  const auto fresh = start(c.ranks, decoys(options_, check_));
  buffers.poison(derived_seed(seed_, "fresh", number));
  if (Gate shown = share(*fresh, buffers); !shown.check.empty()) return shown;
  const Gate alone = answered(*fresh, other, buffers);
  return alone.check.empty() ? stale(std::move(g)) : alone;
}

// The same call by a second build, whose functions and variables lie elsewhere.
Gate CaseJudge::in_second_build(const lab::Case& c, RankBuffers& buffers, std::uint64_t number) {
  SubmissionWorkers workers(elsewhere_, c.ranks, options_.backend, decoys(options_, check_), nullptr);
  const Explainer explain(elsewhere_, limit_);
  buffers.poison(derived_seed(seed_, "elsewhere", number));
  Gate g = explain(workers.share(buffers, limit_));
  listen(workers, c, 1);
  if (g.check.empty()) g = explain_all(explain, workers.run(buffers, 1, false, false, limit_), c.ranks);
  if (g.check.empty()) g = questions_->gate();
  if (g.check.empty()) g = verified(c, buffers);
  if (g.check.empty()) return {};
  const char* const depends =
      "the files were built a second time and linked in another order, and that program fails: the first one worked by "
      "chance. Look for static variables that are initialised from another file's, for accesses beyond an array's end, "
      "and for decisions that depend on addresses";
  return {g.check, std::string(depends) + ". It says: " + g.message, depends};
}

}  // namespace ridge
