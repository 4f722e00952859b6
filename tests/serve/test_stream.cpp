// An event stream that another thread tells.
#include <unistd.h>

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <future>
#include <thread>

#include "serve/net/server.hpp"
#include "support/catch.hpp"

using namespace ridge::net;
using boost::asio::ip::tcp;

TEST_CASE("a stream whose tab leaves while it is told goes on the server's loop") {
  std::promise<std::shared_ptr<EventStream>> opened;
  std::promise<std::thread::id> gone;
  auto end_thread = gone.get_future();
  Site site;
  site.judge = [](const Request&) { return Judged{std::nullopt, true}; };
  site.answer = [&](const Request&) {
    const std::shared_ptr<void> there(nullptr, [&](void*) { gone.set_value(std::this_thread::get_id()); });
    Response out;
    out.type = "text/event-stream";
    out.stream = [&opened, there](const std::shared_ptr<EventStream>& s) { opened.set_value(s); };
    return out;
  };
  auto server = std::make_unique<Server>(Limits{}, site);
  const int port = server->listen("127.0.0.1", 0);
  std::atomic<bool> ends{false};
  std::thread loop([&] { server->run([&] { return !ends; }, [] {}); });
  const auto loop_id = loop.get_id();
  boost::asio::io_context own;
  tcp::socket tab(own);
  tab.connect({boost::asio::ip::address_v4::loopback(), static_cast<unsigned short>(port)});
  boost::asio::write(tab, boost::asio::buffer(std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n")));
  auto told = opened.get_future().get();  // as a thread that tells holds it
  tab.close();
  end_thread.wait_for(std::chrono::seconds(5));
  told->send("data: x\n\n");
  told.reset();
  REQUIRE(end_thread.wait_for(std::chrono::seconds(5)) == std::future_status::ready);
  CHECK(end_thread.get() == loop_id);
  ends = true;
  loop.join();
}
