#include <cerrno>
#include <cstring>
#include <numeric>

#include "files/model/file_system.hpp"
#include "support/catch.hpp"

using namespace ridge::files;

namespace {

struct Bench {
  FileSystem files;
  std::vector<std::byte> window = std::vector<std::byte>(1 << 20);
  explicit Bench(Storage s = {}, Faults f = {}) : files(s, f) {}

  Reply call(Request r) { return files.call(r, window); }
  std::int64_t open(const char* path, std::uint32_t flags = 0, std::int64_t size = 0, int count = 0) {
    Request r;
    r.op = Op::open;
    r.flags = flags;
    r.stripe_size = size;
    r.stripe_count = count;
    std::strcpy(r.path, path);
    return call(r).result;
  }
  Reply at(Op op, std::int64_t fd, std::uint64_t bytes, std::int64_t offset, std::uint64_t address = 0) {
    Request r;
    r.op = op;
    r.fd = static_cast<std::int32_t>(fd);
    r.bytes = bytes;
    r.offset = offset;
    r.address = address;
    return call(r);
  }
};

Bytes numbered(std::size_t n) {
  Bytes b(n);
  std::iota(b.begin(), b.end(), char{0});
  return b;
}

Storage small() {
  Storage s;
  s.targets = 4;
  s.target_bandwidth = 1e9;
  s.request_seconds = 1e-5;
  s.latency = 2e-4;
  s.page_cache_bytes = 64 * 4096;
  return s;
}

}  // namespace

TEST_CASE("a read gives the file's bytes, and fewer at its end") {
  Bench b(small());
  b.files.put("data/a", numbered(1000));
  const auto fd = b.open("data/a");
  REQUIRE(fd >= 3);
  CHECK(b.at(Op::read, fd, 300, 900).result == 100);
  CHECK(std::memcmp(b.window.data(), numbered(1000).data() + 900, 100) == 0);
  CHECK(b.at(Op::read, fd, 10, 1000).result == 0);
  CHECK(b.files.counts().opens == 1);
  CHECK(b.files.counts().bytes_read == 100);
}

TEST_CASE("what a call may not do is refused as POSIX refuses it") {
  Bench b(small());
  b.files.put("a", numbered(10000));
  CHECK(b.open("none") == -ENOENT);
  CHECK(b.open("a", kWrite | kCreate | kExclusive) == -EEXIST);
  CHECK(b.open("no/such/folder", kWrite | kCreate) == -ENOENT);
  CHECK(b.open("../a") == -EINVAL);
  CHECK(b.open("a//b") == -EINVAL);
  CHECK(b.at(Op::read, 77, 1, 0).result == -EBADF);
  const auto fd = b.open("a");
  CHECK(b.at(Op::write, fd, 1, 0).result == -EBADF);
  CHECK(b.at(Op::write, b.open("a", kWrite), kMostBytes + 1, 0).result == -EINVAL);
  CHECK(b.at(Op::close, fd, 0, 0).result == 0);
  CHECK(b.at(Op::close, fd, 0, 0).result == -EBADF);
}

TEST_CASE("kDirect wants buffer, offset and bytes aligned") {
  Bench b(small());
  b.files.put("a", numbered(10000));
  const auto fd = b.open("a", kDirect);
  CHECK(b.at(Op::read, fd, 4096, 4096, 8192).result == 4096);
  CHECK(b.at(Op::read, fd, 4096, 8192, 8192).result == 10000 - 8192);
  CHECK(b.at(Op::read, fd, 4095, 4096, 8192).result == -EINVAL);
  CHECK(b.at(Op::read, fd, 4096, 4095, 8192).result == -EINVAL);
  CHECK(b.at(Op::read, fd, 4096, 4096, 8200).result == -EINVAL);
  CHECK(b.files.counts().bytes_from_cache == 0);
}

TEST_CASE("a direct read occupies each target for its overhead and its bytes") {
  Bench b(small());
  b.files.put("a", numbered(1 << 16), {8192, 2, 3});
  const auto fd = b.open("a", kDirect);
  const Reply r = b.at(Op::read, fd, 3 * 8192, 0, 0);
  REQUIRE(r.pieces == 2);
  CHECK(r.piece[0].resource == 0);  // the second stripe: target (3 + 1) % 4
  CHECK(r.piece[0].seconds == Approx(1e-5 + 8192 / 1e9));
  CHECK(r.piece[1].resource == 3);
  CHECK(r.piece[1].seconds == Approx(1e-5 + 2 * 8192 / 1e9));
  CHECK(r.latency == Approx(2e-4));
  CHECK(b.files.counts().target_bytes == std::vector<std::uint64_t>{8192, 0, 0, 2 * 8192});
}

