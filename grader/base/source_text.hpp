// Source files as students save them: UTF-8 with or without a byte order mark, or UTF-16 as Windows editors write it.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace ridge {

// The text as compilers read it: no byte order mark, UTF-16 converted to UTF-8, a lone carriage return as the end of a
// line where there is no other end, all else as it is. Nothing where the
// bytes are no text.
std::optional<std::string> source_text(std::string_view bytes);

// The message to a student whose file is not text.
constexpr const char* kNoSourceText =
    "is no text: it holds zero bytes, and is no UTF-16 either. Save it as UTF-8, and hand it in again";

// Whether the bytes are well-formed UTF-8.
bool valid_utf8(std::string_view bytes);

}  // namespace ridge
