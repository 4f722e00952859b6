// The leaderboard takes nothing that could break it or its page.
#include <nlohmann/json.hpp>

#include "board.hpp"
#include "connections.hpp"
#include "support/catch.hpp"

using namespace ridge::live;
using nlohmann::json;

namespace {

std::string sent(const std::string& name, double points, const std::string& client = "0123456789abcdef",
                 const std::string& task = "copy") {
  return json{{"name", name},
              {"client", client},
              {"lab", "01_coalescing"},
              {"tasks", {{{"id", task}, {"points", points}, {"max", 100}}}}}
      .dump();
}

}  // namespace

TEST_CASE("a board sums the best of each task, the most points first") {
  Board b;
  CHECK(b.take(sent("Ada", 10)).empty());
  CHECK(b.take(sent("Ada", 5)).empty());
  CHECK(b.take(sent("Ada", 7, "0123456789abcdef", "gather")).empty());
  CHECK(b.take(sent("Bob", 30, "fedcba9876543210")).empty());
  CHECK(b.take(sent("Ada", 1, "another-laptop-01")).empty());
  const json j = json::parse(b.as_json());
  REQUIRE(j["players"].size() == 3);
  CHECK(j["players"][0]["name"] == "Bob");
  CHECK(j["players"][1]["name"] == "Ada");
  CHECK(j["players"][1]["points"] == 17);
  CHECK(j["players"][2]["name"] == "Ada (2)");  // a name is whose laptop sent it first
}

TEST_CASE("hostile results are refused, hostile names are one short line") {
  Board b;
  for (const std::string& bad :
       {std::string(""), std::string("[]"), std::string("{"), std::string(20000, ' '), sent("", 1), sent("x", -1),
        sent("x", 1e9), sent("x", 1, "short"), sent("x", 1, "0123456789abcdef", "../x"),
        std::string(R"({"name":5,"client":[],"lab":{}})"), std::string(5000, '[')})
    CHECK_FALSE(b.take(bad).empty());
  json j = json::parse(sent("x", 1));
  j["tasks"] = json::array();
  for (int i = 0; i < 17; ++i) j["tasks"].push_back({{"id", "t"}, {"points", 1}, {"max", 1}});
  CHECK_FALSE(b.take(j.dump()).empty());
  CHECK(json::parse(b.as_json())["players"].empty());
  CHECK(b.take(sent("<img src=x>\n\033[2J\u202e" + std::string(100, 'y'), 1)).empty());
  const std::string name = json::parse(b.as_json())["players"][0]["name"];
  CHECK(name.find('\n') == std::string::npos);
  CHECK(name.find('\033') == std::string::npos);
  CHECK(name.find("\u202e") == std::string::npos);
  CHECK(name.size() <= 3 * kMostName);
  for (std::size_t i = 0; i < kMostPlayers + 10; ++i)
    b.take(sent("p", 1, "client-number-" + std::to_string(100000 + i)));
  CHECK(json::parse(b.as_json())["players"].size() == kMostPlayers);
}

TEST_CASE("a sender may ask so often and no more, and others are not held up by that") {
  RateLimit limit(3, 1);
  const auto t = Board::Clock::now();
  for (int i = 0; i < 3; ++i) CHECK(limit.allows("a", t));
  CHECK_FALSE(limit.allows("a", t));
  CHECK(limit.allows("b", t));
  CHECK(limit.allows("a", t + std::chrono::seconds(1)));
  CHECK_FALSE(limit.allows("a", t + std::chrono::seconds(1)));
  CHECK(same_token("abc", "abc"));
  CHECK_FALSE(same_token("abc", "abd"));
  CHECK_FALSE(same_token("abc", "ab"));
  CHECK_FALSE(same_token("", "abc"));
  CHECK_FALSE(same_token("abc", ""));
}

TEST_CASE("old connections end, and the oldest of too many") {
  Connections c(10, 3);
  const auto start = Connections::Clock::now();
  auto at = [&](int seconds) { return start + std::chrono::seconds(seconds); };
  CHECK(c.overdue({{5, "a 1"}}, at(0)).empty());
  CHECK(c.overdue({{5, "a 1"}, {6, "a 2"}}, at(9)).empty());
  CHECK(c.overdue({{5, "a 1"}, {6, "a 2"}}, at(11)) == std::vector<int>{5});
  CHECK(c.overdue({{5, "b 1"}, {6, "a 2"}}, at(12)).empty());  // the number is another connection's now
  CHECK(c.overdue({{5, "b 1"}, {6, "a 2"}, {7, "a 3"}, {8, "a 4"}}, at(13)) == std::vector<int>{6});
}
