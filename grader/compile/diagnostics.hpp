// Compiler messages as a student should see them: about their own lines only.
#pragma once
#include <string>

namespace ridge {

// Drops errors and notes inside the emulator's and the C++ library's headers, template back-traces, and source lines
// that show the rewritten launch. Text without any message about the user's own files is returned as it is.
std::string own_messages(const std::string& compiler_output);

// The same messages with the columns of the lines that were written, and those lines under them, for messages about
// `file`: the compiler read `rewritten` in the place of `written`, line for line.
std::string in_own_columns(const std::string& compiler_output, const std::string& file, const std::string& rewritten,
                           const std::string& written);

}  // namespace ridge
