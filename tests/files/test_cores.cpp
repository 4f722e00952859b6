#include <cstring>

#include "files/cores.hpp"
#include "files/local.hpp"
#include "files/model/file_system.hpp"
#include "files/ring.hpp"
#include "support/catch.hpp"

using namespace ridge::files;

namespace {
void never(const void*, void*, std::size_t, long long) { FAIL("the judge's cores do it"); }
}  // namespace

TEST_CASE("a core's result is there when it is waited for, and comes from the owner alone") {
  FileSystem owner({});
  owner.on_compute([](std::int64_t number, const Bytes& sent) {
    Bytes out = sent;
    for (char& c : out) c = static_cast<char>(c + number);
    return out;
  });
  use(&owner);
  char from[32], to[32] = {};
  std::memset(from, 1, sizeof from);
  const files::CoreWork w = files::start_on_core(2, from, to, sizeof from, 10, never);
  CHECK(w.ticket != 0);
  CHECK(to[0] == 0);
  CHECK(owner.counts().computed_bytes == 32);
  CHECK(owner.counts().most_in_flight == 0);  // that counts reads and writes
  CHECK(owner.counts().busy.at(kFirstCore + 2) == 32 / owner.storage().core_bandwidth);
  CHECK(files::wait_for_core(w) == 32);
  for (char c : to) CHECK(c == 11);
  CHECK(files::wait_for_core(w) == -EINVAL);  // a ticket is good for one wait
  use(nullptr);
}

TEST_CASE("a core reads half of its words at the beginning, and the others at the end") {
  FileSystem owner({});
  use(&owner);
  std::uint32_t from[5] = {1, 1, 1, 1, 1}, to[5] = {};
  const files::CoreWork w = files::start_on_core(0, from, to, sizeof from, 0, never);
  for (std::uint32_t& v : from) v = 2;
  CHECK(files::wait_for_core(w) == 20);
  const std::uint32_t expected[5] = {1, 2, 1, 2, 1};
  for (int i = 0; i < 5; ++i) CHECK(to[i] == expected[i]);
  use(nullptr);
}

TEST_CASE("what no core can do has no ticket") {
  FileSystem owner({});
  use(&owner);
  std::vector<char> from(std::size_t{64} << 20);
  CHECK(files::start_on_core(owner.storage().cores, from.data(), from.data(), 4, 0, never).ticket == 0);
  CHECK(files::start_on_core(-1, from.data(), from.data(), 4, 0, never).ticket == 0);
  CHECK(files::start_on_core(0, from.data(), from.data(), 6, 0, never).ticket == 0);
  CHECK(files::wait_for_core({}) == -EINVAL);
  // The owner keeps what it was sent, 256 MiB at most.
  std::vector<files::CoreWork> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(files::start_on_core(i, from.data(), from.data(), from.size(), 0, never));
    CHECK(all.back().ticket != 0);
  }
  CHECK(files::start_on_core(0, from.data(), from.data(), 4, 0, never).ticket == 0);
  CHECK(files::wait_for_core(all[0]) == static_cast<ssize_t>(from.size()));
  CHECK(files::start_on_core(0, from.data(), from.data(), 4, 0, never).ticket != 0);
  use(nullptr);
}

TEST_CASE("reads in flight are counted in bytes, beside what cores do") {
  FileSystem owner({});
  owner.put("a", Bytes(1000));
  use(&owner);
  const int fd = files::open("a");
  char to[600];
  files::Ring ring(4);
  CHECK(ring.read(fd, to, 300, 0) == 0);
  CHECK(ring.read(fd, to + 300, 200, 0) == 0);
  CHECK(files::start_on_core(0, to, to, 400, 0, never).ticket != 0);
  ring.wait();
  CHECK(ring.read(fd, to, 100, 0) == 0);
  CHECK(owner.counts().most_in_flight == 2);
  CHECK(owner.counts().most_bytes_in_flight == 500);
  use(nullptr);
}
