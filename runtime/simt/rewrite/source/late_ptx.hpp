// Inline PTX that is made of macros: it can be read when the preprocessor has replaced them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "simt/rewrite/text/policy_words.hpp"

namespace ridge::simt {

// For a header of a library: a program includes much that it never calls. What the emulator does not know there becomes
// a fault where it is executed.
constexpr std::string_view kLatePtxOfLibrary = "__ridge_asm__of_library";

// The rewritten text of a library's header, in which unknown inline PTX is no error.
std::string with_missing_ptx(std::string rewritten);

// Whether the operands of an asm statement hold a name that may be a macro.
bool ptx_has_macros(std::string_view operands);

struct LatePtxError {
  std::string file;
  unsigned line;
};

// Translates these statements in the preprocessor's output, where lines stay where they were. `errors`: those that the
// emulator does not know.
std::string translate_late_ptx(std::string_view text, std::vector<LatePtxError>& errors);

}  // namespace ridge::simt
