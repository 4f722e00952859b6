#pragma once
#include <memory>
#include <vector>

#include "grader/machine/device.hpp"

namespace ridge::test {

// The emulator's device, whose sample is taken too early for one byte.
class LateDevice : public Device {
 public:
  DeviceInfo info() const override { return device_->info(); }
  std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes, lab::Place place) override {
    return device_->allocate(bytes, place);
  }
  std::span<std::byte> staging(std::size_t bytes, int piece) override { return device_->staging(bytes, piece); }
  std::unique_ptr<HostMemory> host_memory(std::size_t bytes) override { return device_->host_memory(bytes); }
  void aim_sample(const std::vector<OutputSample>& samples) override { device_->aim_sample(samples); }
  std::vector<std::byte> take_sample() override {
    auto sample = device_->take_sample();
    sample.back() ^= std::byte{1};
    return sample;
  }
  void warm_up(double) override {}

 private:
  std::unique_ptr<Device> device_ = make_cpu_device();
};

}  // namespace ridge::test
