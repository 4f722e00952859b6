// Compiler messages as a student should see them: about their own lines only.
#pragma once
#include <string>

namespace ridge {

// Drops errors and notes inside the emulator's and the C++ library's headers, template back-traces, and source lines
// that show the rewritten launch. Text without any message about the user's own files is returned as it is.
std::string own_messages(const std::string& compiler_output);

}  // namespace ridge
