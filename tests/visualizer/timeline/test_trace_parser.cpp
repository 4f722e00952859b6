// Any text is a trace or an error that says what, where, and what to try; what was dropped is counted.
#include <filesystem>
#include <fstream>
#include <string>

#include "support/catch.hpp"
#include "support/run.hpp"
#include "timeline/reader/loader.hpp"

using namespace ridge::viz::timeline;

namespace {

bool noted(const EventStore& s, const std::string& text) {
  for (const auto& note : s.notes)
    if (note.find(text) != std::string::npos) return true;
  return false;
}

std::string why_not(const std::string& text) {
  try {
    (void)load_text(text);
  } catch (const TraceError& e) {
    return e.what();
  }
  return "";
}

std::string wrap(const std::string& events) { return "{\"traceEvents\": [" + events + "]}"; }

struct TemporaryFile {
  std::filesystem::path path;
  TemporaryFile(const std::string& name, const std::string& text)
      : path(std::filesystem::temp_directory_path() / ("ridge_timeline_" + std::to_string(::getpid()) + name)) {
    std::ofstream(path, std::ios::binary) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("complete events, numbers and texts in any of their forms") {
  const auto s = load_text(wrap(R"(
    {"ph": "X", "name": "a", "cat": "kernel", "pid": 3, "tid": "s7", "ts": 10.0005, "dur": "2.5", "args": {"bytes": 4096, "x": {"y": [1, "]"]}}},
    {"ph": "X", "name": "b\u00e9\n", "pid": "Spans", "tid": 1, "ts": "11", "dur": 1e-3},
    {"name": "c", "ph": "i", "ts": 12, "pid": 3, "tid": "s7", "s": "t"},)"));  // a ',' at the end, as Chrome allows
  REQUIRE(s.size() == 3);
  CHECK(s.processes.size() == 2);
  CHECK(s.lanes.size() == 2);
  CHECK(s.name_of(0) == "a");
  CHECK(s.begin[0] == 500);  // ps after 10 us: the first event's whole microseconds
  CHECK(s.duration[0] == 2'500'000);
  REQUIRE(s.detail(0) != nullptr);
  CHECK(s.detail(0)->bytes == 4096);
  CHECK(s.name_of(1) == "c");  // inside a, on its second row
  CHECK(s.row_of(1) == 1);
  CHECK(s.name_of(2) == "b\xC3\xA9 ");
  CHECK(s.duration[2] == 1000);
}

TEST_CASE("times of an epoch keep their picoseconds") {
  const auto s = load_text(wrap(
      R"({"ph":"X","name":"a","ts":1763826578123456.789,"dur":0.001},{"ph":"X","name":"b","ts":1763826578123457.7895,"dur":1})"));
  REQUIRE(s.size() == 2);
  CHECK(s.begin[1] - s.begin[0] == 1'000'500);
  CHECK(s.duration[0] == 1000);
}

TEST_CASE("begins and ends nest by thread; async ones by id; the unmatched are counted") {
  const auto s = load_text(wrap(R"(
    {"ph":"B","name":"outer","pid":1,"tid":1,"ts":0},{"ph":"B","name":"inner","pid":1,"tid":1,"ts":1},
    {"ph":"E","pid":1,"tid":1,"ts":3},{"ph":"E","pid":1,"tid":1,"ts":9},{"ph":"E","pid":1,"tid":1,"ts":10},
    {"ph":"b","cat":"q","id":"0x1","name":"one","pid":1,"ts":1},{"ph":"b","cat":"q","id":2,"name":"two","pid":1,"ts":2},
    {"ph":"e","cat":"q","id":2,"pid":1,"ts":20},{"ph":"e","cat":"q","id":"0x1","pid":1,"ts":4},
    {"ph":"B","name":"open","pid":1,"tid":2,"ts":5},{"ph":"D","ts":1},{"ph":"e","cat":"q","id":7,"pid":1,"ts":4})"));
  REQUIRE(s.size() == 5);
  CHECK(s.name_of(0) == "outer");
  CHECK(s.duration[0] == 9'000'000);
  CHECK(s.duration[1] == 2'000'000);
  CHECK(noted(s, "2 ends (E) without their begin"));
  CHECK(noted(s, "1 begins (B) without their end"));
  CHECK(noted(s, "1 events of phases that are not drawn"));
  for (std::size_t e = 0; e < s.size(); ++e) {
    if (s.name_of(e) == "open") CHECK(s.duration[e] == 15'000'000);
    if (s.name_of(e) == "two") CHECK(s.duration[e] == 18'000'000);
  }
}

TEST_CASE("names, order and ranks come from metadata; Kineto's top level is kept") {
  const auto s = load_text(R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "H200"}],
    "distributedInfo": {"backend": "nccl", "rank": 5, "world_size": 8}, "traceEvents": [
    {"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}},
    {"ph":"M","name":"process_labels","pid":1,"args":{"labels":"GPU 0"}},
    {"ph":"M","name":"process_sort_index","pid":1,"args":{"sort_index":9}},
    {"ph":"M","name":"process_sort_index","pid":0,"args":{"sort_index":2}},
    {"ph":"M","name":"thread_name","pid":1,"tid":7,"args":{"name":"stream 7"}},
    {"ph":"X","cat":"kernel","name":"ncclDevKernel","pid":1,"tid":7,"ts":1,"dur":1,
     "args":{"Collective name":"allreduce","In msg nelems":1000,"dtype":"BFloat16","Group size":8}},
    {"ph":"X","name":"x","pid":0,"tid":7,"ts":1,"dur":1}], "traceName": "t.json"})");
  REQUIRE(s.processes.size() == 2);
  CHECK(s.processes[1].name == "python");
  CHECK(s.processes[1].labels == "GPU 0");
  CHECK(s.files[0].rank == 5);
  CHECK(s.files[0].world == 8);
  CHECK(s.lanes[1].name == "stream 7");
  int of_nccl = 0;
  for (std::size_t e = 0; e < s.size(); ++e) of_nccl += s.category_of(e) == "nccl kernel";
  CHECK(of_nccl == 1);
  REQUIRE(s.details.size() == 1);
  CHECK(s.details[0].bytes == 2000);
}

TEST_CASE("counters") {
  const auto s = load_text(wrap(
      R"({"ph":"C","name":"mem","pid":1,"ts":2,"args":{"used":5,"free":7}},{"ph":"C","name":"mem","pid":1,"ts":1,"args":{"used":4}},
    {"ph":"C","name":"mem","pid":1,"ts":3,"args":{"used":"many"}})"));
  REQUIRE(s.counters.size() == 2);
  CHECK(s.counters[0].name == "mem: used");
  CHECK(s.counters[0].value == std::vector<double>{4, 5});
  CHECK(noted(s, "1 counter values"));
}

TEST_CASE("wrong types and impossible numbers cost one event each") {
  const auto s = load_text(wrap(R"(
    {"ph":"X","name":"good","ts":1,"dur":1}, 7, null, "text", [1,2],
    {"ph":"X","name":"n","ts":NaN,"dur":1}, {"ph":"X","name":"n","ts":Infinity,"dur":1}, {"ph":"X","name":"n","ts":"soon","dur":1},
    {"ph":"X","name":"n","ts":{"a":1},"dur":1}, {"ph":"X","name":"n","dur":1}, {"ph":"X","name":"negative","ts":2,"dur":-5},
    {"ph":"X","name":"none","ts":3,"dur":NaN}, {"ph":"X","name":"far","ts":1e300,"dur":1e300}, {"ph":5,"name":"n","ts":1},
    {"ph":"XX","ts":1}, {}, {"ph":"X","name":["x"],"ts":4,"dur":1,"pid":{"a":1},"tid":[2],"cat":{},"args":[1,2]},
    {"ph":"X","name":"very far","ts":-99999999999999999999999,"dur":1})"));
  CHECK(s.size() == 6);
  CHECK(noted(s, "5 events without a time"));
  CHECK(noted(s, "4 elements of traceEvents are no objects"));
  CHECK(noted(s, "1 durations were negative"));
  CHECK(noted(s, "1 events (X) without a duration"));
  CHECK(noted(s, "46 days"));
  for (std::size_t e = 0; e < s.size(); ++e) CHECK(s.duration[e] >= 0);
}

TEST_CASE("a broken file shows what came before, and says where it broke") {
  const std::string good = R"({"ph":"X","name":"a","ts":1,"dur":1})";
  for (const std::string end :
       {",{\"ph\":\"X\",\"na", ",", "", ",{\"ph\":\"X\",\"ts\":12", ",\"text without end", ",{\"args\":{\"a\":[[[["}) {
    const auto s = load_text("{\"traceEvents\":[" + good + end);
    CHECK(s.size() == 1);
    CHECK(noted(s, "the file ends in the middle of a value at byte " + std::to_string(16 + good.size() + end.size())));
  }
  CHECK(noted(load_text("[" + good + " " + good + "]"), "',' or ']' is missing behind an event at byte"));
  CHECK(noted(load_text("[" + good + ",{\"ph\" \"X\"}]"), "':' is missing"));
  CHECK(noted(load_text("[" + good + ",{ph:1}]"), "in quotes"));
}

TEST_CASE("what is no trace is refused with what, where and what to try") {
  for (const std::string text : {"", "   ", "7", "null", "{", "[", "{\"a\":1}", "{\"traceEvents\":7}",
                                 "{\"traceEvents\":{}}", "PK\x03\x04", "[}", "{\"traceEvents\"", "\xFF\xFE{", "]"}) {
    CAPTURE(text);
    const std::string why = why_not(text);
    if (text == "[}") CHECK(std::string(why).find("byte 1") != std::string::npos);
    CHECK(std::string(why).find("byte") != std::string::npos);
    CHECK(std::string(why).find("try:") != std::string::npos);
  }
  CHECK(load_text("[]").size() == 0);
  CHECK(load_text("{\"traceEvents\":[]}").size() == 0);
  CHECK_THROWS_AS(load_traces({"/nonexistent/trace.json"}), TraceError);
  CHECK_THROWS_AS(load_traces({std::filesystem::temp_directory_path()}), TraceError);
}

TEST_CASE("depth, length and bytes that are no text") {
  const std::string deep(200000, '['), closed(200000, ']');
  const std::string huge(10 << 20, 'h');
  const auto s = load_text("[{\"ph\":\"X\",\"name\":\"" + huge + "\",\"ts\":1,\"dur\":1,\"args\":{\"deep\":" + deep +
                           closed + "}},{\"ph\":\"X\",\"name\":\"\xC3\x28\xFF \\ud800 \\q\",\"ts\":2,\"dur\":1}]");
  REQUIRE(s.size() == 2);
  CHECK(s.name_of(0).size() == StringTable::kMost);
  CHECK(s.name_of(1).find('\xFF') == std::string::npos);
  const std::string zeros("[{\"ph\":\"X\",\"name\":\"a\0b\",\"ts\":1,\"dur\":1}\0,]", 41);
  CHECK(load_text(zeros).size() == 1);
  CHECK(why_not("[" + std::string(100000, '{')).find("byte 2") != std::string::npos);
}

TEST_CASE("events that lie across the reader's pieces are whole") {
  std::string text = "[";
  const std::size_t count = 120000;  // more than two pieces of 4 MiB
  for (std::size_t i = 0; i < count; ++i)
    text += (i > 0 ? ",\n" : "") + std::string("{\"ph\":\"X\",\"name\":\"event ") + std::to_string(i % 97) +
            "\",\"cat\":\"kernel\",\"ts\":" + std::to_string(i) +
            ".5,\"dur\":0.25,\"pid\":0,\"tid\":" + std::to_string(i % 3) + ",\"args\":{\"bytes\":" + std::to_string(i) +
            "}}";
  text += "]";
  REQUIRE(text.size() > (9U << 20));
  const auto s = load_text(text);
  REQUIRE(s.size() == count);
  CHECK(s.notes.empty());
  double bytes = 0;
  for (const auto& d : s.details) bytes += d.bytes;
  CHECK(bytes == 0.5 * static_cast<double>(count) * static_cast<double>(count - 1));
  for (std::size_t e = 0; e < s.size(); e += 1013) CHECK(text.compare(s.offset(e), 12, "{\"ph\":\"X\",\"n") == 0);
}

TEST_CASE("args are read again from the file; several files are one trace by rank; the loader reports and stops") {
  const TemporaryFile a(
      "a.json",
      R"({"distributedInfo":{"rank":1},"traceEvents":[{"ph":"X","name":"one","pid":7,"tid":1,"ts":5,"dur":1,"args":{"grid":[1,2,3],"to":"x\"y"},"extra":4}]})");
  const TemporaryFile b(
      "b.json",
      R"({"distributedInfo":{"rank":0},"traceEvents":[{"ph":"X","name":"two","pid":7,"tid":1,"ts":6,"dur":1}]})");
  const auto s = load_traces({a.path, b.path});
  REQUIRE(s.size() == 2);
  REQUIRE(s.processes.size() == 2);
  CHECK(s.name_of(0) == "two");  // rank 0 first
  CHECK(s.begin[0] == 1'000'000);
  const std::vector<std::pair<std::string, std::string>> expected{{"grid", "[1,2,3]"}, {"to", "x\"y"}, {"extra", "4"}};
  CHECK(arguments_of(s, 1) == expected);
  std::ofstream(a.path) << "short";
  CHECK_FALSE(arguments_of(s, 1).empty());

