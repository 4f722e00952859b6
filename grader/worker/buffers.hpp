// The buffers of a case: made by the judge, filled from a seed, shared with workers by descriptor.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "checks/check.hpp"
#include "grader/machine/device.hpp"
#include "grader/result/timing_record.hpp"
#include "grader/worker/worker_process.hpp"

namespace ridge {

// A worker gets the judged buffers (`judged`), other outputs and workspace that nobody reads (`scratch`), or other
// inputs of the same shape as well (`decoy`).
enum class Show { judged, scratch, decoy };

// Inputs and outputs of a case on the host, rank by rank, and the memory of those that are not elsewhere.
struct HostCopy {
  std::vector<std::span<const std::byte>> in, out;
  std::vector<std::vector<std::byte>> storage;
};

// The buffers of one rank.
class CaseBuffers {
 public:
  // Buffer ids run from `first_id` upwards; a worker must not know two sets by the same id. `like`: buffers of the same
  // case, which must stay as they are until this returns; the inputs are theirs, and not on the host before refill().
  CaseBuffers(Device& device, const lab::TaskCheck& check, const lab::Case& c, std::uint64_t seed,
              std::uint32_t first_id, JudgeTime& time, const CaseBuffers* like = nullptr);

  ~CaseBuffers();
  CaseBuffers(CaseBuffers&&) = default;

  // New inputs at the same addresses, which are on the device once Device::settle() returns. `shared_seed`: of those
  // that all ranks have alike.
  void refill(std::uint64_t seed, std::uint64_t shared_seed = 0);
  // Gives the descriptors to a worker. Returns the reply that was not ok, or an ok one.
  Reply share(WorkerProcess& worker, double limit_seconds, Show show = Show::judged) const;
  void poison(std::uint64_t seed);  // outputs and workspace
  // Adds a sample of each output, at a random place.
  void add_samples(std::uint64_t seed, std::vector<OutputSample>& to) const;
  // Adds what a check sees: inputs, and outputs as downloaded. `piece`: of the device's staging memory, which is quick
  // to reach and holds one set at a time; -1: into memory of the copy's own.
  void collect(HostCopy& to, int piece) const;
  // Whether outputs, as downloaded, hold what `sampled`, a sample of them, held. Samples of other buffers are left out.
  bool unchanged(std::span<const std::span<const std::byte>> out, std::span<const OutputSample> samples,
                 std::span<const std::byte> sampled) const;
  std::size_t outputs() const { return out_.size(); }
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
