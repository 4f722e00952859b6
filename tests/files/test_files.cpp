#include "files/files.hpp"
#include "files/local.hpp"
#include "files/model/file_system.hpp"
#include "support/catch.hpp"

using namespace ridge::files;

TEST_CASE("files are written, synced, renamed, listed and read") {
  FileSystem owner({});
  use(&owner);
  CHECK(files::mkdir("out") == 0);
  CHECK(files::mkdir("out") == -EEXIST);
  const std::string text = "a checkpoint";
  const int fd = files::open("out/a.tmp", files::kWrite | files::kCreate, {1 << 20, 4});
  REQUIRE(fd >= 3);
  CHECK(files::pwrite(fd, text.data(), text.size(), 5) == static_cast<ssize_t>(text.size()));
  CHECK(files::ftruncate(fd, 20) == 0);
  CHECK(files::fsync(fd) == 0);
  files::Status status;
  CHECK(files::fstat(fd, &status) == 0);
  CHECK(status.bytes == 20);
  CHECK(status.stripe.count == 4);
  CHECK(files::close(fd) == 0);
  CHECK(files::rename("out/a.tmp", "out/a") == 0);
  CHECK(files::list("out") == std::vector<std::string>{"a"});
  CHECK(files::list("") == std::vector<std::string>{"out/"});
  const int again = files::open("out/a");
  std::string got(text.size(), 0);
  CHECK(files::pread(again, got.data(), got.size(), 5) == static_cast<ssize_t>(text.size()));
  CHECK(got == text);
  CHECK(files::unlink("out/a") == 0);
  CHECK(files::open("out/a") == -ENOENT);
  CHECK(files::storage().targets == owner.storage().targets);
  CHECK(files::open(std::string(500, 'x').c_str()) == -ENAMETOOLONG);
  use(nullptr);
  CHECK(files::open("out") == -ENOSYS);
}
