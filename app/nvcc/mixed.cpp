#include "app/nvcc/mixed.hpp"

#include <fmt/format.h>

namespace ridge::nvcc {

// What instrumented code calls; and where kernels are registered (host_api.h).
bool has_counted_code(const std::string& symbol_table) {
  return symbol_table.find(" __ridge_block\n") != std::string::npos;
}

bool has_plain_kernels(const std::string& symbol_table) {
  return symbol_table.find("10ridge_simt20add_uncounted_kernel") != std::string::npos;
}

std::string mixed_objects(const SymbolTables& symbols, const std::vector<std::string>& names) {
  std::string plain, counted;
  for (std::size_t i = 0; i < symbols.tables.size() && i < names.size(); ++i) {
    if (plain.empty() && has_plain_kernels(symbols.tables[i])) plain = names[i];
    if (counted.empty() && has_counted_code(symbols.tables[i])) counted = names[i];
  }
  if (plain.empty() || counted.empty()) return {};
  return fmt::format(
      "ridge cc: the kernels of {} were built with --plain, and {} was built without\n"
      "  a program counts all of its kernels or none: build all its files with --plain, or all without\n",
      plain, counted);
}

}  // namespace ridge::nvcc
