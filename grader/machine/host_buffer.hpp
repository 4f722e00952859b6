// A buffer in memory of the host, as a file without a name that the judge and a worker map.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "grader/base/error.hpp"
#include "grader/machine/device.hpp"

namespace ridge {

class SharedHostBuffer : public DeviceBuffer {
 public:
  // `always_writable`: drivers do not page-lock read-only mappings. The judge compares with copies of its own.
  explicit SharedHostBuffer(std::size_t bytes, bool always_writable = false)
      : bytes_(bytes), always_writable_(always_writable) {
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
  ~SharedHostBuffer() override {
    munmap(view_, bytes_);
    close(fd_);
    close(read_only_);
  }
  std::size_t bytes() const override { return bytes_; }
  std::size_t reserved() const override { return bytes_; }
  int descriptor(bool writable) const override { return writable || always_writable_ ? fd_ : read_only_; }
  // On all cores: host_buffer.cpp.
  void upload(std::span<const std::byte> from) override;
  void download(std::span<std::byte> to) override;
  void poison(std::uint64_t seed, bool output) override;
  void wipe() override;
  const std::byte* data() const { return view_; }

 private:
  [[noreturn]] void fail() {
    throw Error(Exit::environment, std::string("cannot make a shared buffer: ") + std::strerror(errno),
                "free some memory, or grade a smaller case with `ridge check`");
  }
  std::size_t bytes_;
  bool always_writable_;
  int fd_ = -1, read_only_ = -1;
  std::byte* view_ = nullptr;
};

}  // namespace ridge
