// Buffers of the emulator's device: shared memory files of the judge.
#include <array>
#include <vector>

#include "grader/machine/device.hpp"
#include "grader/machine/host_buffer.hpp"

namespace ridge {

namespace {

class CpuMemory : public HostMemory {
 public:
  explicit CpuMemory(std::size_t bytes) : memory_(bytes) {}
  std::span<std::byte> bytes() const override { return memory_; }

 private:
  mutable std::vector<std::byte> memory_;
};

class CpuDevice : public Device {
 public:
  DeviceInfo info() const override {
    DeviceInfo i;
    i.name = "SIMT emulator";
    i.memory = std::uint64_t{1} << 30;
    return i;
  }
  std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes, lab::Place) override {
    return std::make_unique<SharedHostBuffer>(bytes);
  }
  std::span<std::byte> staging(std::size_t bytes, int piece) override {
    auto& memory = staging_[static_cast<std::size_t>(piece)];
    if (memory.size() < bytes) memory.resize(bytes);
    return {memory.data(), bytes};
  }
  std::unique_ptr<HostMemory> host_memory(std::size_t bytes) override { return std::make_unique<CpuMemory>(bytes); }
  void aim_sample(const std::vector<OutputSample>& samples) override { samples_ = samples; }
  std::vector<std::byte> take_sample() override {
    std::vector<std::byte> sample;
    for (const OutputSample& c : samples_)
      for (std::size_t r = 0; r < c.rows; ++r) {
        const std::byte* piece = static_cast<const SharedHostBuffer*>(c.buffer)->data() + c.first + r * c.step;
        sample.insert(sample.end(), piece, piece + c.width);
      }
    return sample;
  }
  void warm_up(double) override {}

 private:
  std::array<std::vector<std::byte>, 2> staging_;
  std::vector<OutputSample> samples_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace ridge