TEST_CASE("the page cache serves a second read, and forgets what was used least recently") {
  Bench b(small());
  b.files.put("a", Bytes(65 * 4096));
  const auto fd = b.open("a");
  b.at(Op::read, fd, 100, 0);
  CHECK(b.files.counts().bytes_from_cache == 0);
  const Reply again = b.at(Op::read, fd, 4000, 50);
  CHECK(b.files.counts().bytes_from_cache == 4000);
  REQUIRE(again.pieces == 1);
  CHECK(again.piece[0].resource == kPageCache);
  for (int page = 1; page <= 64; ++page) b.at(Op::read, fd, 4096, page * 4096);
  b.at(Op::read, fd, 100, 0);
  CHECK(b.files.counts().bytes_from_cache == 4000);
}

TEST_CASE("a page that was used again is not the next to be forgotten") {
  Bench b(small());
  b.files.put("a", Bytes(66 * 4096));
  const auto fd = b.open("a");
  for (int page = 0; page < 64; ++page) b.at(Op::read, fd, 4096, page * 4096);
  b.at(Op::read, fd, 10, 0);
  b.at(Op::read, fd, 4096, 64 * 4096);  // page 1 goes
  const std::uint64_t cached = b.files.counts().bytes_from_cache;
  b.at(Op::read, fd, 10, 0);
  CHECK(b.files.counts().bytes_from_cache == cached + 10);
  b.at(Op::read, fd, 10, 4096);
  CHECK(b.files.counts().bytes_from_cache == cached + 10);
}

TEST_CASE("an asynchronous request moves its bytes at its completion") {
  Bench b(small());
  b.files.put("a", numbered(1000));
  const auto fd = b.open("a", kWrite);
  Request r;
  r.op = Op::read;
  r.flags = kAsync;
  r.fd = static_cast<std::int32_t>(fd);
  r.bytes = 100;
  std::memset(b.window.data(), 0x55, 100);
  const Reply submitted = b.call(r);
  CHECK(submitted.result == 100);
  CHECK(b.window[10] == std::byte{0x55});
  Request done;
  done.op = Op::complete;
  done.ticket = submitted.ticket;
  CHECK(b.call(done).result == 100);
  CHECK(b.window[10] == std::byte{10});
  CHECK(b.call(done).result == -EINVAL);  // once
  r.op = Op::write;
  const Reply write = b.call(r);
  b.window[7] = std::byte{99};  // the caller changes the buffer too early
  done.ticket = write.ticket;
  done.bytes = 100;
  CHECK(b.call(done).result == 100);
  CHECK(b.files.counts().changed_in_flight == 1);
  CHECK(b.files.counts().most_in_flight == 1);
}

TEST_CASE("a rank dies in the change that the plan names, and calls no more") {
  Faults f;
  f.deaths = {{.rank = -1, .at_change = 3}};
  Bench b(small(), f);
  const auto fd = b.open("a", kWrite | kCreate);  // change 1
  CHECK(b.at(Op::write, fd, 1000, 0).result == 1000);
  const Reply last = b.at(Op::write, fd, 1000, 1000);
  CHECK(last.died == 1);
  CHECK(b.at(Op::read, fd, 1, 0).died == 1);
  CHECK(b.files.died() == std::vector<int>{0});
  REQUIRE(b.files.find("a") != nullptr);
  CHECK(b.files.find("a")->size() < 2000);
  b.files.restart();
  CHECK(b.at(Op::read, fd, 1, 0).result == -EBADF);  // a new process has no open files
  CHECK(b.open("a") >= 3);
}

TEST_CASE("a rank dies at its own n-th change, or at a step") {
  Faults f;
  f.deaths = {{.rank = 1, .at_change = 1}, {.rank = 0, .at_step = 7}};
  Bench b(small(), f);
  CHECK(b.open("a", kWrite | kCreate) >= 3);  // rank 0's
  Request r;
  r.op = Op::open;
  r.rank = 1;
  r.flags = kWrite | kCreate;
  std::strcpy(r.path, "b");
  CHECK(b.call(r).died == 1);
  Request step;
  step.op = Op::step;
  step.offset = 6;
  CHECK(b.call(step).died == 0);
  step.offset = 7;
  CHECK(b.call(step).died == 1);
}

