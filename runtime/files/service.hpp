// Who owns the files, and answers all calls.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "request.hpp"

namespace ridge::files {

// What the virtual time of a run must show: a request that occupies resources, or a wait for an earlier one.
struct Charged {
  std::uint64_t number = 0;  // of the request
  std::int32_t rank = 0;
  bool is_wait = false;  // its asynchronous request's end was waited for here
  bool waited = false;   // the caller went on when the request had ended
  double latency = 0;
  std::vector<::files::wire::Piece> pieces = {};
};
constexpr std::size_t kMostCharged = std::size_t{1} << 18;

class Service {
 public:
  virtual ~Service() = default;
  // `window`: kMostBytes that the caller shares; a write's bytes lie there, and a read's go there. Never throws for
  // what a caller sends.
  virtual Reply call(const Request& request, std::span<std::byte> window) = 0;
  // A descriptor that goes to the caller with the last answer, and is his; -1: none. For files of the machine's own.
  virtual int take_descriptor() { return -1; }
  // The first kMostCharged of them, in the order in which they were answered.
  virtual const std::vector<Charged>& charged() const = 0;
};

}  // namespace ridge::files
