#include "grader/worker/rank_worker.hpp"

#include <cstring>

#include "grader/base/defence.hpp"

namespace ridge {

namespace {

constexpr double kStartSeconds = 10;     // the emulator
constexpr double kStartSecondsGpu = 60;  // a context, perhaps on a machine whose driver sleeps

double start_seconds(lab::Backend b) { return b == lab::Backend::cpu ? kStartSeconds : kStartSecondsGpu; }

bool replays(lab::Backend b) { return b == lab::Backend::cpu && on(Defence::replay); }

}  // namespace

RankWorker::RankWorker(const fs::path& program, lab::Backend backend, bool decoys, const RankPlace& place)
    : first_(program, start_seconds(backend),
             {.gpu = backend == lab::Backend::cuda,
              .role = replays(backend) ? Role::traced : Role::plain,
              .rank = place.rank,
              .ranks = place.ranks,
              .messages = place.messages}),
      decoys_(decoys && on(Defence::decoy_inputs)) {
  if (replays(backend))
    replay_ = std::make_unique<WorkerProcess>(
        program, kStartSeconds,
        WorkerOptions{
            .role = Role::replay, .rank = place.rank, .ranks = place.ranks, .messages = place.replay_messages});
}

RankWorker::RankWorker(std::shared_ptr<RankSandbox> ranks, int rank)
    : first_(std::move(ranks), rank, kStartSecondsGpu, true) {}

RankWorker::RankWorker(std::shared_ptr<RankHost> first, std::shared_ptr<RankHost> replay, bool decoys)
    : first_(std::move(first), 0, kStartSecondsGpu, false), decoys_(decoys && on(Defence::decoy_inputs)) {
  if (replay) replay_ = std::make_unique<WorkerProcess>(std::move(replay), 0, kStartSecondsGpu, false);
}

Reply RankWorker::share(const CaseBuffers& buffers, double limit_seconds) {
  if (replay_ == nullptr) return buffers.share(first_, limit_seconds);
  Reply r = buffers.share(first_, limit_seconds, decoys_ ? Show::decoy : Show::scratch);
  if (r.good()) r = buffers.share(*replay_, limit_seconds);
  return r;
}

Reply RankWorker::run(const CaseBuffers& buffers, unsigned times, bool record, bool sanitize, double limit_seconds,
                      const std::function<bool()>& go_on) {
  std::vector<protocol::Call> calls(times, buffers.call());
  protocol::Run request;
  if (replay_ == nullptr) {
    request.record = record ? (requests_ ? 2 : 1) : 0;
    request.sanitize = sanitize ? 1 : 0;
    return first_.run(calls, request, limit_seconds, answerer_);
  }
  request.trace = 1;
  Reply r = first_.run(calls, request, times * limit_seconds, answerer_);
  if (!r.good() || (go_on && !go_on())) return r;
  protocol::Replay again;
  again.bytes = r.trace.bytes;
  again.record = record ? (requests_ ? 2 : 1) : 0;
  again.sanitize = sanitize ? 1 : 0;
  again.node = calls.front().node;
  std::memcpy(again.topology, calls.front().topology, sizeof again.topology);
  r = replay_->replay(again, r.trace.fd, limit_seconds);
  r.replayed = true;
  return r;
}

}  // namespace ridge
