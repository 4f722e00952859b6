// Which bytes an operation touched: ranges against a set of bytes, conflicts; and races between streams.
#include <cstring>
#include <random>
#include <set>
#include <string>

#include "src/count/footprint.hpp"
#include "src/device/memory.hpp"
#include "src/stream/schedule.hpp"
#include "support/catch.hpp"

using namespace ridge::simt;

TEST_CASE("footprint: ranges hold what was added, and little else") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Ranges ranges;
    std::set<std::uintptr_t> bytes;
    const int adds = 1 + static_cast<int>(random() % 60);
    for (int i = 0; i < adds; ++i) {
      const std::uintptr_t begin = 1000 + random() % 500, end = begin + 1 + random() % 16;
      ranges.add(begin, end);
      for (std::uintptr_t b = begin; b < end; ++b) bytes.insert(b);
    }
    for (std::uintptr_t b = 990; b < 1530; ++b) {
      Ranges one;
      one.add(b, b + 1);
      CHECK((ranges.common(one) != 0) == (bytes.count(b) != 0));
      CHECK(ranges.common(one) == one.common(ranges));
    }
  }
}

TEST_CASE("footprint: many pieces become fewer that still cover them") {
  Ranges ranges;
  for (std::uintptr_t i = 0; i < 1000; ++i) ranges.add(1000 + i * 100, 1010 + i * 100);
  CHECK(ranges.size() <= Ranges::kMost);
  for (std::uintptr_t i = 0; i < 1000; ++i) {
    Ranges one;
    one.add(1005 + i * 100, 1006 + i * 100);
    CHECK(ranges.common(one) != 0);
  }
}

TEST_CASE("footprint: writers conflict with all, atomics not with each other") {
  Footprint reads, writes, atomics, elsewhere;
  reads.read.add(100, 200);
  writes.written.add(199, 300);
  atomics.atomic.add(150, 250);
  elsewhere.written.add(300, 400);
  CHECK(reads.conflict(writes) == 199);
  CHECK(writes.conflict(reads) == 199);
  CHECK(reads.conflict(reads) == 0);
  CHECK(writes.conflict(writes) == 199);
  CHECK(atomics.conflict(atomics) == 0);
  CHECK(atomics.conflict(reads) == 150);
  CHECK(writes.conflict(elsewhere) == 0);
}

namespace {

struct Touch {
  int stream;
  std::uintptr_t read, written;
  std::vector<std::uint64_t> after;
};

// Operations that touch 10 bytes each, in the order of issue; `host_waits_for`: before the last one.
std::string race_of(const std::vector<Touch>& ops, std::vector<std::uint64_t> host_waits_for = {},
                    bool waits_for_nothing = false) {
  ScheduleBuilder b;
  if (waits_for_nothing) {
    trace::Step s{};
    s.stream = 2;
    std::strncpy(s.name, trace::kWaitsForNothing, sizeof s.name - 1);
    b.step(s, {});
  }
  for (std::size_t i = 0; i < ops.size(); ++i) {
    Operation op;
    op.work.kind = WorkKind::kernel;
    op.footprint = std::make_shared<Footprint>();
    if (ops[i].read != 0) op.footprint->read.add(ops[i].read, ops[i].read + 10);
    if (ops[i].written != 0) op.footprint->written.add(ops[i].written, ops[i].written + 10);
    b.ran(i, "kernel" + std::to_string(i), std::move(op));
    if (i + 1 == ops.size() && !host_waits_for.empty()) {
      trace::Step wait{};
      wait.is_wait = 1;
      b.step(wait, host_waits_for);
    }
    trace::Step s{};
    s.number = i + 1;
    s.stream = static_cast<std::uint32_t>(ops[i].stream);
    b.step(s, ops[i].after);
  }
  return b.race();
}

}  // namespace

TEST_CASE("race between streams: only what nothing orders") {
  CHECK(
      race_of({{1, 0, 100, {}}, {2, 100, 200, {}}}) ==
      "kernel1 in stream 2, called after kernel0 in stream 1, does not wait for it, and it reads what the earlier one "
      "writes. If it belongs behind the earlier one, order the two by an event, or put both into one stream; if it "
      "belongs before, call it first; if they should share no memory, an index is wrong");
  CHECK(race_of({{1, 0, 100, {}}, {2, 100, 200, {0}}}).empty());                      // an event
  CHECK(race_of({{1, 0, 100, {}}, {3, 0, 0, {0}}, {2, 100, 200, {1}}}).empty());      // by way of a third
  CHECK(race_of({{1, 0, 100, {}}, {2, 100, 200, {}}}, {0}).empty());                  // the host waited
  CHECK(race_of({{1, 0, 100, {}}, {3, 0, 0, {0}}, {2, 100, 200, {}}}, {1}).empty());  // for what came after
  CHECK_FALSE(race_of({{1, 0, 100, {}}, {3, 0, 0, {}}, {2, 100, 200, {}}}, {1}).empty());
  CHECK(race_of({{1, 100, 300, {}}, {2, 100, 200, {}}}).empty());    // both read
  CHECK(race_of({{1, 0, 100, {}}, {2, 110, 200, {}}}).empty());      // neighbours
  CHECK_FALSE(race_of({{1, 0, 100, {}}, {0, 0, 105, {}}}).empty());  // both write
}

