// When repeated device work would have run: what streams and events allow overlaps, the rest does not; and steps of
// somebody who lies.
#include <cstring>
#include <limits>
#include <string>

#include "src/stream/schedule.hpp"
#include "support/catch.hpp"

using namespace ridge::simt;

namespace {

Operation timed(WorkKind kind, double seconds, CopyPath path = CopyPath::on_device) {
  Operation op;
  op.work.kind = kind;
  op.work.path = path;
  op.work.extent = {100, 1, 1};
  op.seconds = seconds;
  op.share = 1;
  return op;
}

trace::Step step(const char* name, std::uint64_t number, double seconds, int stream, bool wait = false) {
  trace::Step s{};
  s.number = number;
  s.seconds = seconds;
  s.stream = static_cast<std::uint32_t>(stream);
  s.is_wait = wait;
  std::strncpy(s.name, name, sizeof s.name - 1);
  return s;
}

// A copy in (3 s), a kernel (2 s) and a copy out (4 s) for each of two chunks, each chunk in a stream.
ScheduleBuilder two_chunks(bool two_streams) {
  ScheduleBuilder b;
  std::uint64_t n = 0;
  for (int chunk = 0; chunk < 2; ++chunk) {
    const int stream = two_streams ? chunk + 1 : 1;
    auto before = [&] {
      return chunk == 0 && n % 3 == 0 ? std::vector<std::uint64_t>{} : std::vector<std::uint64_t>{n - 1};
    };
    auto first = chunk == 1 && two_streams ? std::vector<std::uint64_t>{} : before();
    b.ran(n, "cudaMemcpy", timed(WorkKind::copy, 3, CopyPath::host_to_device));
    b.step(step("cudaMemcpyAsync", n + 1, 0.1, stream), first);
    ++n;
    b.ran(n, "work", timed(WorkKind::kernel, 2));
    b.step(step("work", n + 1, 0.1, stream), {n - 1});
    ++n;
    b.ran(n, "cudaMemcpy", timed(WorkKind::copy, 4, CopyPath::device_to_host));
    b.step(step("cudaMemcpyAsync", n + 1, 0.1, stream), {n - 1});
    ++n;
  }
  return b;
}

}  // namespace

TEST_CASE("schedule: streams overlap, one stream does not") {
  Schedule one, two;
  CHECK(two_chunks(false).build(one) == nullptr);
  CHECK(one.seconds == Approx(0.1 + 2 * 9));
  CHECK(two_chunks(true).build(two) == nullptr);
  // The second chunk: copied in from 3.1 to 6.1, computed to 8.1, copied out when the first one has left (9.1).
  CHECK(two.seconds == Approx(9.1 + 4));
  CHECK(two.launches == 6);
  REQUIRE(two.items.size() == 6);
  CHECK(two.items[3].kind == "h2d");
  CHECK(two.items[3].start == Approx(3.1));
  CHECK(two.items[5].kind == "d2h");
  CHECK(two.items[5].stream == 2);
}

TEST_CASE("schedule: the host's waits hold back what it issues later") {
  ScheduleBuilder b;
  b.ran(0, "a", timed(WorkKind::kernel, 5));
  b.step(step("a", 1, 1, 1), {});
  b.step(step("cudaDeviceSynchronize", 0, 0.5, 0, true), {0});
  b.ran(1, "b", timed(WorkKind::kernel, 1));
  b.step(step("b", 2, 1, 2), {});
  Schedule s;
  CHECK(b.build(s) == nullptr);
  CHECK(s.items[1].start == Approx(1 + 5 + 0.5 + 1));
  CHECK(s.items[1].graph == 0);
  CHECK(s.seconds == Approx(8.5));
  REQUIRE(s.calls.size() == 3);
  CHECK(s.calls[1].name == "cudaDeviceSynchronize");
  CHECK(s.calls[1].start == Approx(1));
  CHECK(s.calls[1].end == Approx(6.5));
}

TEST_CASE("schedule: what is not listed is counted") {
  ScheduleBuilder b;
  const std::uint64_t most = Schedule::kMaxItems;
  for (std::uint64_t n = 0; n < most + 2; ++n) {
    b.ran(n, "k", timed(WorkKind::kernel, 1));
    b.step(step("k", n + 1, 1, 1), {});
  }
  Schedule s;
  CHECK(b.build(s) == nullptr);
  CHECK(s.items.size() == most);
  CHECK(s.calls.size() == most);
  CHECK(s.left_out == 4);
}

