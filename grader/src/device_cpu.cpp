// Buffers of the emulator's device: shared memory files of the judge.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "device.hpp"
#include "device_kernel.hpp"
#include "error.hpp"

namespace ridge {

namespace {

class CpuBuffer : public DeviceBuffer {
 public:
  explicit CpuBuffer(std::size_t bytes) : bytes_(bytes) {
    fd_ = memfd_create("ridge", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(bytes)) != 0) fail();
    // The worker must not shrink a file that the judge has mapped.
    fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    read_only_ = open(("/proc/self/fd/" + std::to_string(fd_)).c_str(), O_RDONLY | O_CLOEXEC);
    if (read_only_ < 0) fail();
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (p == MAP_FAILED) fail();
    view_ = static_cast<std::byte*>(p);
  }
  ~CpuBuffer() override {
    munmap(view_, bytes_);
    close(fd_);
    close(read_only_);
  }
  std::size_t bytes() const override { return bytes_; }
  std::size_t reserved() const override { return bytes_; }
  int descriptor(bool writable) const override { return writable ? fd_ : read_only_; }
  void upload(std::span<const std::byte> from) override { std::memcpy(view_, from.data(), from.size()); }
  void download(std::span<std::byte> to) override { std::memcpy(to.data(), view_, to.size()); }
  void poison(std::uint64_t seed) override {
    auto* words = reinterpret_cast<std::uint32_t*>(view_);
    for (std::size_t i = 0; i < bytes_ / 4; ++i) words[i] = poison_word(seed, i);
  }
  void wipe() override { std::memset(view_, 0, bytes_); }
  const std::byte* data() const { return view_; }

 private:
  [[noreturn]] void fail() {
    throw Error(Exit::environment, std::string("cannot make a shared buffer: ") + std::strerror(errno),
                "free some memory, or grade a smaller case with `ridge check`");
  }
  std::size_t bytes_;
  int fd_ = -1, read_only_ = -1;
  std::byte* view_ = nullptr;
};

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
    i.kind = "emulated";
    i.name = "SIMT emulator";
    i.memory = std::uint64_t{1} << 30;
    return i;
  }
  std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) override { return std::make_unique<CpuBuffer>(bytes); }
  std::span<std::byte> staging(std::size_t bytes) override {
    if (staging_.size() < bytes) staging_.resize(bytes);
    return {staging_.data(), bytes};
  }
  std::unique_ptr<HostMemory> host_memory(std::size_t bytes) override { return std::make_unique<CpuMemory>(bytes); }
  void aim_sample(const std::vector<Comb>& combs) override { combs_ = combs; }
  std::vector<std::byte> take_sample() override {
    std::vector<std::byte> sample;
    for (const Comb& c : combs_)
      for (std::size_t r = 0; r < c.rows; ++r) {
        const std::byte* piece = static_cast<const CpuBuffer*>(c.buffer)->data() + c.first + r * c.step;
        sample.insert(sample.end(), piece, piece + c.width);
      }
    return sample;
  }
  void warm_up(double) override {}

 private:
  std::vector<std::byte> staging_;
  std::vector<Comb> combs_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace ridge
