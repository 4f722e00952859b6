// The check that runs beside the server.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <system_error>
#include <thread>

#include "grader/sandbox/process.hpp"
#include "serve/check_run.hpp"
#include "support/catch.hpp"

using namespace ridge::serve;

TEST_CASE("a check that gets no thread does not seem to run") {
  bool may = false;
  CheckRun run(
      "/bin/false", [](const std::string&, const nlohmann::json&) {},
      [&](std::function<void()> work) {
        if (!may) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
        return std::thread(std::move(work));
      });
  CHECK_THROWS_AS(run.start("01_coalescing", ""), std::system_error);
  CHECK(run.state().at("running") == false);
  may = true;
  CHECK(run.start("01_coalescing", ""));
}

TEST_CASE("the state is told while a check waits for the end of the one before") {
  std::promise<void> told, goes_on;
  const std::shared_future<void> may(goes_on.get_future());
  std::atomic<int> ends{0};
  CheckRun run("/bin/true", [&](const std::string& kind, const nlohmann::json&) {
    if (kind != "ended" || ++ends > 1) return;
    told.set_value();
    may.wait();
  });
  REQUIRE(run.start("01_coalescing", ""));
  told.get_future().wait();
  auto next = std::async(std::launch::async, [&] { return run.start("01_coalescing", ""); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // in which it comes to wait
  auto state = std::async(std::launch::async, [&] { return run.state(); });
  CHECK(state.wait_for(std::chrono::seconds(5)) == std::future_status::ready);
  goes_on.set_value();
  CHECK(next.get());
}

TEST_CASE("a child has no handler of the server's, and none of its ignored signals but the user's") {
  const auto caught = [](int number, void (*what)(int)) { return std::signal(number, what); };
  const auto xfsz = caught(SIGXFSZ, SIG_IGN), term = caught(SIGTERM, [](int) {});
  const pid_t pid = ridge::fork_child();
  if (pid == 0) {
    const auto is_default = [](int number) {
      struct sigaction is;
      return sigaction(number, nullptr, &is) == 0 && is.sa_handler == SIG_DFL;
    };
    _exit(is_default(SIGXFSZ) && is_default(SIGTERM) ? 0 : 1);
  }
  CHECK(ridge::wait_child(pid) == 0);
  caught(SIGXFSZ, xfsz), caught(SIGTERM, term);
}

TEST_CASE("a stop right behind the start reaches the check, and not the server") {
  static volatile std::sig_atomic_t heard = 0;
  int shared[2];  // as asio's handler does, this one writes into a pipe that a child has, too
  REQUIRE(pipe2(shared, O_CLOEXEC | O_NONBLOCK) == 0);
  heard = shared[1];
  const auto term = std::signal(SIGTERM, [](int) { [[maybe_unused]] const auto n = write(heard, "x", 1); });
  for (int i = 0; i < 40; ++i) {
    CheckRun run("/bin/true", [](const std::string&, const nlohmann::json&) {});
    REQUIRE(run.start("01_coalescing", ""));
    run.stop();
  }
  char byte = 0;
  CHECK(read(shared[0], &byte, 1) < 0);
  std::signal(SIGTERM, term);
  close(shared[0]), close(shared[1]);
}
