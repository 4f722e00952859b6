// The buffers of one case: made by the judge, filled from a seed, shared with workers by descriptor.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "checks/check.hpp"
#include "grader/machine/device.hpp"
#include "grader/result/timing_record.hpp"
#include "grader/worker/worker_process.hpp"

namespace ridge {

// What a worker gets for a case: the judged buffers; or others for outputs and workspace, at which nobody looks; or
// other inputs of the same shape as well.
enum class Show { judged, scratch, decoy };

class CaseBuffers {
 public:
  // Buffer ids run from `first_id` upwards; a worker must not know two sets by the same id.
  CaseBuffers(Device& device, const lab::TaskCheck& check, const lab::Case& c, std::uint64_t seed,
              std::uint32_t first_id, JudgeTime& time);

  ~CaseBuffers();
  CaseBuffers(CaseBuffers&&) = default;

  // New inputs at the same addresses. `shared_seed`: of those that all ranks have alike.
  void refill(std::uint64_t seed, std::uint64_t shared_seed = 0);
  // Gives the descriptors to a worker. Returns the reply that was not ok, or an ok one.
  Reply share(WorkerProcess& worker, double limit_seconds, Show show = Show::judged) const;
  void poison(std::uint64_t seed);  // outputs and workspace
  // Adds one comb for each output, at a random place.
  void combs(std::uint64_t seed, std::vector<Comb>& to) const;
  // Downloads the outputs and compares them with the expected ones. `sample`, read by `combs` earlier, must not have
  // changed since; combs of other buffers are left out.
  lab::Verdict verify(std::span<const Comb> combs = {}, std::span<const std::byte> sample = {}) const;
  static constexpr const char* kLate = "outputs were still being written after the program had said that it was done";
  // Whether outputs, as downloaded, hold what a sample of them held. Combs of other buffers are left out.
  bool unchanged(std::span<const std::span<const std::byte>> out, std::span<const Comb> combs,
                 std::span<const std::byte> sample) const;
  // What verify() would hand to the check; outputs are downloaded to `storage`.
  void collect(std::vector<std::span<const std::byte>>& in, std::vector<std::span<const std::byte>>& out,
               std::vector<std::vector<std::byte>>& storage) const;
  protocol::Call call() const;
  std::uint32_t next_id() const { return next_id_; }

 private:
  Device& device_;
  const lab::TaskCheck& check_;
  lab::Case case_;
  void make_decoys() const;
  std::vector<std::unique_ptr<HostMemory>> in_host_;
  std::vector<std::unique_ptr<DeviceBuffer>> in_, out_;
  std::unique_ptr<DeviceBuffer> workspace_;
  mutable std::vector<std::unique_ptr<DeviceBuffer>> scratch_;  // outputs, then the workspace; made when asked for
  mutable std::vector<std::unique_ptr<DeviceBuffer>> decoys_;   // inputs, made when asked for
  lab::Place in_place_ = lab::Place::device, out_place_ = lab::Place::device;
  std::uint64_t seed_ = 0;
  JudgeTime& time_;
  std::uint32_t first_id_, next_id_;
};

}  // namespace ridge
