// Buffers of the emulator's device: shared memory files of the judge.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "device.hpp"
#include "error.hpp"
#include "lab/compare.hpp"

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
    for (std::size_t i = 0; i < bytes_ / 4; ++i)
      words[i] = 0x7FC00000u | static_cast<std::uint32_t>(lab::random_bits(seed, i) & 0x3FFFFF);
  }

 private:
  [[noreturn]] void fail() {
    throw Error(Exit::environment, std::string("cannot make a shared buffer: ") + std::strerror(errno),
                "free some memory, or grade a smaller case with `ridge check`");
  }
  std::size_t bytes_;
  int fd_ = -1, read_only_ = -1;
  std::byte* view_ = nullptr;
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

 private:
  std::vector<std::byte> staging_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace ridge
