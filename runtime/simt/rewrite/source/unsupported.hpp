// CUDA that the emulator does not have, by name, and advice on what to do instead.
#pragma once
#include <string>
#include <string_view>

namespace ridge::simt {

// Marks the messages below among the compiler's.
constexpr std::string_view kUnsupportedMark = "not part of the emulator: ";

// "<cub/cub.cuh> is not part of the emulator: ..."; empty for headers that say nothing to us.
std::string unsupported_header(std::string_view header);
// The message for a word of the program: tex2D, asm, ...
std::string unsupported_word(std::string_view word);

}  // namespace ridge::simt
