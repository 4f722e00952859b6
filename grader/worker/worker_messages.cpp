#include "grader/worker/worker_messages.hpp"

#include <cstring>

#include "grader/base/defence.hpp"

namespace ridge {

namespace {

template <class Message>
bool parse(std::span<const char> packet, protocol::Type type, std::uint64_t sequence, Message& message) {
  protocol::Header header;
  if (packet.size() != sizeof header + sizeof message) return false;
  std::memcpy(&header, packet.data(), sizeof header);
  std::memcpy(&message, packet.data() + sizeof header, sizeof message);
  if (!on(Defence::strict_protocol)) return header.magic == protocol::kMagic && header.type == type;
  return header.magic == protocol::kMagic && header.version == protocol::kVersion && header.type == type &&
         header.sequence == sequence && header.payload == sizeof message && header.reserved == 0;
}

template <std::size_t N>
void end(char (&text)[N]) {
  text[N - 1] = 0;
}

}  // namespace

bool parse_hello(std::span<const char> packet, protocol::Hello& hello) {
  bool ok = parse(packet, protocol::Type::hello, 0, hello);
  end(hello.device);
  return ok;
}

bool parse_done(std::span<const char> packet, std::uint64_t sequence, protocol::Done& done) {
  bool ok = parse(packet, protocol::Type::done, sequence, done);
  end(done.what);
  end(done.detail);
  end(done.kernel);
  end(done.file);
  end(done.other);
  end(done.host_wait);
  if (done.status > protocol::Status::bad_request || done.gate > protocol::Gate::deadlock) ok = false;
  return ok;
}

bool parse_ask(std::span<const char> packet, std::uint64_t sequence, protocol::Ask& ask) {
  return parse(packet, protocol::Type::ask, sequence, ask);
}

bool parse_file_request(std::span<const char> packet, std::uint64_t sequence, files::Request& request) {
  const bool ok = parse(packet, protocol::Type::file, sequence, request);
  end(request.path);
  end(request.other);
  return ok;
}

bool parse_report(std::span<const char> packet, std::uint64_t sequence, protocol::Report& report) {
  bool ok = parse(packet, protocol::Type::report, sequence, report);
  end(report.text);
  if (report.gate > protocol::Gate::deadlock || report.follows > 1) ok = false;
  return ok;
}

}  // namespace ridge
