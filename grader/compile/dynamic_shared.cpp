#include "grader/compile/dynamic_shared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

namespace ridge {

namespace {

constexpr const char* kArray = "ridge_dynamic";

// As it is, or within a namespace: _ZN4name5arrayE.
bool stands_for(const std::string& symbol, const std::string& array) {
  return symbol == array || symbol.ends_with(fmt::format("{}{}E", array.size(), array));
}

}  // namespace

std::set<std::string> undefined_tls(const SymbolTables& symbols) {
  std::set<std::string> wanted, defined;
  for (const std::string& table : symbols.tables) {
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string number, value, size, type, bind, visibility, section, name;
      words >> number >> value >> size >> type >> bind >> visibility >> section >> name;
      if (type == "TLS") (section == "UND" ? wanted : defined).insert(name);
    }
  }
  for (const auto& name : defined) wanted.erase(name);
  wanted.erase("_ZN5ridge4simt10tls_runnerE");  // the emulator's own, read in place by code without instrumentation
  return wanted;
}

std::set<std::string> dynamic_arrays(const std::string& rewritten) {
  constexpr std::string_view kHead = "extern __thread";
  const auto of_a_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::set<std::string> names;
  for (std::size_t at = 0; (at = rewritten.find(kHead, at)) != std::string::npos; at += kHead.size()) {
    const std::size_t open = rewritten.find_first_of("[;{", at);
    if (open == std::string::npos || rewritten[open] != '[') continue;
    const std::size_t end = rewritten.find_last_not_of(" \t\n", open - 1) + 1;
    std::size_t begin = end;
    while (begin > at && of_a_name(rewritten[begin - 1])) --begin;
    if (begin < end) names.insert(rewritten.substr(begin, end - begin));
  }
  return names;
}

std::string aliases_of_dynamic(const SymbolTables& object, const std::set<std::string>& arrays) {
  std::string text;
  for (const std::string& symbol : undefined_tls(object))
    if (std::any_of(arrays.begin(), arrays.end(), [&](const auto& a) { return stands_for(symbol, a); }))
      text += fmt::format("\t.set\t{}, {}\n", symbol, kArray);
  // Clang's assembler does not see through .set that the array is thread-local.
  return text.empty() ? text : fmt::format("\t.type\t{}, @tls_object\n", kArray) + text;
}

std::string dynamic_shared_source(std::set<std::string> undefined) {
  undefined.erase(kArray);
  std::string text = fmt::format("extern \"C\" {{\n__thread char {}[232448] __attribute__((aligned(1024)));\n", kArray);
  int i = 0;
  for (const auto& name : undefined)
    text += fmt::format("extern __thread char ridge_alias_{}[232448] __asm__(\"{}\") __attribute__((alias(\"{}\")));\n",
                        i++, name, kArray);
  return text + fmt::format("char* ridge_dynamic_shared() {{ return {}; }}\n}}\n", kArray);
}

}  // namespace ridge
