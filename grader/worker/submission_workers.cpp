#include "grader/worker/submission_workers.hpp"

#include <atomic>
#include <future>
#include <latch>

#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"

namespace ridge {

SubmissionWorkers::SubmissionWorkers(const fs::path& program, int ranks, lab::Backend backend, bool decoys,
                                     Agents* agents)
    : agents_(ranks > 0 ? agents : nullptr) {
  if (ranks == 0) {
    workers_.push_back(std::make_unique<RankWorker>(program, backend, decoys));
    return;
  }
  if (backend == lab::Backend::cuda) {
    auto all =
        std::make_shared<RankSandbox>(ranks_sandbox(program), std::vector{program.string(), std::string("run")}, ranks);
    for (int r = 0; r < ranks; ++r) workers_.push_back(std::make_unique<RankWorker>(all, r));
    return;
  }
  first_.emplace(ranks);
  replays_.emplace(ranks);
  for (int r = 0; agents != nullptr && r < ranks; ++r) try {
      const bool replays = on(Defence::replay);
      auto first = agents->start(program, replays ? Role::traced : Role::plain, r, ranks, first_->end_of(r));
      auto replay = replays ? agents->start(program, Role::replay, r, ranks, replays_->end_of(r)) : nullptr;
      workers_.push_back(std::make_unique<RankWorker>(std::move(first), std::move(replay), decoys));
    } catch (const Error&) {
      agents->require_all();
      throw;
    }
  for (int r = 0; agents == nullptr && r < ranks; ++r)
    workers_.push_back(std::make_unique<RankWorker>(program, lab::Backend::cpu, decoys,
                                                    RankPlace{r, ranks, first_->end_of(r), replays_->end_of(r)}));
  first_->started();
  replays_->started();
}

Reply SubmissionWorkers::share(const RankBuffers& buffers, double limit_seconds) {
  Reply r;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    r = workers_[i]->share(buffers[i], limit_seconds);
    if (!r.good()) break;
  }
  if (!r.good() && agents_ != nullptr) agents_->require_all();
  return r;
}

std::vector<Reply> SubmissionWorkers::run(const RankBuffers& buffers, unsigned times, bool record, bool sanitize,
                                          double limit_seconds) {
  if (first_) first_->take(), replays_->take();
  // No rank is repeated before all have run: where one hangs, a repeated one would wait for it and report that as the
  // cause.
  std::latch ran(static_cast<std::ptrdiff_t>(workers_.size()));
  std::atomic<bool> failed = false;
  std::vector<std::future<Reply>> running;
  for (std::size_t i = 0; i < workers_.size(); ++i)
    running.push_back(std::async(std::launch::async, [&, i] {
      struct Arrival {
        std::latch& latch;
        std::atomic<bool>& failed;
        bool made = false;
        ~Arrival() {
          if (!made) failed = true, latch.count_down();
        }
      };
      Reply r;
      {
        Arrival arrival{ran, failed};
        r = workers_[i]->run(buffers[i], times, record, sanitize, limit_seconds, [&] {
          arrival.made = true;
          ran.arrive_and_wait();
          return !failed;
        });
      }
      if (!r.good() && first_) first_->close(), replays_->close();
      return r;
    }));
  std::vector<Reply> replies;
  for (auto& r : running) replies.push_back(r.get());
  if (agents_ != nullptr) agents_->require_all();
  return replies;
}

void SubmissionWorkers::set_files(files::Service* service) {
  const bool ranks = first_.has_value() || workers_.size() > 1;
  for (std::size_t r = 0; r < workers_.size(); ++r) workers_[r]->set_files({service, ranks ? static_cast<int>(r) : -1});
}

void SubmissionWorkers::keep_requests() {
  for (const auto& worker : workers_) worker->keep_requests();
}

std::vector<lab::Message> SubmissionWorkers::messages() {
  if (!first_) return {};
  std::vector<lab::Message> all = replays_->take();
  for (const lab::Message& m : first_->take())
    if (m.host) all.push_back(m);
  return all;
}

std::vector<lab::Message> SubmissionWorkers::messages_until_now() {
  return first_ ? first_->take() : std::vector<lab::Message>();
}

const std::string& SubmissionWorkers::output(int rank) { return workers_[static_cast<std::size_t>(rank)]->output(); }

}  // namespace ridge
