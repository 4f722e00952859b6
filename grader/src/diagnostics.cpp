#include "diagnostics.hpp"

#include <cctype>
#include <sstream>

namespace ridge {

namespace {

enum class Kind { none, message, note };

// "file:line:column: error: text", as GCC and Clang write it. `own` is false for headers that are not the user's.
Kind classify(const std::string& line, bool& own) {
  for (const char* word : {": error: ", ": fatal error: ", ": warning: ", ": note: "}) {
    auto at = line.find(word);
    if (at == std::string::npos || at == 0 || std::isdigit(static_cast<unsigned char>(line[at - 1])) == 0) continue;
    std::string file = line.substr(0, line.find(':'));
    own = file.find("/usr/") == std::string::npos && file.find("/simt/include/") == std::string::npos &&
          file.find("/c++/") == std::string::npos;
    return word == std::string(": note: ") ? Kind::note : Kind::message;
  }
  return Kind::none;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

std::string own_messages(const std::string& output) {
  std::istringstream lines(output);
  std::string kept;
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
    if (kind == Kind::none && contains(line, "::ridge_simt::Launch(")) {
      skip_caret = true;  // the launch as rewritten, and the caret below it, help nobody
      continue;
    }
    kept += line + "\n";
  }
  return contains(kept, "error: ") ? kept : output;
}

}  // namespace ridge
