// Which texts the page can edit: it shows each character of them, and saves no other byte than it has shown.
#pragma once
#include <string>
#include <string_view>

namespace ridge::serve {

constexpr std::size_t kMostText = 512 << 10;

// Why the page cannot edit the text, with the line; empty: it can. Reading and saving ask the same.
std::string text_problem(std::string_view text);

}  // namespace ridge::serve
