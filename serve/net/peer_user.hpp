// Which user of this machine has opened a connection over the loopback.
#pragma once
#include <sys/types.h>

#include <boost/asio/ip/tcp.hpp>
#include <optional>

namespace ridge::net {

// Asks the kernel for the socket at the other end. Nothing where it does not say, or where that socket is closed already.
std::optional<uid_t> user_of(const boost::asio::ip::tcp::endpoint& peer, const boost::asio::ip::tcp::endpoint& own);

}  // namespace ridge::net
