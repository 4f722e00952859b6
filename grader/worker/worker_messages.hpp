// Parses a worker's packets. They come from a process that the submission controls, so every length is checked, and
// every string is terminated within its field.
#pragma once
#include <cstdint>
#include <span>

#include "files/request.hpp"
#include "worker/protocol.hpp"

namespace ridge {

// These return false if the packet is not the message that is due. The last argument is valid only if they return true.
bool parse_hello(std::span<const char> packet, protocol::Hello& hello);
bool parse_done(std::span<const char> packet, std::uint64_t sequence, protocol::Done& done);
bool parse_ask(std::span<const char> packet, std::uint64_t sequence, protocol::Ask& ask);
bool parse_file_request(std::span<const char> packet, std::uint64_t sequence, files::Request& request);
bool parse_report(std::span<const char> packet, std::uint64_t sequence, protocol::Report& report);

}  // namespace ridge
