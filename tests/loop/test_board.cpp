// The leaderboard takes nothing that could break it or its page.
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "grader/base/error.hpp"
#include "serve/live/board.hpp"
#include "serve/live/board_file.hpp"
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

TEST_CASE("a team has the best of its members in each task") {
  Board b;
  const auto in_team = [](const std::string& name, double points, const std::string& task, const std::string& team) {
    json j = json::parse(sent(name, points, name + "-0123456789abcdef", task));
    j["team"] = team;
    return j.dump();
  };
  CHECK(b.take(in_team("Ada", 10, "copy", "Red")).empty());
  CHECK(b.take(in_team("Bob", 40, "copy", "Red")).empty());
  CHECK(b.take(in_team("Cy", 45, "gather", "Blue")).empty());
  CHECK(b.take(in_team("Ada", 30, "gather", "Red")).empty());
  CHECK(b.take(sent("Dee", 90)).empty());
  json j = json::parse(b.as_json());
  REQUIRE(j["teams"].size() == 2);
  CHECK(j["teams"][0] == json{{"name", "Red"}, {"members", 2}, {"points", 70}});
  CHECK(j["teams"][1] == json{{"name", "Blue"}, {"members", 1}, {"points", 45}});
  CHECK(b.take(in_team("Bob", 0, "copy", "Blue")).empty());  // who changes sides takes the points along
  j = json::parse(b.as_json());
  CHECK(j["teams"][0] == json{{"name", "Blue"}, {"members", 2}, {"points", 85}});
}

TEST_CASE("who is kicked is off the board, frees the name, and can come back") {
  Board b;
  std::string line;
  CHECK(b.take(sent("Ada", 10)).empty());
  CHECK_FALSE(b.kick("Eve", false));
  CHECK(b.kick("Ada", false, &line));
  CHECK_FALSE(b.kick("Ada", false));
  CHECK(json::parse(b.as_json())["players"].empty());
  CHECK(b.take(sent("Ada", 20)) == kKicked);
  CHECK(b.take(sent("Ada", 5, "fedcba9876543210")).empty());
  CHECK(json::parse(b.as_json())["players"][0]["name"] == "Ada");
  CHECK(b.kick("Ada", true));
  const json j = json::parse(b.as_json());
  REQUIRE(j["players"].size() == 2);
  CHECK(j["players"][0]["name"] == "Ada (2)");
  CHECK(j["players"][0]["points"] == 10);
}

TEST_CASE("a board's file rebuilds it, whatever a crash has left of the last line") {
  ridge::TemporaryDir dir("board");
  const ridge::fs::path file = dir.path() / "sub" / "board.jsonl";
  const std::string longest(kMostName, 'n');
  std::string before;
  {
    Board b;
    BoardFile kept(file);
    kept.set_keys("token-1", "host-1");
    CHECK(kept.load(b) == 0);
    CHECK_THROWS_AS(BoardFile(file), ridge::Error);  // one program at a time
    std::vector<std::thread> all;
    for (int t = 0; t < 8; ++t)
      all.emplace_back([&, t] {
        for (int i = 0; i < 40; ++i) {
          std::string line;
          if (b.take(sent(t == 7 ? longest : "p", i, "client-number-" + std::to_string(1000 + t)), &line).empty())
            if (!kept.add(line)) std::abort();
        }
      });
    for (std::thread& t : all) t.join();
    std::string line;
    for (int i = 0; i < 2; ++i) {
      b.take(sent(longest, 3, "long-name-number-" + std::to_string(i)), &line);
      CHECK(kept.add(line));
    }
    json red = json::parse(sent("Red one", 9, "red-0123456789abcdef"));
    red["team"] = "Red";
    b.take(red.dump(), &line);
    CHECK(kept.add(line));
    b.take(sent("Mallory", 99, "0123456789abcdef"), &line);
    CHECK(kept.add(line));
    CHECK(b.kick("Mallory", false, &line));
    CHECK(kept.add(line));
    line.clear();
    bool changed = true;
    CHECK(b.take(sent("p", 0, "client-number-1000"), &line, &changed).empty());
    CHECK_FALSE(changed);
    CHECK(kept.add(line));  // all the same: what is confirmed is in the file, whatever happened to an earlier line
    before = b.as_json();
  }
  for (const char* rest : {"", "{\"client\":\"0123", "{}\n", "\n\n"}) {
    std::ofstream(file, std::ios::app) << rest;
    Board b;
    BoardFile kept(file);
    CHECK(kept.token() == "token-1");
    CHECK(kept.host_key() == "host-1");
    kept.set_keys(kept.token(), kept.host_key());
    kept.load(b);
    const json now = json::parse(b.as_json()), then = json::parse(before);
    for (const char* part : {"labs", "teams"}) CHECK(now[part] == then[part]);
    std::map<std::string, json> a, c;
    for (const json& p : now["players"]) a[p["name"]] = p;
    for (const json& p : then["players"]) c[p["name"]] = p;
    CHECK(a == c);
    CHECK(b.take(sent("Mallory", 99, "0123456789abcdef")) == kKicked);
  }
  struct stat st {};
  CHECK((stat(file.c_str(), &st) == 0 && (st.st_mode & 0777) == 0600));
  {
    Board b;
    BoardFile kept(file, true);
    CHECK(kept.token().empty());
    kept.set_keys("t", "h");
    kept.load(b);
    CHECK(b.players() == 0);
  }
  std::ofstream(dir.path() / "other") << "mine";
  CHECK_THROWS_AS(BoardFile(dir.path() / "other"), ridge::Error);
}
