// Stores for gigabytes that no processor reads soon: an upload takes them from memory.
#pragma once
#include <cstddef>
#include <span>

namespace ridge::lab {

// As std::memcpy, past the caches: a line that is overwritten whole is not read first.
void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes);

template <class T>
void copy_past_caches(std::span<T> to, const T* from) {
  copy_past_caches(reinterpret_cast<std::byte*>(to.data()), reinterpret_cast<const std::byte*>(from), to.size_bytes());
}

}  // namespace ridge::lab
