// Dynamic shared memory: one area of the program's thread-local segment.
#pragma once
#include <cstddef>

namespace ridge::simt {

constexpr std::size_t kDynamicSharedMax = 227 * 1024;

}  // namespace ridge::simt

// Start of the calling OS thread's dynamic shared memory. Defined by `ridge cc` in programs that declare
// `extern __shared__` arrays, which are all aliases of it.
extern "C" [[gnu::weak]] char* ridge_dynamic_shared();
