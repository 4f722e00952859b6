// Times calls of one program on the judge's clock, for checks that answer questions by them (checks/stopwatch.hpp).
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checks/stopwatch.hpp"
#include "grader/machine/device.hpp"
#include "grader/worker/submission_workers.hpp"

namespace ridge {

class WorkerStopwatch : public lab::Stopwatch {
 public:
  // `program`: a worker that is trusted. `limit_seconds`: of one request. `time`: the judge's own goes there.
  WorkerStopwatch(Device& device, const fs::path& program, std::uint64_t seed, double limit_seconds, JudgeTime& time);

  std::vector<std::vector<double>> times(const lab::TaskCheck& task, std::span<const lab::Case> cases,
                                         int turns) override;

 private:
  using Sizes = std::array<std::int64_t, 8>;

  void share(const lab::TaskCheck& task, const lab::Case& c);
  double seconds_of(const lab::Case& c);                 // of a call
  double request(const Sizes& size, std::size_t calls);  // seconds from the request to its answer

  Device& device_;
  std::uint64_t seed_, orders_ = 0;
  double limit_;
  JudgeTime& time_;
  SubmissionWorkers workers_;
  std::optional<RankBuffers> buffers_;
  std::vector<std::size_t> shape_;      // bytes of each buffer
  std::uint32_t next_id_ = 1;           // of a buffer
  std::optional<double> round_trip_;    // seconds of an empty request
  std::map<Sizes, std::size_t> calls_;  // of a request
};

}  // namespace ridge
