// A program that speaks to a browser: its stdin and stdout are the two directions of a WebSocket. In a pipe, a message is
// its length in bytes, as four bytes with the lowest first, and its bytes.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "serve/net/message.hpp"

namespace boost::asio {
class io_context;
}

namespace ridge::net {

constexpr std::size_t kMostRelayed = 64 << 20;  // bytes of a message from the program

// Starts the program, and ends it with the socket. Where the program ends first, the socket closes with the last line
// of its stderr. `kept` lives as long as both.
void relay(boost::asio::io_context& loop, const std::shared_ptr<Socket>& socket, const std::vector<std::string>& argv,
           std::shared_ptr<void> kept = {});

}  // namespace ridge::net
