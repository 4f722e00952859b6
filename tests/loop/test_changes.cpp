// What changed between two attempts at a task.
#include "learn/attempts/changes.hpp"
#include "support/catch.hpp"

using namespace ridge;
using namespace ridge::loop;

namespace {

TaskResult task_that(const std::vector<CheckResult>& checks) {
  TaskResult t;
  t.id = "copy", t.checks = checks;
  return t;
}

std::string answer(const std::vector<CheckResult>& before, const std::vector<CheckResult>& after) {
  const auto all = changes(task_that(before), task_that(after));
  if (all.empty()) return "";
  REQUIRE(all.size() == 1);
  CHECK(all[0].what == "answer");
  return all[0].text;
}

}  // namespace

TEST_CASE("one line tells how the answer changed, whichever gate failed") {
  const CheckResult right{"correct", true, ""}, wrong{"correct", false, "m"}, race{"memory", false, "m"},
      error{"build", false, "m"};
  CHECK(answer({right}, {right}).empty());
  CHECK(answer({wrong}, {wrong}).empty());
  CHECK(answer({wrong}, {right}) == "wrong -> right");
  CHECK(answer({race}, {wrong}) == "none (memory failed) -> wrong");
  CHECK(answer({error}, {right}) == "does not compile -> right");
  CHECK(answer({right}, {error}) == "right -> does not compile");
}

TEST_CASE("counters that changed come by how much they did") {
  auto with = [](std::uint64_t loads, std::uint64_t stores, std::uint64_t barriers) {
    TaskResult t;
    KernelCount k;
    k.counters = {{"barriers", barriers}, {"loads", loads}, {"stores", stores}};
    t.kernels = {k};
    return t;
  };
  const auto lines = counter_changes(with(1000, 1000, 5), with(1100, 125, 5));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "stores: 1000 -> 125 (-88%)");
  CHECK(lines[1] == "loads: 1000 -> 1100 (+10%)");
}
