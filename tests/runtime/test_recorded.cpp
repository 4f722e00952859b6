// Calls between ranks as a trace holds them: made again, and refused where somebody has bent them.
#include <cstring>
#include <set>
#include <stdexcept>

#include "collectives/judged.hpp"
#include "collectives/nccl/exchange.hpp"
#include "collectives/nccl/node.hpp"
#include "collectives/nccl/recorded.hpp"
#include "support/catch.hpp"

using namespace ridge::collectives;

namespace {

struct Refused {};

// As a replay does it: one allocation of 4000 bytes.
alignas(16) char memory[4000];
void check(const void* p, std::size_t bytes, bool) {
  if (bytes == 0) return;
  const auto* at = static_cast<const char*>(p);
  if (at < memory || at + bytes > memory + sizeof memory) throw Refused{};
}

std::shared_ptr<ridge::simt::Exchange> make(const std::vector<char>& bytes, ridge::simt::Footprint& touched) {
  return make_recorded({bytes.data(), bytes.size(), check, &touched});
}

ncclComm& communicator() {
  static ncclComm* comm = Ranks::instance().make(7, 1, {Node::instance().token(), Node::instance().token()}, 0);
  return *comm;
}

Planned sum() { return {{What::all_reduce, ncclFloat, ncclSum, -1, 100, 0}, memory, memory + 2000}; }

}  // namespace

TEST_CASE("a recorded call is made again, with what it touches") {
  ridge::simt::Footprint touched;
  auto made = make(record_of(communicator(), {sum()}), touched);
  REQUIRE(made != nullptr);
  CHECK(made->name() == "ncclAllReduce");
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  ridge::simt::Ranges read, written;
  read.add(begin + 399, begin + 400), written.add(begin + 2399, begin + 2400);
  CHECK(touched.read.common(read) != 0);
  CHECK(touched.written.common(written) != 0);
  ridge::simt::Ranges beyond;
  beyond.add(begin + 400, begin + 2000);
  CHECK(touched.read.common(beyond) == 0);
}

TEST_CASE("a communicator is made once, and only of this process") {
  ncclComm split;
  split.key = 99, split.rank = 0, split.size = 2;
  split.processes = {Node::instance().token(), 4711};
  ridge::simt::Footprint touched;
  CHECK(make(record_of(split), touched) == nullptr);
  REQUIRE(Ranks::instance().find(99, 0) != nullptr);
  CHECK(make(record_of(split), touched) == nullptr);
  split.key = 100, split.rank = 1;  // another process's rank
  CHECK_THROWS_AS(make(record_of(split), touched), std::invalid_argument);
  split.rank = 2;
  CHECK_THROWS(make(record_of(split), touched));
}

TEST_CASE("what a bent record asks for is refused") {
  ridge::simt::Footprint touched;
  auto refused = [&](auto change) {
    Planned p = sum();
    change(p);
    CHECK_THROWS(make(record_of(communicator(), {p}), touched));
  };
  refused([](Planned& p) { p.from = memory + 3700; });  // ends behind the memory
  refused([](Planned& p) { p.to = nullptr; });
  refused([](Planned& p) { p.call.count = 501; });
  refused([](Planned& p) { p.call.count = std::uint64_t{1} << 62; });  // times 4 overflows
  refused([](Planned& p) { p.call.type = 99; });
  refused([](Planned& p) { p.call.what = What::split; });
  refused([](Planned& p) { p.call.what = static_cast<What>(77); });
  refused([](Planned& p) { p.call.what = What::send, p.call.root = 2; });
  refused([](Planned& p) { p.call.what = What::send, p.call.root = -1; });
  const std::vector<char> whole = record_of(communicator(), {sum()});
  for (std::size_t n = 0; n < whole.size(); ++n)
    CHECK_THROWS(make({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)}, touched));
}
