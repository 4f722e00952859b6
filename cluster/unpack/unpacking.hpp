// Unpacks an untrusted archive into a folder. Both functions throw Refused, with one line on what is wrong; files
// that were written by then stay.
#pragma once
#include <cstddef>
#include <stdexcept>

namespace ridge::unpack {

constexpr long long kMaxBytes = 16 << 20, kMaxFile = 4 << 20;
// A whole clone of the course has some 2000 files, and its history and build folder may be in the archive, too.
constexpr int kMaxKept = 5000, kMaxEntries = 50000;

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `top` is a descriptor of the folder, which is empty.
void unpack_file(const char* archive, int top);
void unpack_memory(const void* archive, std::size_t bytes, int top);

}  // namespace ridge::unpack
