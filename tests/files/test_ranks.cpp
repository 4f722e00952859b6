#include <memory>
#include <vector>

#include "files/local.hpp"
#include "files/model/file_system.hpp"
#include "files/ranks.hpp"
#include "support/catch.hpp"

using namespace ridge::files;

namespace {
struct Never {
  bool* destroyed;
  ~Never() { *destroyed = true; }
};
}  // namespace

TEST_CASE("a rank that dies runs nothing more, and the others go on") {
  Faults f;
  f.deaths = {{.rank = 1, .at_change = 2}};
  FileSystem owner({}, f);
  use(&owner);
  int reached = 0;
  bool destroyed = false;
  std::vector<std::unique_ptr<Never>> made;  // a rank that dies frees nothing, and this is no leak
  for (int rank = 0; rank < 3; ++rank) {
    const bool lived = files::lives_through(rank, [&] {
      made.emplace_back(new Never{&destroyed});
      const std::string path = "part" + std::to_string(rank);
      const int fd = files::open(path.c_str(), files::kWrite | files::kCreate);
      files::pwrite(fd, "abc", 3, 0);
      ++reached;
      made.back().reset();
      destroyed = false;
    });
    CHECK(lived == (rank != 1));
  }
  CHECK(reached == 2);
  CHECK_FALSE(destroyed);
  CHECK(owner.died() == std::vector<int>{1});
  CHECK_FALSE(files::lives_through(1, [] { files::open("part0"); }));
  owner.restart();
  CHECK(files::lives_through(1, [] { CHECK(files::open("part0") >= 3); }));
  use(nullptr);
}

TEST_CASE("a rank dies at a step, and entry.cu can leave notes") {
  Faults f;
  f.deaths = {{.rank = 2, .at_step = 5}};
  FileSystem owner({}, f);
  owner.on_mark([](FileSystem&, std::int64_t number, std::int64_t value) { return number * 100 + value; });
  use(&owner);
  long long last = -1;
  CHECK_FALSE(files::lives_through(2, [&] {
    for (long long s = 0; s < 10; ++s) {
      files::step(s);
      last = s;
    }
  }));
  CHECK(last == 4);
  CHECK(files::mark(3, 4) == 304);
  use(nullptr);
}

TEST_CASE("a descriptor is its rank's own") {
  FileSystem owner({});
  owner.put("a", Bytes(10));
  use(&owner);
  int fd = -1;
  char to[4];
  CHECK(files::lives_through(1, [&] { fd = files::open("a"); }));
  CHECK(files::lives_through(2, [&] {
    CHECK(files::pread(fd, to, 4, 0) == -EBADF);
    CHECK(files::fsync(fd) == -EBADF);
    CHECK(files::close(fd) == -EBADF);
  }));
  CHECK(files::lives_through(1, [&] {
    CHECK(files::pread(fd, to, 4, 0) == 4);
    CHECK(files::close(fd) == 0);
  }));
  use(nullptr);
}
