// A connection that has asked to become a WebSocket.
#pragma once
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>

#include "serve/net/message.hpp"
#include "serve/net/server_parts.hpp"

namespace ridge::net {

using SocketOpened = std::function<void(const std::shared_ptr<Socket>&)>;

void accept_socket(const std::shared_ptr<Server::Parts>& parts, boost::beast::tcp_stream stream, Crowd::Id id,
                   boost::beast::http::request<boost::beast::http::string_body> request, SocketOpened opened);

}  // namespace ridge::net
