// What the judge compares of the timeline's file requests: a forged trace keeps sums, and not this.
#include <algorithm>
#include <functional>
#include <vector>

#include "files/model/file_system.hpp"
#include "grader/judge/file_timeline.hpp"
#include "support/catch.hpp"

using namespace ridge;

namespace {

// Requests as a submission makes them: an open and a read that are waited for, then two asynchronous reads, of which
// the first one is waited for before the third is made.
struct Run {
  ridge::files::FileSystem owner{[] {
    ridge::files::Storage s;
    s.targets = 4;
    s.target_bandwidth = 1e9;
    s.request_seconds = 1e-5;
    s.latency = 2e-4;
    return s;
  }()};
  std::vector<std::byte> window = std::vector<std::byte>(1 << 20);

  ridge::files::Reply call(ridge::files::Op op, std::int64_t fd = -1, std::uint64_t bytes = 0, std::int64_t offset = 0,
                           std::uint32_t flags = 0, std::uint64_t ticket = 0) {
    ridge::files::Request r;
    r.op = op;
    r.fd = static_cast<std::int32_t>(fd);
    r.bytes = bytes;
    r.offset = offset;
    r.flags = flags;
    r.ticket = ticket;
    if (op == ridge::files::Op::open) r.path[0] = 'a';
    return owner.call(r, window);
  }
  Run() {
    owner.put("a", ridge::files::Bytes(1 << 20), {4096, 4, 0});
    const std::int64_t fd = call(ridge::files::Op::open, -1, 0, 0, ridge::files::kDirect).result;
    call(ridge::files::Op::read, fd, 8192, 0);
    const std::uint64_t first = call(ridge::files::Op::read, fd, 16384, 0, ridge::files::kAsync).ticket;
    const std::uint64_t second = call(ridge::files::Op::read, fd, 16384, 16384, ridge::files::kAsync).ticket;
    call(ridge::files::Op::complete, -1, 0, 0, 0, first);
    const std::uint64_t third = call(ridge::files::Op::read, fd, 4096, 0, ridge::files::kAsync).ticket;
    call(ridge::files::Op::complete, -1, 0, 0, 0, second);
    call(ridge::files::Op::complete, -1, 0, 0, 0, third);
  }

  // The timeline of a host that takes no time.
  std::vector<PlacedPart> timeline() const {
    std::vector<PlacedPart> all;
    std::map<int, double> busy;
    std::map<std::uint64_t, double> ends;
    double host = 0;
    for (const ridge::files::Charged& c : owner.charged()) {
      if (c.is_wait) {
        host = std::max(host, ends[c.number]);
        continue;
      }
      double end = host;
      for (const ridge::files::Piece& p : c.pieces) {
        const double start = std::max(host, busy[p.resource]);
        all.push_back({c.number, p.resource, p.seconds, start, start + p.seconds});
        end = std::max(end, busy[p.resource] = start + p.seconds);
      }
      all.push_back({c.number, ridge::files::kLatency, c.latency, end, end + c.latency});
      ends[c.number] = end + c.latency;
      if (c.waited) host = ends[c.number];
    }
    return all;
  }
};

std::string differs(const std::function<void(std::vector<PlacedPart>&)>& change) {
  const Run run;
  std::vector<PlacedPart> all = run.timeline();
  change(all);
  return difference_of_files(run.owner.charged(), all);
}

PlacedPart& part(std::vector<PlacedPart>& all, std::uint64_t number, int resource) {
  return *std::find_if(all.begin(), all.end(),
                       [&](const PlacedPart& p) { return p.number == number && p.resource == resource; });
}
void move(PlacedPart& p, double to) { p.end = to + (p.end - p.start), p.start = to; }

// Numbers of the requests above.
constexpr std::uint64_t kOpen = 1, kRead = 2, kFirst = 3, kSecond = 4, kThird = 6;

}  // namespace

TEST_CASE("a timeline that shows the judge's requests is believed") {
  CHECK(differs([](auto&) {}) == "");
  // Later than necessary is the submission's own business.
  CHECK(differs([](auto& all) { move(part(all, kThird, ridge::files::kLatency), 1); }) == "");
}

TEST_CASE("each part stays on its resource, for its seconds") {
  // The same seconds on an idle resource.
  CHECK(differs([](auto& all) { part(all, kFirst, 1).resource = 7; }).find("does not show it") != std::string::npos);
  CHECK(differs([](auto& all) { all.erase(all.begin() + 2); }).find("does not show it") != std::string::npos);
  CHECK(differs([](auto& all) { all.push_back(all[2]); }).find("were not made") != std::string::npos);
  // Seconds of one target that another one gives back.
  CHECK(differs([](auto& all) {
          part(all, kFirst, 1).seconds -= 5e-6;
          part(all, kFirst, 2).seconds += 5e-6;
        }).find("does not show it") != std::string::npos);
  CHECK(differs([](auto& all) { part(all, kFirst, 1).end -= 5e-6; }).find("in place of") != std::string::npos);
  CHECK(differs([](auto& all) { part(all, kFirst, 1).number = 77; }).find("does not show it") != std::string::npos);
}

TEST_CASE("a resource serves one part after the other") {
  const std::string why = differs([](auto& all) {
    for (int target = 0; target < 4; ++target) move(part(all, kSecond, target), part(all, kFirst, target).start);
  });
  CHECK(why.find("is busy until") != std::string::npos);
}

TEST_CASE("a request begins behind all that was waited for") {
  // The first request of all was waited for: it is the open.
  CHECK(differs([](auto& all) {
          move(part(all, kRead, 0), part(all, kOpen, ridge::files::kMetadata).start);
        }).find("what came before it ends") != std::string::npos);
  // The completion of an asynchronous read was taken.
  CHECK(differs([](auto& all) {
          move(part(all, kThird, 0), part(all, kSecond, 0).end);
        }).find("what came before it ends") != std::string::npos);
  // Latency follows the targets.
  CHECK(differs([](auto& all) {
          move(part(all, kFirst, ridge::files::kLatency), part(all, kFirst, 0).start);
        }).find("what came before it ends") != std::string::npos);
}

TEST_CASE("a request that publishes what kernels make begins after they have ended") {
  Timeline timeline;
  for (int i = 1; i <= 4; ++i) {
    Timeline::Item kernel;
    kernel.name = i == 2 ? "other" : "step", kernel.kind = "kernel", kernel.end = i * 1e-3;
    timeline.items.push_back(kernel);
  }
  // Request 7 begins at 3.5 ms, when two of the three steps have ended.
  const std::vector<PlacedPart> placed = {{7, 0, 1e-4, 3.5e-3, 3.6e-3}, {7, 1, 1e-4, 3.6e-3, 3.7e-3}};
  CHECK(too_early(std::vector<lab::UsesFiles::AfterKernels>{{7, "step", 2, "it"}}, placed, timeline).empty());
  CHECK(too_early(std::vector<lab::UsesFiles::AfterKernels>{{7, "step", 3, "the rename"}}, placed, timeline)
            .find("the rename comes at 3.5 ms of virtual time, after 2 of the 3 steps") == 0);
}
