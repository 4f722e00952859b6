// The judge's memory on the machine that runs the submission. The judge owns every buffer; a worker gets a descriptor.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "grader/base/names.hpp"

namespace ridge {

class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  virtual std::size_t bytes() const = 0;
  virtual std::size_t reserved() const = 0;         // of the allocation behind the descriptor
  virtual int descriptor(bool writable) const = 0;  // stays the buffer's
  virtual void upload(std::span<const std::byte> from) = 0;
  // The same, but `from` must stay as it is, and nobody else may use the buffer, until Device::settle() returns.
  virtual void upload_later(std::span<const std::byte> from) { upload(from); }
  virtual void download(std::span<std::byte> to) = 0;  // waits for nothing: the worker is idle by then
  // NaN bits that differ from run to run, and between an output and the workspace.
  virtual void poison(std::uint64_t seed, bool output) = 0;
  virtual void wipe() = 0;  // zeros: nothing is left for the memory's next owner
};

// Memory of the host, page-locked where that makes copies faster.
class HostMemory {
 public:
  virtual ~HostMemory() = default;
  virtual std::span<std::byte> bytes() const = 0;
};

// Pieces of a buffer at equal distances: `rows` of `width` bytes, the first at `first`.
struct OutputSample {
  const DeviceBuffer* buffer = nullptr;
  std::size_t first = 0, step = 0, width = 0, rows = 0;
};

struct DeviceInfo {
  DeviceKind kind = DeviceKind::emulated;
  std::string name;
  std::string driver, runtime, clocks;
  std::uint64_t memory = 0;    // bytes free
  std::uint64_t l2_bytes = 0;  // 0: no cache to think of
  std::string uuid;            // "GPU-..." as nvidia-smi shows it
  std::string compute;         // capability: "9.0"
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceInfo info() const = 0;
  virtual std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes, lab::Place place = lab::Place::device) = 0;
  virtual void settle() {}  // waits for uploads
  // Page-locked host memory where that makes copies faster. There are two pieces of staging memory, 0 and 1.
  virtual std::span<std::byte> staging(std::size_t bytes, int piece) = 0;
  virtual std::unique_ptr<HostMemory> host_memory(std::size_t bytes) = 0;

  // Sets the outputs that the next take_sample reads.
  virtual void aim_sample(const std::vector<OutputSample>& samples) = 0;
  // Those pieces, one after the other, once they have arrived. On a GPU a copy engine reads them. It waits for no
  // kernel of another process, nor need the GPU change over to the judge's context first (about 0.4 ms, since without
  // MPS processes take turns on the cores). So where a program says that it is done while a kernel of it still runs,
  // the sample holds what was there too early, and differs from what is downloaded later.
  virtual std::vector<std::byte> take_sample() = 0;
  // Keeps the device busy for about `seconds` with writes over more than its L2, so that no input is left there and the
  // clocks are up.
  virtual void warm_up(double seconds) = 0;
};

std::unique_ptr<Device> make_cpu_device();
// Throws Error(Exit::environment) where this machine has no usable GPU or this build no support for one.
std::unique_ptr<Device> make_cuda_device(int number = 0);
int cuda_devices();  // 0 where there is none
// True where make_cuda_device would succeed; otherwise `why` says what is missing.
bool cuda_available(std::string& why);

}  // namespace ridge
