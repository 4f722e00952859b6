#include "grader/build/missing_function.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>

#include "grader/base/text.hpp"
#include "simt/rewrite/text/functions.hpp"

namespace ridge {

namespace {

std::string joined_lines(const std::string& text) {
  std::istringstream words(text);
  std::string out;
  for (std::string w; words >> w;) out += (out.empty() ? "" : " ") + w;
  return out;
}

// A function as a source has it.
struct WrittenFunction {
  std::string name, declaration;  // "void copy(const float* in, int n)"
  std::vector<std::string> parameters;
  std::size_t line = 0;
  bool defined = false, for_host = false, member = false;
};

std::vector<WrittenFunction> functions_in(const std::string& text) {
  std::vector<simt::Kind> kind = simt::classify(text);
  const simt::SourceFunctions found = simt::functions_of(text, kind);
  const simt::SourceWalk walk(text, kind);
  std::vector<WrittenFunction> all;
  for (const simt::SourceFunction& f : found.all) {
    WrittenFunction w;
    w.name = f.name;
    const std::size_t begin = text.rfind('\n', f.at) + 1;  // npos + 1 is the first byte
    w.declaration = joined_lines(text.substr(begin, f.close + 1 - begin));
    for (std::string_view part : walk.parts(f.open, f.close)) w.parameters.push_back(joined_lines(std::string(part)));
    w.line =
        1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(f.at), '\n'));
    w.defined = f.defined(), w.for_host = !f.global && !f.for_device_alone(), w.member = f.member;
    all.push_back(std::move(w));
  }
  return all;
}

// The first function of this name, defined ones before others.
std::optional<WrittenFunction> function_named(const std::string& text, const std::string& name) {
  std::optional<WrittenFunction> first;
  for (WrittenFunction& f : functions_in(text))
    if (f.name == name && !f.member && (!first || (f.defined && !first->defined))) first = std::move(f);
  return first;
}

// What is wrong with the parameters of `own`, in the words of the sources where these have as many.
std::string difference(const LinkedFunction& wanted, const LinkedFunction& own,
                       const std::optional<WrittenFunction>& declared, const std::optional<WrittenFunction>& written) {
  if (own.parameters.size() != wanted.parameters.size())
    return fmt::format("it has {} parameters here, and {} there", own.parameters.size(), wanted.parameters.size());
  std::size_t i = 0;
  while (i < own.parameters.size() && own.parameters[i] == wanted.parameters[i]) ++i;
  if (i == own.parameters.size()) return "the parameters are equal";
  const bool known = declared && written && declared->parameters.size() == own.parameters.size() &&
                     written->parameters.size() == own.parameters.size();
  return fmt::format("parameter {} is `{}` here, and `{}` there", i + 1,
                     known ? written->parameters[i] : own.parameters[i],
                     known ? declared->parameters[i] : wanted.parameters[i]);
}

}  // namespace

LinkedFunction::LinkedFunction(const std::string& symbol) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                              std::free);
  readable = status == 0 ? text.get() : symbol;
  const std::size_t open = readable.find('(');
  const std::string qualified = readable.substr(0, open);
  const std::size_t colons = qualified.rfind("::");
  name = colons == std::string::npos ? qualified : qualified.substr(colons + 2);
  if (colons != std::string::npos) space = qualified.substr(0, colons);
  if (open == std::string::npos) return;
  int depth = 0;
  std::string part;
  for (const char c : readable.substr(open + 1)) {
    if (depth == 0 && (c == ',' || c == ')')) {
      if (const std::string one = joined_lines(part); !one.empty()) parameters.push_back(one);
      part.clear();
      if (c == ')') break;
      continue;
    }
    depth += c == '(' || c == '<' || c == '[' ? 1 : c == ')' || c == '>' || c == ']' ? -1 : 0;
    part += c;
  }
}

Contract::Contract(const Lab& lab) {
  for (const auto& entry : fs::directory_iterator(lab.dir))
    if (entry.path().extension() == ".hpp") headers_[entry.path().filename().string()] = file_text(entry.path());
  for (const std::string& file : lab.files) stubs_[file] = file_text(lab.dir / file);
}

std::string Contract::file_of(const std::string& name) const {
  for (const auto& [file, text] : stubs_)
    if (const auto f = function_named(text, name); f && f->defined) return file;
  return {};
}

std::string Contract::missing(const std::string& symbol, const std::string& file, const std::string& text,
                              const std::vector<std::string>& defined) const {
  const LinkedFunction wanted(symbol);
  std::optional<WrittenFunction> declared;
  std::string declaration;
  for (const auto& [header, source] : headers_)
    if (auto f = function_named(source, wanted.name); f && !declared) {
      declared = std::move(f);
      declaration = fmt::format("  {}:{}: {};\n", header, declared->line, declared->declaration);
    }
  const auto written = function_named(text, wanted.name);
  const std::string place = written ? fmt::format("{}:{}", file, written->line) : file;
  // The same name under which the linker knows something else.
  for (const std::string& other : defined)
    if (const LinkedFunction own(other); own.name == wanted.name && own.readable != wanted.readable) {
      if (own.space != wanted.space)
        return fmt::format("{}: error: {} is {}{}, where the lab does not find it\n{}  define it outside\n", place,
                           wanted.name, own.space.empty() ? "outside of " : "in ",
                           own.space.empty() ? wanted.space : own.space, declaration);
      return fmt::format("{}: error: {} is defined with other parameters than it is called with\n{}  {}\n", place,
                         wanted.name,
                         declaration.empty() ? fmt::format("  called: {}\n", wanted.readable) : declaration,
                         difference(wanted, own, declared, written));
    }
  std::string message =
      declaration.empty()
          ? fmt::format("{}: error: {} is called and defined nowhere\n  define what you declare\n", file,
                        wanted.readable)
          : fmt::format("{}: error: the lab calls {}, and no file defines it\n{}", file, wanted.name, declaration);
  if (written && written->defined)
    return message + fmt::format(
                         "  {} defines a {} that other files cannot call: is it a template, inline, static, in "
                         "an unnamed namespace, or left out by #if?\n",
                         place, wanted.name);
  // A slip of the fingers: of host functions that the lab does not ask for.
  std::vector<std::string> names;
  std::map<std::string, std::size_t> lines;
  for (const WrittenFunction& f : functions_in(text))
    if (f.defined && f.for_host && !f.member) names.push_back(f.name), lines.emplace(f.name, f.line);
  for (const std::string& other : defined)
    if (LinkedFunction own(other); own.space == wanted.space) names.push_back(own.name);
  std::erase_if(names, [&](const std::string& name) {
    return name == wanted.name || std::any_of(headers_.begin(), headers_.end(), [&](const auto& header) {
             return function_named(header.second, name).has_value();
           });
  });
  if (const std::string near = nearest(wanted.name, names); !near.empty())
    message += fmt::format("  {}{} defines {}: did you mean {}?\n", file,
                           lines.count(near) != 0 ? fmt::format(":{}", lines[near]) : "", near, wanted.name);
  return message;
}

bool defines(const std::string& text, const std::string& name) {
  const auto f = function_named(text, name);
  return f && f->defined;
}

}  // namespace ridge