TEST_CASE("the disk behind a crash in each change is made from one run") {
  Bench b(small());
  b.files.put("state", numbered(100));
  b.files.reset_counts();
  const auto fd = b.open("state.tmp", kWrite | kCreate);
  b.at(Op::write, fd, 5000, 0);
  b.at(Op::sync, fd, 0, 0);
  Request r;
  r.op = Op::rename;
  std::strcpy(r.path, "state.tmp");
  std::strcpy(r.other, "state");
  b.call(r);
  const std::size_t changes = b.files.changes().size();
  REQUIRE(changes == 4);
  for (std::uint64_t n = 1; n <= changes + 1; ++n)
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      Faults f;
      f.crash = Crash::node;
      f.seed = seed;
      const Disk left = b.files.after_crash(n, f);
      REQUIRE(left.find("state") != 0);
      const std::size_t bytes = left.file(left.find("state")).now.size();
      CHECK((bytes == 100 || (n >= 4 && bytes == 5000)));
    }
  // Inside a write there is a part of it, behind it all of it; a rename has been made or not.
  bool part = false, old = false, renamed = false;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    Faults f;
    f.seed = seed;
    const Disk in_write = b.files.after_crash(2, f), behind = b.files.after_crash(3, f),
               last = b.files.after_crash(4, f);
    part = part || in_write.file(in_write.find("state.tmp")).now.size() < 5000;
    CHECK(behind.file(behind.find("state.tmp")).now.size() == 5000);
    const std::size_t bytes = last.file(last.find("state")).now.size();
    old = old || bytes == 100, renamed = renamed || bytes == 5000;
  }
  CHECK((part && old && renamed));
  Faults torn;
  torn.torn_rename = true;
  CHECK(b.files.after_crash(4, torn).find("state") == 0);
}

TEST_CASE("no request, however strange, brings the owner down") {
  Bench b(small());
  b.window.resize(kMostBytes);
  b.files.put("folder/a", numbered(20000));
  Random random(5);
  const char* paths[] = {"", "folder", "folder/a", "b", "folder/c", "../x", "/", "a//b", "folder/a/b", "."};
  for (int i = 0; i < 20000; ++i) {
    Request r;
    r.op = static_cast<Op>(random.below(20));
    r.flags = static_cast<std::uint32_t>(random.next());
    r.fd = static_cast<std::int32_t>(random.below(12)) - 1;
    r.rank = static_cast<std::int32_t>(random.below(3)) - 1;
    r.offset = random.below(8) == 0 ? static_cast<std::int64_t>(random.next())
                                    : static_cast<std::int64_t>(random.below(40000)) - 100;
    r.bytes = random.below(64) == 0 ? random.next() : random.below(30000);
    r.ticket = random.below(300);
    r.stripe_size = random.below(2) == 0 ? 0 : static_cast<std::int64_t>(random.next());
    r.stripe_count = static_cast<std::int32_t>(random.below(70)) - 2;
    r.core = static_cast<std::int32_t>(random.next());
    std::strcpy(r.path, paths[random.below(std::size(paths))]);
    std::strcpy(r.other, paths[random.below(std::size(paths))]);
    const Reply reply = b.call(r);
    REQUIRE(reply.result <= static_cast<std::int64_t>(kMostBytes));
    REQUIRE(reply.pieces <= kMostPieces);
  }
  CHECK(b.files.counts().bytes_written <= small().capacity);
}

TEST_CASE("files and writes of a run have a limit") {
  Storage s = small();
  s.capacity = 100000;
  Bench b(s);
  const auto fd = b.open("a", kWrite | kCreate);
  CHECK(b.at(Op::truncate, fd, 0, 100001).result == -ENOSPC);
  CHECK(b.at(Op::write, fd, 60000, 0).result == 60000);
  CHECK(b.at(Op::write, fd, 60000, 0).result == -ENOSPC);  // written twice is written
  CHECK(b.at(Op::write, fd, 1, std::int64_t{1} << 62).result == -ENOSPC);
}

