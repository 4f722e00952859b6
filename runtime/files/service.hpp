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
  // Virtual time of all pieces of all answers, and their latencies, in s: what a timeline must show.
  virtual double seconds_charged() const = 0;
  virtual Reply call(const Request& request, std::span<std::byte> window) = 0;
};

}  // namespace ridge::files
