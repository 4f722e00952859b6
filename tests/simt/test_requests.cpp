// Warp requests: sectors, wavefronts and bank conflicts of known patterns; the recorder's grouping of lanes into requests.
#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "src/count/cache.hpp"
#include "src/count/recorder.hpp"
#include "src/count/requests.hpp"
#include "support/catch.hpp"

using namespace ridge::simt;

namespace {

AccessCount count(Op op, unsigned bytes, const std::function<std::uint64_t(unsigned)>& address, unsigned lanes = 32) {
  Request r{};
  r.where = Request::pack(100, 0, bytes, op);
  r.lanes = static_cast<std::uint32_t>((std::uint64_t{1} << lanes) - 1);
  for (unsigned lane = 0; lane < lanes; ++lane) r.address[lane] = address(lane);
  Sectors sectors;
  AccessCount c = count_request(r, sectors);
  if (op == Op::global_load || op == Op::global_store) CHECK(sectors.count == c.sectors);
  CHECK(std::is_sorted(sectors.index, sectors.index + sectors.count));
  return c;
}

AccessCount strided(Op op, unsigned bytes, unsigned stride, std::uint64_t base = 0) {
  return count(op, bytes, [=](unsigned lane) { return base + std::uint64_t{lane} * stride; });
}

constexpr std::uint64_t kBase = 1 << 16;

struct Shared {
  std::uint64_t wavefronts, conflicts;
  bool operator==(const Shared&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Shared& s) {
  return out << s.wavefronts << " wavefronts, " << s.conflicts << " conflicts";
}
Shared shared(const AccessCount& c) {
  CHECK(c.sectors == 0);
  return {c.wavefronts, c.conflicts};
}

struct Event {
  std::uint32_t pc;
  std::uint64_t address;
  Op op;
  std::uint16_t part;
};
using Streams = std::vector<std::vector<Event>>;

Event event(std::uint32_t pc, std::uint64_t address, Op op = Op::global_load, std::uint16_t part = 0) {
  return {pc, address, op, part};
}

// The path of an access is the number of times that its lane did it before.
KernelCounters merged(const Streams& lanes) {
  KernelCounters c;
  Recorder recorder;
  CacheModel cache;
  for (unsigned l = 0; l < lanes.size(); ++l) {
    std::map<std::uint64_t, std::uint64_t> passed;
    for (const Event& e : lanes[l]) {
      std::uint64_t where = Request::pack(e.pc, e.part, 4, e.op);
      recorder.access(l, where, passed[where]++, e.address);
    }
  }
  recorder.flush(c, cache);
  CHECK(recorder.empty());
  return c;
}

bool operator==(const AccessCount& a, const AccessCount& b) {
  return a.requests == b.requests && a.lanes == b.lanes && a.bytes == b.bytes && a.sectors == b.sectors &&
         a.ideal_sectors == b.ideal_sectors && a.wavefronts == b.wavefronts && a.conflicts == b.conflicts;
}

bool same(const KernelCounters& a, const KernelCounters& b) {
  auto equal = [](const auto& x, const auto& y) { return x.first == y.first && x.second == y.second; };
  std::map<std::uint64_t, AccessCount> lines_a(a.line.begin(), a.line.end()), lines_b(b.line.begin(), b.line.end());
  return std::equal(a.op, a.op + kOps, b.op, [](const auto& x, const auto& y) { return x == y; }) &&
         std::equal(lines_a.begin(), lines_a.end(), lines_b.begin(), lines_b.end(), equal);
}

}  // namespace

TEST_CASE("sectors of a global request") {
  for (Op op : {Op::global_load, Op::global_store}) {
    CHECK(strided(op, 4, 4, kBase).sectors == 4);
    CHECK(strided(op, 4, 4, kBase + 4).sectors == 5);
    CHECK(strided(op, 4, 8, kBase).sectors == 8);
    CHECK(strided(op, 4, 32 * 4, kBase).sectors == 32);
    CHECK(strided(op, 1, 1, kBase).sectors == 1);
    CHECK(strided(op, 2, 2, kBase).sectors == 2);
    CHECK(strided(op, 8, 8, kBase).sectors == 8);
    CHECK(strided(op, 16, 16, kBase).sectors == 16);
    CHECK(strided(op, 16, 16, kBase + 16).sectors == 17);
    CHECK(strided(op, 4, 0, kBase).sectors == 1);
    CHECK(count(op, 4, [](unsigned lane) { return kBase + 4 * (31 - lane); }).sectors == 4);  // order is no matter
    CHECK(count(
              op, 4, [](unsigned lane) { return kBase + 4 * lane; }, 9)
              .sectors == 2);
  }
  AccessCount c = strided(Op::global_load, 8, 8, kBase);
  CHECK(c.requests == 1);
  CHECK(c.lanes == 32);
  CHECK(c.bytes == 256);
  CHECK(c.wavefronts == 0);
}

TEST_CASE("ideal sectors are those of the distinct bytes, packed") {
  CHECK(strided(Op::global_load, 4, 4, kBase).ideal_sectors == 4);
  CHECK(strided(Op::global_load, 4, 4, kBase + 4).ideal_sectors == 4);
  CHECK(strided(Op::global_load, 4, 32 * 4, kBase).ideal_sectors == 4);
  CHECK(strided(Op::global_load, 16, 512, kBase).ideal_sectors == 16);
  CHECK(strided(Op::global_load, 4, 0, kBase).ideal_sectors == 1);
  CHECK(count(Op::global_load, 4, [](unsigned lane) { return kBase + 64 * (lane / 2); }).ideal_sectors == 2);
  CHECK(count(
            Op::global_load, 4, [](unsigned lane) { return kBase + 64 * lane; }, 9)
            .ideal_sectors == 2);
}

TEST_CASE("shared memory: accesses of 4 bytes and below") {
  for (Op op : {Op::shared_load, Op::shared_store}) {
    CHECK(shared(strided(op, 4, 4)) == Shared{1, 0});
    CHECK(shared(strided(op, 4, 2 * 4)) == Shared{2, 1});
    CHECK(shared(strided(op, 4, 16 * 4)) == Shared{16, 15});
    CHECK(shared(strided(op, 4, 32 * 4)) == Shared{32, 31});
    CHECK(shared(strided(op, 4, 33 * 4)) == Shared{1, 0});
    CHECK(shared(strided(op, 4, 0)) == Shared{1, 0});
    CHECK(shared(strided(op, 2, 2 * 2)) == Shared{1, 0});
    CHECK(shared(strided(op, 1, 4)) == Shared{1, 0});
    CHECK(shared(strided(op, 1, 1)) == Shared{1, 0});  // lanes that share a word
    CHECK(shared(strided(op, 4, 4, 40)) == Shared{1, 0});
  }
}

TEST_CASE("shared memory: 8 bytes are two halves of 16 lanes") {
  for (Op op : {Op::shared_load, Op::shared_store}) {
    CHECK(shared(strided(op, 8, 8)) == Shared{2, 0});
    CHECK(shared(strided(op, 8, 2 * 8)) == Shared{4, 2});
    CHECK(shared(strided(op, 8, 3 * 8)) == Shared{2, 0});
    CHECK(shared(strided(op, 8, 4 * 8)) == Shared{8, 6});
    CHECK(shared(strided(op, 8, 8 * 8)) == Shared{16, 14});
    CHECK(shared(strided(op, 8, 16 * 8)) == Shared{32, 30});
    // Neighbouring lanes that read one address need one part; stores always two.
    bool load = op == Op::shared_load;
    CHECK(shared(strided(op, 8, 0)) == (load ? Shared{1, 0} : Shared{2, 0}));
    CHECK(shared(count(op, 8, [](unsigned lane) { return lane / 16 * 128; })) == (load ? Shared{2, 1} : Shared{2, 0}));
    CHECK(shared(count(op, 8, [](unsigned lane) { return lane / 2 * 8; })) == (load ? Shared{1, 0} : Shared{2, 0}));
    CHECK(shared(count(
              op, 8, [](unsigned lane) { return lane * 8; }, 16)) == Shared{1, 0});
    CHECK(shared(count(op, 8, [](unsigned lane) { return lane < 16 ? lane * 128 : 8; })) == Shared{17, 15});
  }
}

TEST_CASE("shared memory: 16 bytes are four parts of 8 lanes") {
  CHECK(shared(count(Op::shared_load, 16, [](unsigned lane) { return lane < 16 ? lane * 16 : 0; })) == Shared{4, 0});
  CHECK(shared(strided(Op::shared_load, 16, 16)) == Shared{4, 0});
  CHECK(shared(strided(Op::shared_store, 16, 16)) == Shared{4, 0});
  CHECK(shared(strided(Op::shared_load, 16, 128)) == Shared{32, 28});
  CHECK(shared(strided(Op::shared_load, 16, 0)) == Shared{2, 0});
  CHECK(shared(strided(Op::shared_store, 16, 0)) == Shared{4, 0});
  // Rows of 80 bytes, four lanes a row: measured 8 wavefronts, 4 conflicts.
  CHECK(shared(count(Op::shared_load, 16, [](unsigned lane) { return lane / 4 * 80 + lane % 4 * 16; })) ==
        Shared{8, 4});
}

TEST_CASE("atomics: lanes with one address take turns") {
  for (Op op : {Op::global_red, Op::global_atom}) {
    CHECK(strided(op, 4, 4, kBase).sectors == 4);
    CHECK(strided(op, 4, 0, kBase).sectors == 32);
    CHECK(count(op, 4, [](unsigned lane) { return kBase + 4 * (lane % 8); }).sectors == 4);  // each address four times
    CHECK(count(op, 4, [](unsigned lane) { return kBase + 64 * (lane / 16); }).sectors == 32);
  }
}

TEST_CASE("lanes that do the same form one request an access") {
  Streams lanes(32);
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned i = 0; i < 3; ++i) {
      lanes[l].push_back(event(100, kBase + 128 * i + 4 * l));
      lanes[l].push_back(event(200, kBase + 4096 * l, Op::global_store));
    }
  KernelCounters c = merged(lanes);
  CHECK(c.op[0].requests == 3);
  CHECK(c.op[0].sectors == 12);
  CHECK(c.op[1].requests == 3);
  CHECK(c.op[1].sectors == 96);
  CHECK(c.line.at(100 * kOps + 0).requests == 3);
  CHECK(c.line.at(200 * kOps + 1).sectors == 96);
  CHECK(c.line.size() == 2);
}

