// The token in the server's address. It lasts as long as the server: behind a server that has ended or crashed, somebody
// else may listen at the port, and hear it from the tabs that go on asking there.
#pragma once
#include <string>

namespace ridge::serve {

// 32 random hexadecimal digits.
std::string new_token();

}  // namespace ridge::serve
