// A source as a sequence of symbols that renaming, comments and layout leave alone.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace ridge::cluster::similar {

struct Token {
  std::uint32_t symbol;      // equal for tokens that count as the same; never 0
  std::uint32_t begin, end;  // bytes of the source
};

// Names become one symbol, and so do numbers, literals, and integer types; words that cannot be renamed (keywords,
// CUDA's own names) stay. Comments, `#include`, `#pragma`, `std::`, and qualifiers that change no behaviour are left
// out. At most `most` tokens are read. Any bytes are a source.
std::vector<Token> tokens_of(std::string_view source, std::size_t most);

}  // namespace ridge::cluster::similar
