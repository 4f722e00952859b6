// The memory through which the bytes of a worker's file requests pass, and who answers them.
#pragma once
#include <memory>
#include <span>

#include "grader/machine/host_buffer.hpp"
#include "runtime/files/service.hpp"

namespace ridge {

class FilesWindow {
 public:
  // A worker maps the window once: the descriptor goes with the first answer.
  int take_descriptor() {
    const bool first = !memory_;
    if (first) memory_ = std::make_unique<SharedHostBuffer>(files::kMostBytes, true);
    return first ? memory_->descriptor(true) : -1;
  }
  std::span<std::byte> bytes() { return {const_cast<std::byte*>(memory_->data()), memory_->bytes()}; }

 private:
  std::unique_ptr<SharedHostBuffer> memory_;
};

// Answers a worker's file requests in the runs from now on. `rank`: whose they are; below 0: as the request says.
struct FilesOwner {
  files::Service* service = nullptr;
  int rank = -1;
};

}  // namespace ridge
