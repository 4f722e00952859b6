#include "grader/compile/diagnostics.hpp"

#include <fmt/format.h>

#include <cctype>
#include <sstream>
#include <string_view>

#include "simt/rewrite/unsupported.hpp"

namespace ridge {

namespace {

enum class Kind { none, message, note };

// "file:line:column: error: text", as GCC and Clang write it. `own` is false for headers that are not the user's.
Kind classify(const std::string& line, bool& own) {
  for (const char* word : {": error: ", ": fatal error: ", ": warning: ", ": note: "}) {
    auto at = line.find(word);
    if (at == std::string::npos || at == 0 || std::isdigit(static_cast<unsigned char>(line[at - 1])) == 0) continue;
    std::string file = line.substr(0, line.find(':'));
    own = file != "<scratch space>" && file.find("/usr/") == std::string::npos &&
          file.find("/simt/include/") == std::string::npos && file.find("/c++/") == std::string::npos;
    return word == std::string(": note: ") ? Kind::note : Kind::message;
  }
  return Kind::none;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Messages about what the rewriter wrote, in the words of what the user wrote.
std::string in_own_words(const std::string& line) {
  for (const char* launch : {"no matching constructor for initialization of '::ridge_simt::Launch'",
                             "no matching function for call to ‘ridge_simt::Launch::Launch("})
    if (auto at = line.find(launch); at != std::string::npos)
      return line.substr(0, at) +
             "<<<...>>> takes a grid and a block (integers or dim3), then bytes of shared memory and a stream";
  // GCC says so itself.
  for (const char* header : {"vector", "string", "map", "set", "array", "tuple", "optional", "random", "thread"})
    if (contains(line, fmt::format("no member named '{}' in namespace 'std'", header)))
      return line + fmt::format("; is #include <{}> missing?", header);
  if (auto at = line.find("error: #error "); at != std::string::npos)
    return line.substr(0, at + 7) + line.substr(at + 14);
  return line;
}

// What the emulator lacks explains the errors that follow from it.
std::string unsupported_only(const std::string& messages) {
  std::istringstream lines(messages);
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (contains(line, "error: ") && contains(line, simt::kUnsupportedMark) && !contains(kept, line + "\n"))
      kept += line + "\n";
  return kept;
}

}  // namespace

std::string own_messages(const std::string& output) {
  std::istringstream lines(output);
  std::string kept, last;
  bool keeping = false, message_kept = false, skip_caret = false;
  for (std::string line; std::getline(lines, line);) {
    bool own = false;
    Kind kind = classify(line, own);
    if (kind == Kind::message) {
      keeping = message_kept = own;
    } else if (kind == Kind::note) {
      keeping = own && message_kept && !contains(line, "instantiation") && !contains(line, "requested here") &&
                !contains(line, "template argument") && !contains(line, "required from") && !contains(line, "skipping");
    } else if (line.rfind("In file included from", 0) == 0 || contains(line, ": In ") ||
               contains(line, "required from") || contains(line, " generated.")) {
      keeping = false;
    }
    if (skip_caret && kind == Kind::none) {
      skip_caret = false;
      continue;
    }
    skip_caret = false;
    if (!keeping) continue;
    if (kind == Kind::none && (contains(line, "::ridge_simt::") || contains(line, "_Pragma(\"GCC error"))) {
      skip_caret = true;  // the launch as rewritten, and the caret below it, help nobody
      continue;
    }
    std::string words = in_own_words(line);
    // GCC repeats itself where several overloads fail alike.
    if (kind != Kind::none && !last.empty() && words == last) continue;
    if (kind != Kind::none) last = words;
    kept += words + "\n";
  }
  if (std::string unsupported = unsupported_only(kept); !unsupported.empty()) return unsupported;
  return contains(kept, "error: ") ? kept : output;
}

}  // namespace ridge
