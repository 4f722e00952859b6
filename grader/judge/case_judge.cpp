#include "grader/judge/case_judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checks/same_bits.hpp"
#include "grader/base/clock.hpp"
#include "grader/base/defence.hpp"
#include "grader/base/seeds.hpp"
#include "grader/judge/file_timeline.hpp"
#include "grader/measure/counters.hpp"
#include "grader/measure/worker_stopwatch.hpp"

namespace ridge {

using lab::Backend;
using lab::Mode;

namespace {

constexpr std::size_t kKeptOutput = 2048;
constexpr std::size_t kOneSet[] = {0};  // of files: that of the case's buffers

}  // namespace

bool decoys(const JudgeOptions& options, const lab::TaskCheck& check) {
  return options.mode == Mode::grade && !check.host_reads_inputs();
}

bool keeps_requests(const JudgeOptions& options) { return options.mode == Mode::check && !options.step.sizes; }

void CaseJudge::stop() {
  workers_.clear();
  sanitizing_.clear();
}

std::vector<Device*> CaseJudge::devices(const lab::Case& c) {
  std::vector<Device*> all = {&device_};
  for (int r = 1; r < c.ranks; ++r) {
    const auto at = static_cast<std::size_t>(r) - 1;
    if (options_.backend == Backend::cuda && at == more_devices_.size()) more_devices_.push_back(make_cuda_device(r));
    all.push_back(options_.backend == Backend::cuda ? more_devices_[at].get() : &device_);
  }
  return all;
}

std::unique_ptr<SubmissionWorkers> CaseJudge::start(int ranks, bool decoys) {
  Lap lap(time_.start);
  return std::make_unique<SubmissionWorkers>(program_, ranks, options_.backend, decoys, options_.ranks.agents);
}

SubmissionWorkers& CaseJudge::workers_of(ByRanks& all, int ranks) {
  if (auto found = all.find(ranks); found != all.end()) return *found->second;
  // Ranks share the GPUs: those of one number end before others start.
  if (options_.backend == Backend::cuda) all.clear();
  return *(all[ranks] = start(ranks, decoys(options_, check_)));
}

RankBuffers CaseJudge::buffers_of(const lab::Case& c, std::uint64_t number) {
  RankBuffers buffers(devices(c), check_, c, {seed_, "case", number}, next_id_, time_);
  next_id_ = buffers.next_id();
  return buffers;
}

Gate CaseJudge::share(SubmissionWorkers& workers, const RankBuffers& buffers) {
  Lap lap(time_.start);
  return explain_(workers.share(buffers, limit_));
}

void CaseJudge::time_before(const lab::Case& c) {
  const auto* by_times = dynamic_cast<const lab::AnswersByTimes*>(&check_);
  if (by_times == nullptr || options_.backend != Backend::cuda) return;
  stop();
  if (!stopwatch_)
    stopwatch_ = std::make_unique<WorkerStopwatch>(device_, baseline_, derived_seed(seed_, "stopwatch"), limit_, time_);
  Lap lap(time_.run);
  by_times->time_before(c, *stopwatch_);
}

void CaseJudge::listen(SubmissionWorkers& workers, const lab::Case& c, std::size_t calls) {
  questions_.emplace(check_, c, calls, stopwatch_.get());
  if (questions_->any_allowed())
    workers.set_answerer([this](const protocol::Ask& ask) { return questions_->answer(ask); });
  else
    workers.set_answerer({});
  const auto* with_files = dynamic_cast<const lab::UsesFiles*>(&check_);
  if (real_files_) return workers.set_files(real_files_.get());
  files_ = with_files != nullptr ? with_files->make_files(c, calls) : nullptr;
  workers.set_files(files_.get());
}

// The machine's own files of a call, where the task has such.
void CaseJudge::make_real_files(const RankBuffers& buffers) {
  const auto* with_files = dynamic_cast<const lab::UsesFiles*>(&check_);
  if (options_.backend != Backend::cuda || with_files == nullptr || !with_files->on_real_files()) return;
  if (!real_files_) real_files_ = std::make_unique<RealFiles>();
  real_files_->replace(0, buffers.real_files(*with_files));
}

lab::Verdict CaseJudge::verify(const lab::Case& c, const RankBuffers& buffers) const {
  lab::Verdict v = check_.verify_questions(c, questions_->asked());
  if (v.ok) v = buffers.verify();
  const auto* with_files = dynamic_cast<const lab::UsesFiles*>(&check_);
  if (v.ok && files_ != nullptr) v = buffers.verify_files(*with_files, *files_);
  if (v.ok && real_files_ != nullptr) v = real_files_->verify(*with_files, kOneSet);
  return v;
}

Gate CaseJudge::run(SubmissionWorkers& workers, const lab::Case& c, const RankBuffers& buffers, bool record,
                    std::vector<Reply>& replies) {
  Lap lap(time_.run);
  make_real_files(buffers);
  listen(workers, c, 1);
  replies = workers.run(buffers, 1, record, false, limit_);
  Gate g = explain_all(explain_, replies, c.ranks);
  return g.check.empty() ? questions_->gate() : g;
}

Gate CaseJudge::answered(SubmissionWorkers& workers, const lab::Case& c, const RankBuffers& buffers) {
  std::vector<Reply> replies;
  if (Gate g = run(workers, c, buffers, false, replies); !g.check.empty()) return g;
  return verified(c, buffers);
}

Gate CaseJudge::verified(const lab::Case& c, const RankBuffers& buffers) {
  const lab::Verdict v = verify(c, buffers);
  return v.ok ? Gate{} : Gate{v.check, v.message, v.secret, v.cause, v.picture};
}

// The emulator has placed the parts of file requests in virtual time as the worker's trace says. How long each takes,
// and what it had to wait for, is the judge's to say. So is the least that the device must have done.
lab::Verdict CaseJudge::same_files_and_work(const lab::Case& c, const std::vector<Reply>& replies) const {
  if (files_ == nullptr || !c.measured || options_.backend == Backend::cuda || !on(Defence::replay)) return {};
  const lab::UsesFiles::DeviceWork least = dynamic_cast<const lab::UsesFiles&>(check_).least_on_device(c);
  for (std::size_t r = 0; r < replies.size(); ++r) {
    const DeviceLog log = device_log(replies[r].launches);
    std::vector<files::Charged> charged;  // of this process
    for (const files::Charged& e : files_->charged())
      if (c.ranks == 0 || e.rank == static_cast<int>(r)) charged.push_back(e);
    const char* const what = "the timeline's file requests are not those that the judge has answered";
    if (const std::string why = difference_of_files(charged, log.files); !why.empty())
      return {false, fmt::format("{}: {}", what, why), what, "files"};
    if (log.launches < least.launches || log.bytes_from_host < least.bytes_from_host ||
        log.bytes_to_host < least.bytes_to_host)
      return {
          false,
          fmt::format("{:.0f} launches of kernels, {:.0f} bytes from the host and {:.0f} bytes to it, where {:.0f}, "
                      "{:.0f} and {:.0f} are expected at least: a part of the work was not done on the device",
                      log.launches, log.bytes_from_host, log.bytes_to_host, least.launches, least.bytes_from_host,
                      least.bytes_to_host),
          "a part of the work was not done on the device", "device"};
    const auto after = dynamic_cast<const lab::UsesFiles&>(check_).after_kernels(c, *files_);
    if (after.empty()) continue;
    const Timeline timeline = count_launches(replies[r].launches, program_).timeline;
    if (const std::string why = too_early(after, log.files, timeline); !why.empty())
      return {false, why, "a file is published before the device has made what it holds", "device"};
  }
  return {};
}

CaseJudge::Answer CaseJudge::judge(const lab::Case& c, std::uint64_t number, bool again) {
  time_before(c);
  SubmissionWorkers& workers = workers_of(workers_, c.ranks);
  RankBuffers buffers = buffers_of(c, number);
  const bool has_messages = c.ranks > 0 && options_.backend == Backend::cpu;
  Answer answer;
  Gate& g = answer.gate;
  // However this ends, what the submission printed so far is kept: of the rank that failed, or of the first.
  struct KeepOutput {
    CaseJudge& judge;
    SubmissionWorkers& workers;
    const Gate& failed;
    ~KeepOutput() {
      judge.output_ = workers.output(failed.rank).substr(0, kKeptOutput);
      judge.output_bytes_ = static_cast<double>(workers.worker(failed.rank).printed());
    }
  } keep{*this, workers, g};
  g = share(workers, buffers);
  if (g.check.empty()) {
    if (keeps_requests(options_) && c.ranks == 0) workers.keep_requests();
    g = run(workers, c, buffers, c.measured, answer.replies);
    if (g.check == "deadlock" && has_messages) {
      lab::Verdict failed{false, g.message, g.secret, g.check, g.cause, {}};
      check_.tell_of_messages(c, workers.messages_until_now(), failed);
      g.message = failed.message;
    }
  }
  if (g.check.empty()) {
    lab::Verdict v = verify(c, buffers);
    if (v.ok) answer.marks = buffers.marks(questions_->asked());
    const auto* repeats = dynamic_cast<const lab::SameBits*>(&check_);
    const bool repeated = v.ok && repeats != nullptr && repeats->repeats(c);
    const HostCopy first = repeated ? buffers.collect(-1) : HostCopy{};
    if (v.ok && files_ != nullptr)
      for (lab::Mark& m : dynamic_cast<const lab::UsesFiles&>(check_).file_marks(c, *files_))
        answer.marks.push_back(std::move(m));
    if (!v.ok && has_messages) check_.tell_of_messages(c, workers.messages(), v);
    if (has_messages && v.ok)
      if (lab::Verdict t = check_.verify_messages(c, workers.messages()); !t.ok)
        answer.traffic = {t.check, t.message, t.secret, t.cause};
    if (v.ok) v = same_files_and_work(c, answer.replies);
    double seconds = 0;
    std::uint64_t to_host = 0;
    for (const Reply& r : answer.replies) {
      seconds = std::max(seconds, r.seconds);
      to_host += r.done.to_host;
    }
    if (looks_for_races(c, seconds)) g = sanitized(c, buffers, number);
    if (v.ok && g.cause == Cause::inactive_lane) g = {};  // nobody used what the shuffle gave
    for (const Reply& r : answer.replies)
      if (v.ok && g.check.empty()) g = waited(r);
    if (v.ok && g.check.empty() && asks_the_host(to_host)) g = with_decoys(c, buffers, number, to_host);
    if (!v.ok)
      g = {v.check, v.message + (g.check.empty() ? "" : "\n" + g.message), v.secret,
           g.cause != Cause::none ? g.cause : v.cause, v.picture};
    if (g.check.empty() && repeated) g = same_bits(c, buffers, number, first, c.measured);
    if (g.check.empty() && again) g = once_more(workers, c, number);
  }
  return answer;
}

std::vector<Reply> CaseJudge::recorded(const lab::Case& c, std::uint64_t number) {
  SubmissionWorkers& workers = workers_of(workers_, c.ranks);
  RankBuffers buffers = buffers_of(c, number);
  std::vector<Reply> replies;
  if (share(workers, buffers).check.empty()) run(workers, c, buffers, true, replies);
  return replies;
}

}  // namespace ridge
