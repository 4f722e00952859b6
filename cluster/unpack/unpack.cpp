// ridge-unpack ARCHIVE FOLDER unpacks the regular files of an untrusted archive (zip, or tar with its compressions, by
// libarchive) into an empty folder, in a process of its own. It refuses links, devices, absolute names, names with
// `..`, and archives larger than a submission may be. Exit code 0, or 1 with one line on what is wrong.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>

#include "unpacking.hpp"

int main(int argc, char** argv) {
  using ridge::unpack::kMaxFile;
  if (argc != 3) {
    std::printf("usage: ridge-unpack ARCHIVE FOLDER\n");
    return 1;
  }
  // libarchive converts names to the locale's encoding, and in the locale C it refuses all that is not ASCII.
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) std::setlocale(LC_CTYPE, "en_US.UTF-8");
  const rlimit memory{512UL << 20, 512UL << 20}, cpu{15, 15}, file{kMaxFile, kMaxFile};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CPU, &cpu);
  setrlimit(RLIMIT_FSIZE, &file);
  try {
    const int top = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (top < 0) throw ridge::unpack::Refused("the folder to unpack into is not there");
    ridge::unpack::unpack_file(argv[1], top);
  } catch (const ridge::unpack::Refused& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
  return 0;
}