  Loader loader({b.path});
  loader.wait();
  CHECK(loader.done());
  CHECK(loader.fraction() == 1);
  REQUIRE(loader.take() != nullptr);
  Loader none({"/nonexistent"});
  none.wait();
  CHECK(none.take() == nullptr);
  CHECK(std::string(none.error()).find("try:") != std::string::npos);
}

TEST_CASE("arrows of several files with the same ids are not mixed up") {
  const auto text = [](int rank, int from) {
    return R"({"distributedInfo":{"rank":)" + std::to_string(rank) +
           R"(},"traceEvents":[{"ph":"X","name":"launch","pid":7,"tid":1,"ts":)" + std::to_string(from) +
           R"(,"dur":2},{"ph":"X","name":"kernel","pid":0,"tid":9,"ts":)" + std::to_string(from + 10) +
           R"(,"dur":2},{"ph":"s","cat":"ac2g","id":5,"pid":7,"tid":1,"ts":)" + std::to_string(from) +
           R"(},{"ph":"f","bp":"e","cat":"ac2g","id":5,"pid":0,"tid":9,"ts":)" + std::to_string(from + 10) + "}]}";
  };
  const TemporaryFile a("c.json", text(0, 100)), b("d.json", text(1, 105));
  const auto s = load_traces({a.path, b.path});
  REQUIRE(s.arrows.size() == 2);
  CHECK(s.notes.empty());
  for (const auto& arrow : s.arrows) CHECK(arrow.to_time - arrow.from_time == 10'000'000);
}

#ifdef RIDGE_VIZ_ZLIB
TEST_CASE("two ranks as PyTorch's profiler writes them") {
  const std::filesystem::path folder = std::filesystem::path(ridge::test::repository()) / "benchmarks/visualizer";
  const auto s = load_traces({folder / "torch_ddp.0.json.gz", folder / "torch_ddp.1.json.gz"});
  CHECK(s.size() == 15'094);
  CHECK(s.arrows.size() == 2 * 1422);  // counted from the files with Python's json
  CHECK(noted(s, "908 ends of arrows have no other end"));
}
#endif