TEST_CASE("half of the lanes skip an access") {
  Streams lanes(32);
  for (unsigned l = 0; l < 32; ++l) {
    lanes[l].push_back(event(100, kBase + 4 * l));
    if (l % 2 == 1) lanes[l].push_back(event(200, kBase + 4 * l));
    lanes[l].push_back(event(300, kBase + 4 * l));
  }
  KernelCounters c = merged(lanes);
  CHECK(c.op[0].requests == 3);
  CHECK(c.op[0].lanes == 32 + 16 + 32);
  CHECK(c.line.at(200 * kOps).sectors == 4);
  CHECK(c.line.at(200 * kOps).ideal_sectors == 2);
  CHECK(c.line.at(300 * kOps).requests == 1);
}

TEST_CASE("the two sides of a branch are two requests") {
  Streams lanes(32);
  for (unsigned l = 0; l < 32; ++l) lanes[l].push_back(event(l % 2 == 0 ? 100 : 200, kBase + 4 * l));
  KernelCounters c = merged(lanes);
  CHECK(c.op[0].requests == 2);
  CHECK(c.op[0].sectors == 8);
}

TEST_CASE("loops with a trip count of their own in every lane") {
  Streams lanes(32);
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned i = 0; i <= l; ++i) lanes[l].push_back(event(100, kBase + 128 * i + 4 * l));
  KernelCounters c = merged(lanes);
  CHECK(c.op[0].requests == 32);
  CHECK(c.op[0].lanes == 32 * 33 / 2);
  CHECK(c.op[0].sectors == 8 * (4 + 3 + 2 + 1));  // round i: lanes i..31
}

