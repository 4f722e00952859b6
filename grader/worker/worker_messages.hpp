// What a worker's packets say. They come from a process that the submission owns: every length is checked, and texts
// end within their fields.
#pragma once
#include <cstdint>
#include <span>

#include "worker/protocol.hpp"

namespace ridge {

// False where the packet is anything but the message that is due; the message is valid where they return true.
bool parse_hello(std::span<const char> packet, protocol::Hello& hello);
bool parse_done(std::span<const char> packet, std::uint64_t sequence, protocol::Done& done);
bool parse_report(std::span<const char> packet, std::uint64_t sequence, protocol::Report& report);

}  // namespace ridge
