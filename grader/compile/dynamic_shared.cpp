#include "grader/compile/dynamic_shared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

#include "grader/base/paths.hpp"
#include "simt/driver/module_tail.hpp"
#include "simt/src/device/tls.hpp"

namespace ridge {

namespace {

constexpr const char* kArray = "ridge_dynamic";

// As it is, or within a namespace: _ZN4name5arrayE.
bool stands_for(const std::string& symbol, const std::string& array) {
  return symbol == array || symbol.ends_with(fmt::format("{}{}E", array.size(), array));
}

std::string c_escaped(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out;
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

std::string dynamic_shared_source(std::set<std::string> undefined, bool modules) {
  undefined.erase(kArray);
  std::string text = fmt::format("extern \"C\" {{\n__thread char {}[{}] __attribute__((aligned(1024)));\n", kArray,
                                 simt::kDynamicSharedMax + (modules ? simt::kModuleSharedBytes : 0));
  int i = 0;
  for (const auto& name : undefined)
    text += fmt::format("extern __thread char ridge_alias_{}[{}] __asm__(\"{}\") __attribute__((alias(\"{}\")));\n",
                        i++, simt::kDynamicSharedMax, name, kArray);
  text += fmt::format("char* ridge_dynamic_shared() {{ return {}; }}\n", kArray);
  if (modules) {
    std::error_code ec;
    text += fmt::format("const char* ridge_compiler() {{ return \"{}\"; }}\n",
                        c_escaped(fs::read_symlink("/proc/self/exe", ec).string()));
  }
  return text + "}\n";
}

}  // namespace ridge