TEST_CASE("pieces, kinds and sizes of an access are requests of their own") {
  Streams lanes(32);
  for (unsigned l = 0; l < 32; ++l) {
    for (std::uint16_t part = 1; part <= 3; ++part)
      lanes[l].push_back(event(100, kBase + 12 * l + 4 * (part - 1u), Op::global_load, part));
    lanes[l].push_back(event(100, kBase + 12 * l, Op::global_store));
    if (l < 8) lanes[l].push_back(event(100, kBase + 12 * l, Op::shared_load));
    lanes[l].push_back(event(200, kBase + 4 * l, Op::shared_store, l % 2 == 0 ? 1 : 2));
  }
  KernelCounters c = merged(lanes);
  CHECK(c.op[0].requests == 3);
  CHECK(c.op[0].sectors == 3 * 12);
  CHECK(c.op[1].requests == 1);
  CHECK(c.op[4].requests == 1);
  CHECK(c.op[4].lanes == 8);
  CHECK(c.op[5].requests == 2);
}

TEST_CASE("partial warps") {
  Streams lanes(5);
  for (unsigned l = 0; l < 5; ++l) lanes[l].push_back(event(100, kBase + 4 * l));
  KernelCounters c = merged(lanes);
  CHECK(c.op[0].requests == 1);
  CHECK(c.op[0].lanes == 5);
  CHECK(c.op[0].sectors == 1);
  CHECK(same(merged({}), KernelCounters{}));
}

