// The token in the server's address. It is kept in a file that only its owner can read, so that a tab finds the server
// again after a crash; a server that ends in order removes it.
#pragma once
#include <string>

#include "grader/base/paths.hpp"

namespace ridge::serve {

// 32 random hexadecimal digits.
std::string new_token();

// The token in `file`; a new one, which is written there, where the file is missing, is damaged, is no plain file, or
// can be read by others. Where it cannot be written, the token lasts as long as the server.
std::string kept_token(const fs::path& file);

}  // namespace ridge::serve
