// A connection whose response has begun and goes on with events.
#pragma once
#include <boost/beast/core/tcp_stream.hpp>
#include <functional>
#include <memory>

#include "serve/net/message.hpp"
#include "serve/net/server_parts.hpp"

namespace ridge::net {

using StreamOpened = std::function<void(const std::shared_ptr<EventStream>&)>;

void stream_events(const std::shared_ptr<Server::Parts>& parts, boost::beast::tcp_stream stream, Crowd::Id id,
                   bool chunked, StreamOpened opened);

}  // namespace ridge::net
