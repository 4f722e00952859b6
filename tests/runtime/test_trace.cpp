// The writer of traces: whatever the names hold, a reader of JSON gets them back.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "formats/trace_writer.hpp"
#include "support/catch.hpp"

using nlohmann::json;
using ridge::TraceArguments;
using ridge::TraceWriter;

namespace {

json events_of(const TraceWriter& writer) { return json::parse(writer.text())["traceEvents"]; }

json of_phase(const TraceWriter& writer, const std::string& phase) {
  json found = json::array();
  for (const json& e : events_of(writer))
    if (e["ph"] == phase) found.push_back(e);
  return found;
}

}  // namespace

TEST_CASE("trace: strings of any bytes are JSON") {
  for (const char* good : {"", "plain", "a \"quoted\" \\ name", "tab\tnewline\n\x01\x7F", "h\xC3\xA9\xE2\x82\xAC",
                           "\xF0\x9F\x98\x80", "template<int, 3>"})
    CHECK(json::parse(ridge::json_string(good)) == std::string(good));
  CHECK(json::parse(ridge::json_string(std::string("a\0b", 3))) == std::string("a\0b", 3));
  // Alone, cut off, too long a form, a surrogate, beyond the last character.
  for (const char* bad :
       {"\x80", "\xFF", "\xC3", "\xE2\x82", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80"})
    CHECK(json::parse(ridge::json_string(bad)) == std::string(std::string(bad).size(), '?'));
  CHECK(json::parse(ridge::json_string("\xC3(")) == "?(");
  unsigned state = 1;
  for (int n = 0; n < 2000; ++n) {
    std::string any;
    for (int i = 0; i < 12; ++i) any += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    CHECK(json::accept(ridge::json_string(any)));
  }
}

TEST_CASE("trace: an empty one is valid") {
  const json j = json::parse(TraceWriter().text());
  CHECK(j["traceEvents"].empty());
  CHECK(j["otherData"]["left_out"] == 0);
}

TEST_CASE("trace: names come first, then boxes by time, the outer before the inner") {
  TraceWriter w;
  w.box({0, 2}, "late", "kernel", 3e-6, 4e-6);
  w.name_process(0, "a \"device\"");
  w.name_track({0, 2}, "stream 2");
  w.box({0, 2}, "inner", "kernel", 1e-6, 1.5e-6);
  w.box({0, 2}, "outer", "graph", 1e-6, 2e-6, TraceArguments().number("bytes", 4294967297.0).shape("grid", 4, 2, 1));
  w.box({0, 1}, "first", "kernel", 0, 5e-6, TraceArguments().flag("pageable", true).text("engine", "H2D"));
  const json events = events_of(w);
  REQUIRE(events.size() == 7);
  CHECK(events[0]["name"] == "process_name");
  CHECK(events[0]["args"]["name"] == "a \"device\"");
  CHECK(events[1]["name"] == "thread_name");
  CHECK(events[1]["tid"] == 2);
  CHECK(events[1]["args"]["name"] == "stream 2");
  CHECK(events[2]["name"] == "thread_sort_index");
  CHECK(events[2]["args"]["sort_index"] == 2);
  const char* const order[] = {"first", "outer", "inner", "late"};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(events[3 + i]["ph"] == "X");
    CHECK(events[3 + i]["name"] == order[i]);
  }
  const json &first = events[3], &outer = events[4];
  CHECK(first["ts"] == 0.0);
  CHECK(first["dur"] == 5.0);  // microseconds
  CHECK(first["args"]["pageable"] == true);
  CHECK(first["args"]["engine"] == "H2D");
  CHECK(outer["cat"] == "graph");
  CHECK(outer["args"]["bytes"] == 4294967297);
  CHECK(outer["args"]["grid"] == "4x2x1");
}

TEST_CASE("trace: an arrow has two ends of one number") {
  TraceWriter w;
  w.arrow({0, 1}, 2e-6, {0, 2}, 3e-6, "dependency");
  w.arrow({0, 1}, 4e-6, {0, 3}, 4e-6, "dependency");
  const json from = of_phase(w, "s"), to = of_phase(w, "f");
  REQUIRE(from.size() == 2);
  REQUIRE(to.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) CHECK(from[i]["id"] == to[i]["id"]);
  CHECK(from[0]["id"] != from[1]["id"]);
  CHECK(from[0]["tid"] == 1);
  CHECK(to[0]["tid"] == 2);
  CHECK(to[0]["bp"] == "e");
}

TEST_CASE("trace: what is left out is said") {
  TraceWriter w(3);
  for (int i = 0; i < 5; ++i) w.box({0, 1}, "k", "kernel", i, i + 1);
  w.leave_out(10);
  CHECK(w.left_out() == 12);
  const json j = json::parse(w.text(TraceArguments().text("task", "x")));
  CHECK(j["otherData"]["left_out"] == 12);
  CHECK(j["otherData"]["task"] == "x");
  CHECK(of_phase(w, "X").size() == 3);
  const json labels = of_phase(w, "M");
  REQUIRE(labels.size() == 1);
  CHECK(labels[0]["name"] == "process_labels");
  CHECK(labels[0]["args"]["labels"] == "12 events are left out");
}

TEST_CASE("trace: odd times are numbers all the same") {
  const double infinite = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
  TraceWriter w;
  w.box({0, 1}, "a", "kernel", none, infinite, TraceArguments().number("x", none));
  w.box({0, 1}, "b", "kernel", 2, 1);
  w.box({0, 1}, "c", "kernel", 1e300, -1e300);
  w.box({0, 1}, "d", "kernel", -infinite, infinite);
  const json boxes = of_phase(w, "X");
  REQUIRE(boxes.size() == 4);
  for (const json& e : boxes) {
    CHECK(e["ts"].is_number());
    CHECK(e["dur"].get<double>() >= 0);
  }
}
