// A server for tests of serve/net: net_server PROGRAM... prints its port, and serves until SIGTERM.
//
//   /            for a client with "X-Known: 1"; others are refused. Answers with its method and the size of its body
//   /slow        answers after a second
//   /events      an event of 64 KiB every 5 ms
//   /relay       a WebSocket to PROGRAM...
#include <fmt/format.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "serve/net/relay.hpp"
#include "serve/net/server.hpp"

using namespace ridge::net;

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // as in serve/main.cpp
  const std::vector<std::string> program(argv + 1, argv + argc);
  std::mutex mutex;
  std::vector<std::weak_ptr<EventStream>> streams;
  Server* running = nullptr;
  Limits limits;
  limits.connections = 60;
  limits.header_seconds = 1;
  limits.body_seconds = 1;
  limits.body_bytes = 100000;
  Site site;
  site.judge = [](const Request& in) -> Judged {
    if (in.header("x-known") == "1") return {std::nullopt, true};
    Response no;
    no.status = 403, no.body = "strangers are refused\n";
    return {std::move(no), false};
  };
  site.answer = [&](const Request& in) -> Response {
    Response out;
    out.body = fmt::format("{} {}\n", in.method, in.body.size());
    if (in.path == "/slow") std::this_thread::sleep_for(std::chrono::seconds(1));
    if (in.path == "/throw") throw std::runtime_error("a reason");
    if (in.path == "/events")
      out.type = "text/event-stream", out.stream = [&](const std::shared_ptr<EventStream>& s) {
        s->send("data: hello\n\n");
        std::lock_guard lock(mutex);
        streams.push_back(s);
      };
    if (in.path == "/relay") out.socket = [&](const std::shared_ptr<Socket>& s) { relay(running->loop(), s, program); };
    return out;
  };
  Server server(limits, site);
  running = &server;
  fmt::print("{}\n", server.listen("127.0.0.1", 0));
  std::fflush(stdout);
  std::atomic<bool> ends{false};
  std::thread tells([&] {
    const std::string event = "data: " + std::string(64 << 10, 'x') + "\n\n";
    while (!ends) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      std::lock_guard lock(mutex);
      for (const auto& s : streams)
        if (const auto open = s.lock()) open->send(event);
    }
  });
  server.run([] { return true; }, [] {});
  ends = true;
  tells.join();
}