TEST_CASE("schedule: a graph is one launch") {
  ScheduleBuilder b;
  b.step(step("cudaGraphLaunch", 1, 2, 1), {});  // of nothing itself
  for (std::uint64_t n = 1; n <= 3; ++n) {
    b.ran(n, "node", timed(WorkKind::kernel, 1));
    trace::Step s = step("", n + 1, 0, 1);
    s.in_graph = 1;
    b.step(s, {n - 1});
  }
  Schedule s;
  CHECK(b.build(s) == nullptr);
  CHECK(s.launches == 1);
  CHECK(s.seconds == Approx(2 + 3));
  CHECK(s.items[0].graph == 1);
}

TEST_CASE("schedule: copies from one buffer share a source, and those that the host did not wait for are marked") {
  auto build = [](bool waits, std::uintptr_t third) {
    ScheduleBuilder b;
    const std::uintptr_t from[] = {1000, 2000, third};
    for (std::uint64_t n = 0; n < 3; ++n) {
      Operation copy = timed(WorkKind::copy, 1, CopyPath::host_to_device);
      copy.footprint = std::make_shared<Footprint>();
      copy.footprint->read.add(from[n], from[n] + 100);
      b.ran(n, "cudaMemcpy", copy);
      // An event behind the first copy: the host waits for that.
      if (n == 2 && waits) b.step(step("cudaEventSynchronize", 0, 0, 0, true), {10});
      b.step(step("cudaMemcpyAsync", n + 1, 1, 1), n == 0 ? std::vector<std::uint64_t>{} : std::vector{n - 1});
      if (n == 0) b.step(step("cudaEventRecord", 11, 0, 1), {0});
    }
    Schedule s;
    CHECK(b.build(s) == nullptr);
    REQUIRE(s.items.size() == 3);
    return s;
  };
  const Schedule early = build(false, 1050), waited = build(true, 1050), other = build(false, 3000);
  CHECK(early.items[0].source == 1);
  CHECK(early.items[1].source == 2);
  CHECK(early.items[2].source == 1);
  CHECK_FALSE(early.items[1].unwaited);
  CHECK(early.items[2].unwaited);
  CHECK_FALSE(waited.items[2].unwaited);
  CHECK(other.items[2].source == 3);
  CHECK_FALSE(other.items[2].unwaited);
}

TEST_CASE("schedule: pageable copies, the call's stream, and graphs that are made or changed") {
  ScheduleBuilder b;
  b.step(step(trace::kCallBegins, 5, 0, 3), {});
  Operation copy = timed(WorkKind::copy, 1, CopyPath::host_to_device);
  copy.work.pageable = true;
  b.ran(0, "cudaMemcpy", copy);
  b.step(step("cudaMemcpyAsync", 1, 1, 3), {});
  b.step(step(trace::kGraphMade, 0, 0, 0), {});
  for (int i = 0; i < 2; ++i) b.step(step(trace::kGraphChanged, 0, 0, 0), {});
  Schedule s;
  CHECK(b.build(s) == nullptr);
  CHECK(s.stream == 3);
  CHECK(s.graphs_made == 1);
  CHECK(s.graphs_changed == 2);
  REQUIRE(s.items.size() == 1);
  CHECK(s.items[0].pageable);
  CHECK(s.items[0].source == 0);
}

TEST_CASE("schedule: work without a step, or with two, is refused; odd times cost") {
  Schedule s;
  ScheduleBuilder unissued;
  unissued.ran(7, "a", timed(WorkKind::kernel, 1));
  CHECK(unissued.build(s) == std::string("device work ran that nobody issued"));
  ScheduleBuilder twice;
  twice.ran(0, "a", timed(WorkKind::kernel, 1));
  twice.step(step("a", 1, 0, 1), {});
  twice.step(step("a", 1, 0, 1), {});
  CHECK(twice.build(s) == std::string("an operation is issued twice"));
  for (double seconds : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    ScheduleBuilder odd;
    odd.ran(0, "a", timed(WorkKind::kernel, 1));
    odd.step(step("a", 1, seconds, 1), {5});  // waits for what is not known: it had ended before
    Schedule t;
    CHECK(odd.build(t) == nullptr);
    CHECK(t.seconds == Approx(3601));
  }
}
