// Stands in until the sanitizer is linked: nothing is checked.
#include "sanitizer.hpp"

namespace ridge::simt {

[[gnu::weak]] void Sanitizer::allocated(std::uintptr_t, std::size_t, bool) {}
[[gnu::weak]] void Sanitizer::written(std::uintptr_t, std::size_t) {}
[[gnu::weak]] void Sanitizer::freed(std::uintptr_t) {}
[[gnu::weak]] void Sanitizer::finish() {}

}  // namespace ridge::simt
