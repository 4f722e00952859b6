// runtime/files/cufile.hpp as programs use it on a real machine: it compiles against NVIDIA's header where that is, and
// says so where the machine has no cuFile.
#define RIDGE_REAL_FILES
#include <cstdlib>

#include "files/cufile.hpp"
#include "support/catch.hpp"

TEST_CASE("a machine without cuFile says so, and fails no other way") {
  if (files::cufile_available()) {
    // No memory of a device is here: what is not registered is refused.
    int here = 0;
    CHECK(files::deregister_buffer(&here) == -EINVAL);
    return;
  }
  char memory[4096];
  CHECK(files::register_buffer(memory, sizeof memory) == -ENOTSUP);
  CHECK(files::deregister_buffer(memory) == -ENOTSUP);
  CHECK(files::read_to_device(0, memory, sizeof memory, 0, 0) == -ENOTSUP);
  CHECK(files::write_from_device(0, memory, sizeof memory, 0, 0) == -ENOTSUP);
}