TEST_CASE("counts do not depend on which lane did what") {
  std::mt19937 generator(7);
  auto random = [&](unsigned n) { return static_cast<unsigned>(generator() % n); };
  for (int round = 0; round < 20; ++round) {
    Streams lanes(32);
    for (auto& lane : lanes)
      for (unsigned i = 0, n = random(40); i < n; ++i)
        lane.push_back(event(100 + 4 * random(5), kBase + 4 * random(1000), static_cast<Op>(random(2))));
    KernelCounters c = merged(lanes);
    std::shuffle(lanes.begin(), lanes.end(), generator);
    CHECK(same(merged(lanes), c));
    // A sum over lines is the whole.
    AccessCount sum;
    for (const auto& [key, n] : c.line) sum.add(n);
    CHECK(sum.requests == c.op[0].requests + c.op[1].requests);
    CHECK(sum.sectors == c.op[0].sectors + c.op[1].sectors);
  }
}

TEST_CASE("members of a vector of one basic block are one request") {
  // Lanes read vectors of 16 bytes side by side, member by member.
  auto member = [](unsigned index, unsigned block = 7, std::uint64_t base = kBase) {
    return Event{(base == kBase ? 100 : 200) + index, base + 4 * index, Op::global_load,
                 static_cast<std::uint16_t>(Request::kMember | index << 13 | block)};
  };
  auto lanes = [](const std::vector<Event>& of_first) {
    Streams all;
    for (unsigned lane = 0; lane < 32; ++lane) {
      all.push_back(of_first);
      for (Event& e : all.back()) e.address += 16 * lane;
    }
    return all;
  };
  auto load = [&](const std::vector<Event>& events) {
    const KernelCounters c = merged(lanes(events));
    return std::pair(c.op[static_cast<std::size_t>(Op::global_load)].requests,
                     c.op[static_cast<std::size_t>(Op::global_load)].sectors);
  };
  using Both = std::pair<std::uint64_t, std::uint64_t>;
  CHECK(load({member(0), member(1), member(2), member(3)}) == Both(1, 16));
  CHECK(load({member(3), member(1), member(0), member(2)}) == Both(1, 16));
  CHECK(load({member(0), member(1)}) == Both(1, 16));
  CHECK(load({member(1), member(2)}) == Both(2, 32));  // no 8 aligned bytes
  CHECK(load({member(0), member(1), member(2)}) == Both(2, 32));
  // Of two vectors in turn, as a product of two has them.
  const std::uint64_t other = kBase + (1 << 12);
  CHECK(load({member(0), member(0, 7, other), member(1), member(1, 7, other)}) == Both(2, 32));
  // Not of two basic blocks, not where the address is not aligned, not past a store, not where nothing says so.
  CHECK(load({member(0), member(1, 8)}) == Both(2, 32));
  CHECK(load({member(0, 7, kBase + 4), member(1, 7, kBase + 4)}).first == 2);
  CHECK(load({member(0), event(50, other, Op::global_store), member(1)}).first == 2);
  CHECK(load({event(100, kBase), event(101, kBase + 4)}) == Both(2, 32));
}

TEST_CASE("members of an aligned object are one request, and an index that differs between lanes is none") {
  const auto part = static_cast<std::uint16_t>(Request::kMember | Request::kAligned | Request::kAligned16 | 7);
  auto requests = [&](unsigned members, auto address) {
    Streams all(32);
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned m = 0; m < members; ++m)
        all[lane].push_back(event(100 + m, address(lane, m), Op::global_load, part));
    return merged(all).op[static_cast<std::size_t>(Op::global_load)].requests;
  };
  CHECK(requests(4, [](unsigned lane, unsigned m) { return kBase + 16 * lane + 4 * m; }) == 1);
  CHECK(requests(4, [](unsigned lane, unsigned m) { return kBase + 16 * lane + 4 * (3 - m); }) == 1);
  CHECK(requests(2, [](unsigned lane, unsigned m) { return kBase + 48 * lane + 8 + 4 * m; }) == 1);
  // A large object's array, by an index of the lane's own.
  CHECK(requests(1, [](unsigned lane, unsigned) { return kBase + 4 * lane; }) == 1);
  CHECK(requests(2, [](unsigned lane, unsigned m) { return kBase + 4 * lane + 128 * m; }) == 2);
  // Four floats from a multiple of four bytes on: four requests.
  CHECK(requests(3, [](unsigned lane, unsigned m) { return kBase + 16 * lane + 4 + 4 * m; }) == 2);
}

TEST_CASE("loads of constants take a turn for each address") {
  Request r{};
  r.where = Request::pack(100, 0, 4, Op::constant_load);
  r.lanes = ~0u;
  for (unsigned lane = 0; lane < 32; ++lane) r.address[lane] = 64 + 4 * (lane % 5);
  CHECK(distinct_addresses(r) == 5);
  Streams lanes(32, {event(100, 64, Op::constant_load)});
  for (unsigned lane = 16; lane < 32; ++lane) lanes[lane][0].address = 68;
  const KernelCounters c = merged(lanes);
  CHECK(c.constant_requests == 1);
  CHECK(c.constant_turns == 2);
}
