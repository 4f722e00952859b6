// The check that runs beside the server.
#include <system_error>

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
