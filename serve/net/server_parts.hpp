// What a server's connections share.
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <map>
#include <memory>

#include "serve/net/crowd.hpp"
#include "serve/net/server.hpp"

namespace ridge::net {

struct Server::Parts {
  Parts(Limits l, Site s)
      : limits(l), site(std::move(s)), crowd(l.connections, l.strangers), workers(l.workers), acceptor(loop) {}
  Limits limits;
  Site site;
  boost::asio::io_context loop{1};
  Crowd crowd;
  std::map<Crowd::Id, std::function<void()>> drop;  // closes a connection
  boost::asio::thread_pool workers;
  boost::asio::ip::tcp::acceptor acceptor;
  Crowd::Id last = 0;
  bool ending = false;
};

// Serves one client until it leaves.
void start_session(const std::shared_ptr<Server::Parts>& parts, boost::asio::ip::tcp::socket socket, Crowd::Id id);

}  // namespace ridge::net
