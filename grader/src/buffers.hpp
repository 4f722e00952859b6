// The buffers of one case: made by the judge, filled from a seed, shared with workers by descriptor.
#pragma once
#include <memory>
#include <vector>

#include "device.hpp"
#include "lab/check.hpp"
#include "worker_process.hpp"

namespace ridge {

class CaseBuffers {
 public:
  // Buffer ids run from `first_id` upwards; a worker must not know two sets by the same id.
  CaseBuffers(Device& device, const lab::TaskCheck& check, const lab::Case& c, std::uint64_t seed,
              std::uint32_t first_id);

  // Gives the descriptors to a worker. Returns the reply that was not ok, or an ok one. `scratch`: outputs and workspace
  // are others, which nobody looks at.
  Reply share(WorkerProcess& worker, double limit_seconds, bool scratch = false) const;
  void poison(std::uint64_t seed);
  lab::Verdict verify() const;
  protocol::Call call() const;
  std::uint32_t next_id() const { return next_id_; }

 private:
  Device& device_;
  const lab::TaskCheck& check_;
  const lab::Case case_;
  std::vector<std::vector<std::byte>> in_host_;
  std::vector<std::unique_ptr<DeviceBuffer>> in_, out_;
  std::unique_ptr<DeviceBuffer> workspace_;
  mutable std::vector<std::unique_ptr<DeviceBuffer>> scratch_;  // outputs, then the workspace; made when asked for
  std::uint32_t first_id_, next_id_;
};

}  // namespace ridge
