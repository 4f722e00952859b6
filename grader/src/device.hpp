// The judge's memory on the machine that runs the submission. The judge owns every buffer; a worker gets a descriptor.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ridge {

class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  virtual std::size_t bytes() const = 0;
  virtual std::size_t reserved() const = 0;         // of the allocation behind the descriptor
  virtual int descriptor(bool writable) const = 0;  // stays the buffer's
  virtual void upload(std::span<const std::byte> from) = 0;
  virtual void download(std::span<std::byte> to) = 0;  // waits for nothing: the worker is idle by then
  virtual void poison(std::uint64_t seed) = 0;         // NaN bits that differ from run to run
};

struct DeviceInfo {
  std::string kind;  // "emulated" or "gpu"
  std::string name;
  std::string driver, runtime, clocks;
  std::uint64_t memory = 0;  // bytes free
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceInfo info() const = 0;
  virtual std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) = 0;
  // Page-locked host memory where that makes copies faster.
  virtual std::span<std::byte> staging(std::size_t bytes) = 0;
};

std::unique_ptr<Device> make_cpu_device();
// Throws Error(Exit::environment) where this machine has no usable GPU or this build no support for one.
std::unique_ptr<Device> make_cuda_device();
// True where make_cuda_device would succeed; otherwise `why` says what is missing.
bool cuda_available(std::string& why);

}  // namespace ridge