TEST_CASE("only the marks that the owner expects are answered, each in its turn") {
  Bench b(small());
  std::vector<std::int64_t> seen;
  b.files.on_mark([&](FileSystem&, std::int64_t number, std::int64_t) {
    seen.push_back(number);
    return 10 * number;
  });
  const auto mark = [&](std::int64_t number) { return b.at(Op::mark, -1, 0, number).result; };
  CHECK(mark(7) == 70);  // nothing was said: all are
  seen.clear();
  b.files.expect_marks({1, 2});
  CHECK(mark(1) == 10);
  CHECK_FALSE(b.files.marks_as_expected());  // one is missing
  SECTION("in their order") {
    CHECK(mark(2) == 20);
    CHECK(b.files.marks_as_expected());
    CHECK(mark(2) == -EPERM);  // once too often
  }
  SECTION("one of them again") {
    CHECK(mark(1) == -EPERM);
    CHECK(mark(2) == 20);
  }
  CHECK(seen == std::vector<std::int64_t>{1, 2});
  CHECK_FALSE(b.files.marks_as_expected());
}

TEST_CASE("a write that nobody has waited for brings no page into the cache") {
  Bench b(small());
  b.files.put("a", numbered(4 * 4096));
  const auto fd = b.open("a", kWrite);
  Request w;
  w.op = Op::write;
  w.flags = kAsync;
  w.fd = static_cast<std::int32_t>(fd);
  w.bytes = 4 * 4096;
  const Reply flying = b.call(w);
  b.at(Op::read, fd, 4096, 0);
  CHECK(b.files.counts().bytes_from_cache == 0);
  Request done;
  done.op = Op::complete;
  done.ticket = flying.ticket;
  done.bytes = w.bytes;
  CHECK(b.call(done).result == 4 * 4096);
  b.at(Op::read, fd, 4096, 2 * 4096);
  CHECK(b.files.counts().bytes_from_cache == 4096);
}

TEST_CASE("a page that a write covers in part is read first") {
  Bench b(small());
  b.files.put("a", numbered(4 * 4096 + 10));
  const auto fd = b.open("a", kWrite);
  const auto target_bytes = [&] { return b.files.counts().target_bytes[0]; };
  b.at(Op::write, fd, 4096, 2048);  // the second half of page 0, and the first of page 1
  CHECK(target_bytes() == 2 * 4096);
  b.at(Op::write, fd, 1, 100);          // page 0 is there by now
  b.at(Op::write, fd, 4096, 2 * 4096);  // whole
  b.at(Op::write, fd, 1000, 4 * 4096);  // beyond all bytes that the file's last page has
  CHECK(target_bytes() == 2 * 4096);
  const Reply read = b.at(Op::read, fd, 3 * 4096, 0);
  REQUIRE(read.pieces == 1);
  CHECK(read.piece[0].resource == kPageCache);
}

TEST_CASE("a given file may be read-only") {
  Bench b(small());
  b.files.put("a", numbered(10), {}, Access::read_only);
  CHECK(b.open("a", kWrite) == -EACCES);
  CHECK(b.open("a", kWrite | kTruncate) == -EACCES);
  Request r;
  r.op = Op::unlink;
  std::strcpy(r.path, "a");
  CHECK(b.call(r).result == -EACCES);
  r.op = Op::rename;
  std::strcpy(r.other, "b");
  CHECK(b.call(r).result == -EACCES);
  std::strcpy(r.path, "c");
  std::strcpy(r.other, "a");
  REQUIRE(b.open("c", kWrite | kCreate) >= 3);
  CHECK(b.call(r).result == -EACCES);
  CHECK(b.open("a") >= 3);
}

TEST_CASE("only reads and writes can be asynchronous") {
  Bench b(small());
  b.files.put("a", numbered(4096));
  CHECK(b.open("a", 1u << 20) == -EINVAL);
  const auto fd = b.open("a", kWrite | kAsync);
  REQUIRE(fd >= 3);
  Request r;
  r.op = Op::open;
  r.flags = kAsync;
  std::strcpy(r.path, "a");
  CHECK(b.call(r).asynchronous == 0);
  r.op = Op::sync;
  r.fd = static_cast<std::int32_t>(fd);
  CHECK(b.call(r).asynchronous == 0);
  CHECK((b.files.log().back().flags & kAsync) == 0);
  r.op = Op::read;
  r.bytes = 10;
  CHECK(b.call(r).asynchronous == 1);
  r.flags = 0;
  CHECK(b.call(r).asynchronous == 0);  // the descriptor's flags do not matter
}

