// Packets of a worker: hello, done and report. The first byte picks the message; what is accepted has texts that end.
#include <cstring>

#include "fuzz.hpp"
#include "grader/judge/feedback.hpp"
#include "grader/worker/worker_messages.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  if (size == 0) return 0;
  std::span<const char> packet{reinterpret_cast<const char*>(data) + 1, size - 1};
  if (data[0] % 3 == 2) {
    protocol::Report report;
    parse_report(packet, 7, report);
    fuzz::promise(std::memchr(report.text, 0, sizeof report.text) != nullptr, "the text ends");
    return 0;
  }
  if (data[0] % 3 == 0) {
    protocol::Hello hello;
    parse_hello(packet, hello);
    fuzz::promise(std::memchr(hello.device, 0, sizeof hello.device) != nullptr, "the device's name ends");
    return 0;
  }
  protocol::Done done;
  bool ok = parse_done(packet, 7, done);
  for (auto [text, bytes] : {std::pair<const char*, std::size_t>{done.what, sizeof done.what},
                             {done.detail, sizeof done.detail},
                             {done.kernel, sizeof done.kernel},
                             {done.file, sizeof done.file},
                             {done.other, sizeof done.other},
                             {done.host_wait, sizeof done.host_wait}})
    fuzz::promise(std::memchr(text, 0, bytes) != nullptr, "a text ends");
  if (!ok) return 0;
  protocol::Header header;
  std::memcpy(&header, packet.data(), sizeof header);
  fuzz::promise(header.sequence == 7 && header.payload == sizeof done, "only the answer that is due is taken");
  std::string told = fault_class(done, "", "");
  fuzz::promise(told.size() < 64, "what is told of a fault is one of few sentences");
  return 0;
}