TEST_CASE("race between streams: the shared bytes are those of the buffer") {
  Footprint a, b;
  a.written.add(100, 200), a.written.add(300, 400);
  b.read.add(180, 320), b.atomic.add(390, 500);
  const Ranges shared = a.conflicts(b);
  REQUIRE(shared.size() == 3);
  CHECK((shared.all()[0].begin == 180 && shared.all()[0].end == 200));
  CHECK((shared.all()[2].begin == 390 && shared.all()[2].end == 400));

  void* buffer = DeviceMemory::instance().allocate(64, MemoryKind::device);
  const auto at = reinterpret_cast<std::uintptr_t>(buffer);
  auto told = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  CHECK(told(race_of({{1, 0, at + 12, {}}, {2, at + 12, 0, {}}}),
             "it reads what the earlier one writes: bytes 12 to 21 of a buffer of 64 bytes. If it"));
  CHECK(
      told(race_of({{1, 0, at + 12, {}}, {2, at + 16, 0, {}}}),
           "bytes 16 to 21 of a buffer of 64 bytes. The later one touches bytes 16 to 25, the earlier one bytes 12 to "
           "21, which overlap only in part: is an index or a size wrong?"));
  DeviceMemory::instance().free(buffer);
}

TEST_CASE("race between streams: copies are named by their calls, and the call's stream as its argument") {
  ScheduleBuilder b;
  auto step = [&](const char* name, std::uint64_t number, int stream) {
    trace::Step s{};
    s.number = number, s.stream = static_cast<std::uint32_t>(stream);
    std::strncpy(s.name, name, sizeof s.name - 1);
    b.step(s, {});
  };
  step(trace::kCallBegins, 9, 1);
  for (const std::uint64_t n : {1, 2}) {
    Operation op;
    op.work.kind = WorkKind::copy;
    op.footprint = std::make_shared<Footprint>();
    op.footprint->written.add(100, 200);
    b.ran(n - 1, "cudaMemcpy", std::move(op));
    step("cudaMemcpyAsync", n, static_cast<int>(n));
  }
  CHECK(b.race().find(
            "cudaMemcpyAsync in stream 2, called after cudaMemcpyAsync in stream 1, the argument `stream`, does not") ==
        0);
}

TEST_CASE("race between streams: a wait for an event that was never recorded is named beside it") {
  const std::vector<Touch> racing = {{1, 0, 100, {}}, {2, 100, 200, {}}},
                           ordered = {{1, 0, 100, {}}, {2, 100, 200, {0}}};
  const std::string text = "cudaStreamWaitEvent waits for an event that was not recorded before";
  CHECK(race_of(racing, {}, true).find(text) != std::string::npos);
  CHECK(race_of(racing).find(text) == std::string::npos);
  CHECK(race_of(ordered, {}, true).empty());
}

namespace {

// Kernels write 10 bytes at 100 in streams of their own; `waits`: steps without work before the last kernel.
struct Idle {
  int stream;
  std::vector<std::uint64_t> after;  // empty: of an event that was never recorded
};
std::string race_with(std::vector<Idle> waits) {
  ScheduleBuilder b;
  auto kernel = [&](std::uint64_t number, int stream) {
    Operation op;
    op.work.kind = WorkKind::kernel;
    op.footprint = std::make_shared<Footprint>();
    op.footprint->written.add(100, 110);
    b.ran(number, "kernel" + std::to_string(number), std::move(op));
    trace::Step s{};
    s.number = number + 1, s.stream = static_cast<std::uint32_t>(stream);
    b.step(s, {});
  };
  kernel(0, 1);
  trace::Step record{};
  record.number = 2, record.stream = 2;
  b.step(record, {});
  std::uint64_t number = 3;
  for (const Idle& w : waits) {
    trace::Step s{};
    s.stream = static_cast<std::uint32_t>(w.stream);
    if (!w.after.empty()) s.number = number++;
    std::strncpy(s.name, w.after.empty() ? trace::kWaitsForNothing : "cudaStreamWaitEvent", sizeof s.name - 1);
    b.step(s, w.after);
  }
  kernel(number - 1, 2);
  return b.race();
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("race between streams: a wait that orders nothing is named if it stands before the later operation") {
  CHECK(has(race_with({{2, {}}}), "waits for an event that was not recorded before"));
  CHECK_FALSE(has(race_with({{1, {}}}), "waits for an event"));  // in the other stream: nothing to do with it
  CHECK(has(race_with({{2, {1}}}), "waits in stream 2 for an event that was recorded in that stream, which orders"));
  CHECK_FALSE(has(race_with({{1, {1}}}), "which orders nothing"));
}

TEST_CASE("race between streams: an all-reduce among the kernels that write its terms") {
  auto race = [](int sums, bool term_before) {
    ScheduleBuilder b;
    std::uint64_t number = 0;
    auto add = [&](const char* name, int stream, bool reads, std::vector<std::uint64_t> after) {
      Operation op;
      op.work.kind = WorkKind::kernel;
      op.footprint = std::make_shared<Footprint>();
      op.footprint->written.add(100, 110);
      if (reads) op.footprint->read.add(100, 110);
      b.ran(number, name, std::move(op));
      trace::Step s{};
      s.number = ++number, s.stream = static_cast<std::uint32_t>(stream);
      b.step(s, std::move(after));
    };
    if (term_before) add("gemm", 1, true, {});
    const std::vector<std::uint64_t> first = term_before ? std::vector<std::uint64_t>{0} : std::vector<std::uint64_t>{};
    const std::uint64_t at = number;
    add("ncclAllReduce", 2, true, first);
    add("gemm", 1, true, first);
    if (sums > 1) add("ncclAllReduce", 2, true, {at, at + 1});
    return b.race();
  };
  CHECK(has(race(1, true), ". Another gemm has written there before ncclAllReduce: if both write terms of one sum"));
  CHECK_FALSE(has(race(1, false), "Another gemm"));
  CHECK(has(race(1, false), "order the two by an event"));
  CHECK_FALSE(has(race(1, true), "calls of ncclAllReduce"));
  CHECK(has(race(2, true), "2 calls of ncclAllReduce sum these bytes"));
}