TEST_CASE("whether bytes pass the page cache is the descriptor's to say") {
  Bench b(small());
  b.files.put("a", numbered(8192));
  const auto fd = b.open("a");
  Request r;
  r.op = Op::read;
  r.flags = kDirect;
  r.fd = static_cast<std::int32_t>(fd);
  r.bytes = 100;
  CHECK(b.call(r).result == 100);
  CHECK((b.files.log().back().flags & kDirect) == 0);
  CHECK(b.files.counts().bytes_buffered == 100);
  r.flags = 0;
  r.fd = static_cast<std::int32_t>(b.open("a", kDirect));
  r.bytes = 4096;
  CHECK(b.call(r).result == 4096);
  CHECK((b.files.log().back().flags & kDirect) != 0);
  CHECK(b.files.counts().bytes_buffered == 100);
}

TEST_CASE("a log without room says so") {
  Bench b(small());
  for (std::size_t i = 0; i < kMostLogged; ++i) b.at(Op::close, -1, 0, 0);
  CHECK(b.files.log_is_whole());
  b.at(Op::close, -1, 0, 0);
  CHECK_FALSE(b.files.log_is_whole());
  b.files.reset_counts();
  CHECK(b.files.log_is_whole());
}

TEST_CASE("a write-back has a request for neighbouring pages, whatever writes made them dirty") {
  Bench b(small());
  const auto fd = b.open("a", kWrite | kCreate, 1 << 16, 1);
  for (int i = 0; i < 300; ++i) b.at(Op::write, fd, 30, 30 * i);
  const auto before = b.files.counts().target_requests;
  const Reply r = b.at(Op::sync, fd, 0, 0);
  REQUIRE(r.pieces == 1);
  CHECK(r.piece[0].bytes == 9000);
  CHECK(r.piece[0].seconds == Approx(1e-5 + 9000 / 1e9));
  CHECK(std::accumulate(b.files.counts().target_requests.begin(), b.files.counts().target_requests.end(), 0ull) ==
        1 + std::accumulate(before.begin(), before.end(), 0ull));
  CHECK(b.at(Op::sync, fd, 0, 0).pieces == 0);
  // What a truncation cuts off is not written back.
  b.at(Op::write, fd, 4096, 0), b.at(Op::write, fd, 4096, 5 * 4096);
  b.at(Op::truncate, fd, 0, 4096);
  b.at(Op::write, fd, 4096, 7 * 4096);
  CHECK(b.at(Op::sync, fd, 0, 0).piece[0].bytes == 2 * 4096);
}

TEST_CASE("pages leave the cache one by one") {
  Bench b(small());
  b.files.put("a", numbered(8 * 4096), {1 << 16, 1, 0});
  const auto fd = b.open("a", kWrite), direct = b.open("a", kWrite | kDirect);
  const auto reads_from = [&](std::int64_t page) {
    const auto before = b.files.counts().bytes_from_cache;
    b.at(Op::read, fd, 4096, page * 4096);
    return b.files.counts().bytes_from_cache == before ? "storage" : "cache";
  };
  b.at(Op::read, fd, 8 * 4096, 0);
  // A direct write makes its own pages invalid, and no other.
  CHECK(b.at(Op::write, direct, 4096, 2 * 4096, 4096).result == 4096);
  CHECK(reads_from(1) == std::string("cache"));
  CHECK(reads_from(2) == std::string("storage"));
  // A page that waits for its write-back stays.
  b.at(Op::write, fd, 4096, 3 * 4096);
  b.at(Op::advise, fd, 0, 0);
  CHECK(reads_from(3) == std::string("cache"));
  CHECK(reads_from(4) == std::string("storage"));
}

TEST_CASE("a crash is not played again over what the owner has changed meanwhile") {
  Bench b(small());
  const auto fd = b.open("a", kWrite | kCreate);
  b.at(Op::write, fd, 100, 0);
  CHECK_NOTHROW(b.files.after_crash(1, {}));
  b.files.flip("a", 3);
  CHECK_THROWS(b.files.after_crash(1, {}));
  b.files.reset_counts();
  CHECK_NOTHROW(b.files.after_crash(1, {}));
}
