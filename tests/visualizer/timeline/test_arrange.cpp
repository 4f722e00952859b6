// Lanes, rows and arrows: what overlaps lies in other rows, what is contained lies below, nothing is lost.
#include <map>
#include <random>
#include <set>
#include <string>

#include "support/catch.hpp"
#include "timeline/reader/loader.hpp"

using namespace ridge::viz::timeline;

namespace {

std::string event(const std::string& name, int tid, long ts, long duration) {
  return "{\"ph\":\"X\",\"name\":\"" + name + "\",\"pid\":0,\"tid\":" + std::to_string(tid) +
         ",\"ts\":" + std::to_string(ts) + ",\"dur\":" + std::to_string(duration) + "}";
}

void check_rows(const EventStore& s) {
  std::size_t events = 0;
  for (const Row& row : s.rows)
    for (std::uint32_t e = row.first; e < row.last; ++e) {
      ++events;
      CHECK(s.row_of(e) == static_cast<std::uint32_t>(&row - s.rows.data()));
      if (e > row.first) CHECK(s.begin[e] >= s.end(e - 1));
    }
  CHECK(events == s.size());
}

}  // namespace

TEST_CASE("random events: rows hold none that overlap, the contained lie below, all are there") {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::string text = "[";
    const int count = 1 + static_cast<int>(random() % 120);
    std::multiset<std::pair<long, long>> expected;
    for (int i = 0; i < count; ++i) {
      const long ts = static_cast<long>(random() % 300),
                 duration = static_cast<long>(random() % (random() % 4 == 0 ? 200 : 20));
      expected.emplace(ts, duration);
      text += (i > 0 ? "," : "") + event("e", static_cast<int>(random() % 3), ts, duration);
    }
    const auto s = load_text(text + "]");
    check_rows(s);
    std::multiset<std::pair<long, long>> got;
    Time zero = 0;
    for (std::size_t e = 0; e < s.size(); ++e) zero = std::min(zero, s.begin[e]);
    const long least = expected.begin()->first;
    for (std::size_t e = 0; e < s.size(); ++e)
      got.emplace((s.begin[e] - zero) / 1'000'000 + least, s.duration[e] / 1'000'000);
    CHECK(got == expected);
    for (const Lane& lane : s.lanes)
      for (std::uint32_t r = lane.first_row; r < lane.first_row + lane.rows; ++r)
        for (std::uint32_t e = s.rows[r].first; e < s.rows[r].last; ++e)
          for (std::uint32_t q = lane.first_row; q < lane.first_row + lane.rows; ++q)
            for (std::uint32_t o = s.rows[q].first; o < s.rows[q].last; ++o)
              if (s.begin[o] < s.begin[e] && s.end(o) > s.end(e)) CHECK(q < r);
  }
}

TEST_CASE("neighbours that overlap by rounding stay in one row; real overlap does not") {
  const auto s = load_text(
      R"([{"ph":"X","name":"a","ts":0,"dur":1.0004},{"ph":"X","name":"b","ts":1.0003,"dur":2},{"ph":"X","name":"c","ts":2.9,"dur":2}])");
  REQUIRE(s.lanes[0].rows == 2);
  CHECK(s.rows[0].last - s.rows[0].first == 2);
  CHECK(s.duration[0] == 1'000'300);
  check_rows(s);
}

TEST_CASE("thousands that overlap share the last row, and a note says so") {
  std::string text = "[";
  for (int i = 0; i < 700; ++i) text += (i > 0 ? "," : "") + event("e", 0, i, 1000 + i);
  const auto s = load_text(text + "]");
  CHECK(s.size() == 700);
  CHECK(s.lanes[0].rows == 512);
  REQUIRE(s.notes.size() == 1);
  CHECK(s.notes[0].find("188 events overlap") == 0);
}

TEST_CASE("arrows join the events around their ends") {
  const auto s = load_text(R"([
    {"ph":"X","name":"launch","pid":0,"tid":0,"ts":0,"dur":5},{"ph":"X","name":"inner","pid":0,"tid":0,"ts":1,"dur":2},
    {"ph":"X","name":"kernel","pid":1,"tid":7,"ts":10,"dur":5},{"ph":"X","name":"next","pid":1,"tid":7,"ts":20,"dur":5},
    {"ph":"s","cat":"ac2g","id":4,"pid":0,"tid":0,"ts":2},{"ph":"f","bp":"e","cat":"ac2g","id":4,"pid":1,"tid":7,"ts":10},
    {"ph":"s","cat":"other","id":4,"pid":0,"tid":0,"ts":4},{"ph":"t","cat":"other","id":4,"pid":1,"tid":7,"ts":12},{"ph":"f","cat":"other","id":4,"pid":1,"tid":7,"ts":16},
    {"ph":"s","cat":"x","id":9,"pid":0,"tid":0,"ts":2},{"ph":"f","cat":"y","id":9,"pid":0,"tid":0,"ts":3},
    {"ph":"X","name":"out","pid":0,"tid":3,"ts":30,"dur":1,"bind_id":"0x7","flow_out":true},{"ph":"X","name":"in","pid":0,"tid":4,"ts":40,"dur":1,"bind_id":"0x7","flow_in":true}])");
  std::map<std::string, std::string> joined;
  for (const Arrow& a : s.arrows) {
    REQUIRE(a.from != kNone);
    REQUIRE(a.to != kNone);
    joined[std::string(s.name_of(a.from)) + "@" + std::to_string(a.from_time / 1'000'000)] = s.name_of(a.to);
  }
  const std::map<std::string, std::string> expected{
      {"inner@2", "kernel"}, {"launch@4", "kernel"}, {"kernel@12", "next"}, {"out@30", "in"}};
  CHECK(joined == expected);
  REQUIRE(s.notes.size() == 1);
  CHECK(s.notes[0].find("2 ends of arrows") == 0);
}
