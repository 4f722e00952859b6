// Archives that students hand in: any bytes are files below the folder, or are refused with a reason.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "cluster/unpack/unpacking.hpp"
#include "fuzz.hpp"

namespace fs = std::filesystem;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fs::path around = [] {
    char name[] = "/tmp/ridge-fuzz-archive-XXXXXX";
    if (mkdtemp(name) == nullptr) std::abort();
    return fs::path(name);
  }();
  const fs::path folder = around / "folder";
  fs::create_directory(folder);
  const int top = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  try {
    ridge::unpack::unpack_memory(data, size, top);
  } catch (const ridge::unpack::Refused& e) {
    ridge::fuzz::promise(e.what()[0] != '\0', "a refusal has a reason");
  }
  close(top);
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    ridge::fuzz::promise(!entry.is_symlink() && (entry.is_regular_file() || entry.is_directory()),
                         "files and folders only");
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  ridge::fuzz::promise(bytes <= ridge::unpack::kMaxBytes + ridge::unpack::kMaxFile,
                       "no more than a submission may have");
  ridge::fuzz::promise(std::distance(fs::directory_iterator(around), {}) == 1, "nothing beside the folder");
  fs::remove_all(folder);
  return 0;
}
