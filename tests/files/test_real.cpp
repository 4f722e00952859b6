// runtime/files/real.cpp on this machine's file system; built once with liburing and once with threads.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "files/files.hpp"
#include "files/ring.hpp"
#include "support/catch.hpp"

namespace {
// Before the first call of files: its folder is RIDGE_FILES.
const char* folder() {
  static char name[] = "/tmp/ridge-test-files-XXXXXX";
  static const char* made = [] {
    const char* path = mkdtemp(name);
    setenv("RIDGE_FILES", path, 1);
    return path;
  }();
  return made;
}
}  // namespace

TEST_CASE("a real file system answers as the virtual one") {
  REQUIRE(folder() != nullptr);
  CHECK(files::open("none") == -ENOENT);
  REQUIRE(files::mkdir("out") == 0);
  CHECK(files::mkdir("out") == -EEXIST);
  const int fd = files::open("out/a.tmp", files::kWrite | files::kCreate | files::kExclusive);
  REQUIRE(fd >= 0);
  std::vector<char> data(10001);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 7 % 251);
  CHECK(files::pwrite(fd, data.data(), data.size(), 0) == 10001);
  CHECK(files::fsync(fd) == 0);
  files::Status status;
  CHECK(files::fstat(fd, &status) == 0);
  CHECK(status.bytes == 10001);
  CHECK(files::close(fd) == 0);
  CHECK(files::rename("out/a.tmp", "out/a") == 0);
  const int parent = files::open("");
  CHECK(files::fsync(parent) == 0);
  CHECK(files::close(parent) == 0);
  CHECK(files::list("out") == std::vector<std::string>{"a"});
  const int again = files::open("out/a");
  std::vector<char> got(5000);
  CHECK(files::pread(again, got.data(), 5000, 8000) == 2001);
  CHECK(std::equal(got.begin(), got.begin() + 2001, data.begin() + 8000));

  files::Ring ring(3);
  std::vector<std::vector<char>> parts(3, std::vector<char>(3000));
  for (int i = 0; i < 3; ++i)
    CHECK(ring.read(again, parts[static_cast<std::size_t>(i)].data(), 3000, 3000 * i, 70 + i) == 0);
  CHECK(ring.read(again, got.data(), 1, 0) == -EAGAIN);
  for (int i = 0; i < 3; ++i) {
    const files::Completion c = ring.wait();
    CHECK(c.result == 3000);
    CHECK(c.tag == 70u + static_cast<unsigned>(i));
    CHECK(std::equal(parts[static_cast<std::size_t>(i)].begin(), parts[static_cast<std::size_t>(i)].end(),
                     data.begin() + 3000 * i));
  }
  CHECK(files::close(again) == 0);
  CHECK(files::unlink("out/a") == 0);
  CHECK(files::list("out").empty());
  CHECK(rmdir((std::string(folder()) + "/out").c_str()) == 0);
  CHECK(rmdir(folder()) == 0);
}
