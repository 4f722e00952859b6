#include "files/local.hpp"
#include "files/model/file_system.hpp"
#include "files/ring.hpp"
#include "support/catch.hpp"

using namespace ridge::files;

TEST_CASE("a ring has so many requests in flight, and gives them in their order") {
  FileSystem owner({});
  Bytes data(1000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i / 100);
  owner.put("a", data);
  use(&owner);
  const int fd = files::open("a", files::kWrite);
  char to[3][100] = {};
  files::Ring ring(2);
  CHECK(ring.read(fd, to[0], 100, 0, 10) == 0);
  CHECK(ring.read(fd, to[1], 100, 500, 11) == 0);
  CHECK(ring.read(fd, to[2], 100, 600, 12) == -EAGAIN);
  CHECK(ring.in_flight() == 2);
  CHECK(to[0][5] != 0);  // undefined until the completion
  files::Completion c = ring.wait();
  CHECK((c.tag == 10 && c.result == 100));
  CHECK(to[1][5] != 5);  // not yet there
  c = ring.wait();
  CHECK((c.tag == 11 && to[1][5] == 5));
  CHECK(ring.wait().result == -ENOENT);
  CHECK(ring.read(77, to[0], 1, 0) == -EBADF);
  CHECK(ring.write(fd, to[1], 100, 0) == 0);
  CHECK(ring.wait().result == 100);
  CHECK((*owner.find("a"))[50] == 5);
  CHECK(owner.counts().most_in_flight == 2);
  CHECK(owner.counts().changed_in_flight == 0);
  use(nullptr);
}
