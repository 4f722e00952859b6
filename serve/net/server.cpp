#include "serve/net/server.hpp"

#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "serve/net/peer_user.hpp"
#include "serve/net/server_parts.hpp"

namespace ridge::net {

namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
using Parts = std::shared_ptr<Server::Parts>;

constexpr auto kNoDescriptors = std::chrono::milliseconds(100);  // until accepting is tried again
constexpr auto kLastAnswers = std::chrono::seconds(2);

void accept_next(const Parts& parts) {
  parts->acceptor.async_accept([parts](error_code ec, tcp::socket socket) {
    if (parts->ending) return;
    if (ec) {  // no descriptor is free, or the client has gone
      auto timer = std::make_shared<boost::asio::steady_timer>(parts->loop, kNoDescriptors);
      return timer->async_wait([parts, timer](error_code) {
        if (!parts->ending) accept_next(parts);
      });
    }
    const tcp::endpoint peer = socket.remote_endpoint(ec);
    if (!ec) {
      const Crowd::Id id = ++parts->last;
      const tcp::endpoint own = socket.local_endpoint(ec);
      const auto user = peer.address().is_loopback() && !ec ? user_of(peer, own) : std::nullopt;
      const bool other = user && *user != geteuid() && *user != 0;
      const auto victim = parts->crowd.add(id, source_of(peer.address().to_string()), other);
      if (victim != id) start_session(parts, std::move(socket), id);
      if (victim == id) parts->crowd.remove(id);
      if (victim && victim != id)
        if (const auto at = parts->drop.find(*victim); at != parts->drop.end()) std::function(at->second)();
    }
    accept_next(parts);
  });
}

}  // namespace

Server::Server(Limits limits, Site site) : parts_(std::make_shared<Parts>(limits, std::move(site))) {}

Server::~Server() {
  parts_->workers.join();
  for (const auto& [id, close] : std::map(parts_->drop)) close();
  parts_->loop.restart();
  parts_->loop.poll();  // what waited holds the connections, and these hold the loop
}

boost::asio::io_context& Server::loop() { return parts_->loop; }

int Server::listen(const std::string& host, int port) {
  error_code ec;
  tcp::resolver resolver(parts_->loop);
  const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, ec);
  if (ec || found.empty()) return -1;
  tcp::acceptor& a = parts_->acceptor;
  const tcp::endpoint at = found.begin()->endpoint();
  if (a.is_open()) a.close(ec);
  if (a.open(at.protocol(), ec)) return -1;
  a.set_option(tcp::acceptor::reuse_address(true), ec);
  if (a.bind(at, ec) || a.listen(boost::asio::socket_base::max_listen_connections, ec)) return -1;
  const int bound = a.local_endpoint(ec).port();
  return ec ? -1 : bound;
}

void Server::run(const std::function<bool()>& goes_on, const std::function<void()>& ends) {
  Parts& p = *parts_;
  boost::asio::signal_set signals(p.loop, SIGINT, SIGTERM, SIGHUP);
  boost::asio::steady_timer timer(p.loop);
  const std::function<void()> end = [&] {
    if (std::exchange(p.ending, true)) return;
    error_code ec;
    signals.cancel(ec);
    p.acceptor.close(ec);
    ends();
    // Streams and waiting clients go at once; a busy session sends its answer first.
    const auto drop = p.drop;
    for (const auto& [id, close] : drop) close();
    timer.expires_after(kLastAnswers);
    timer.async_wait([&p](error_code) { p.loop.stop(); });
  };
  signals.async_wait([&](error_code ec, int) {
    if (!ec) end();
  });
  const std::function<void()> tick = [&] {
    timer.expires_after(std::chrono::seconds(1));
    timer.async_wait([&](error_code ec) {
      if (ec || p.ending) return;
      goes_on() ? tick() : end();
    });
  };
  tick();
  accept_next(parts_);
  // The timer keeps the loop for two seconds at most; without clients there is nothing to wait for.
  while (!p.loop.stopped() && !(p.ending && p.crowd.size() == 0))
    if (p.loop.run_one() == 0) break;
}

}  // namespace ridge::net
