#include "device/symbols.hpp"

#include <cstdint>
#include <map>

namespace ridge::simt {

namespace {
std::map<std::uintptr_t, std::size_t>& known() {
  static auto* symbols = new std::map<std::uintptr_t, std::size_t>;
  return *symbols;
}
}  // namespace

void know_symbol(const void* symbol, std::size_t bytes) {
  known().emplace(reinterpret_cast<std::uintptr_t>(symbol), bytes);
}

bool is_symbol(const void* p) {
  auto address = reinterpret_cast<std::uintptr_t>(p);
  auto at = known().upper_bound(address);
  return at != known().begin() && address - (--at)->first < at->second;
}

}  // namespace ridge::simt
