// Who owns the files, and answers all calls.
#pragma once
#include <cstddef>
#include <span>

#include "request.hpp"

namespace ridge::files {

class Service {
 public:
  virtual ~Service() = default;
  // `window`: kMostBytes that the caller shares; a write's bytes lie there, and a read's go there. Never throws for
  // what a caller sends.
  virtual Reply call(const Request& request, std::span<std::byte> window) = 0;
};

}  // namespace ridge::files
