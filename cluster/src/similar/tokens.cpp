#include "cluster/src/similar/tokens.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "simt/rewrite/text/lexer.hpp"

namespace ridge::cluster::similar {

namespace {

using simt::Kind;

constexpr std::string_view kName = "name", kNumber = "0", kLiteral = "\"", kInteger = "int";

// FNV-1a, and never 0.
std::uint32_t symbol_of(std::string_view text) {
  std::uint32_t h = 2166136261u;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  return h == 0 ? 1 : h;
}

bool is_integer_type(std::string_view word) {
  static const std::set<std::string_view> known = {
      "int",    "unsigned", "signed",  "long",    "short",   "char",     "auto",     "size_t",   "ptrdiff_t",
      "int8_t", "int16_t",  "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint"};
  return known.count(word) != 0;
}

bool changes_nothing(std::string_view word) {
  static const std::set<std::string_view> known = {"const",    "constexpr", "inline",       "static",
                                                   "std",      "restrict",  "__restrict__", "__restrict",
                                                   "typename", "register",  "noexcept",     "__forceinline__"};
  return known.count(word) != 0;
}

bool is_fixed(std::string_view word) {
  static const std::set<std::string_view> known = {
      "if",         "else",     "for",      "while",     "do",
      "return",     "break",    "continue", "switch",    "case",
      "default",    "struct",   "class",    "template",  "namespace",
      "using",      "operator", "sizeof",   "true",      "false",
      "nullptr",    "void",     "float",    "double",    "bool",
      "volatile",   "asm",      "new",      "delete",    "this",
      "goto",       "union",    "enum",     "typedef",   "extern",
      "alignas",    "decltype", "half",     "threadIdx", "blockIdx",
      "blockDim",   "gridDim",  "warpSize", "dim3",      "define",
      "float2",     "float4",   "int4",     "uint4",     "reinterpret_cast",
      "static_cast"};
  return known.count(word) != 0 || word.starts_with("__") || word.starts_with("cuda") || word.starts_with("cublas") ||
         word.starts_with("nccl") || word.starts_with("atomic");
}

class Reader {
 public:
  Reader(std::string_view source, std::size_t most) : s_(source), kinds_(simt::classify(source)), most_(most) {}

  std::vector<Token> read() {
    bool line_begins = true;
    for (std::size_t at = 0; at < s_.size() && all_.size() < most_;) {
      if (s_[at] == '\n' || simt::is_space(s_[at]) || kinds_[at] == Kind::comment) {
        line_begins = line_begins || s_[at] == '\n';
        ++at;
      } else if (kinds_[at] == Kind::literal) {
        at = add(kLiteral, at, literal_end(at));
      } else if (s_[at] == '#' && line_begins) {
        at = directive(at);
      } else {
        line_begins = false;
        at = code(at);
      }
    }
    return std::move(all_);
  }

 private:
  std::size_t add(std::string_view normal, std::size_t begin, std::size_t end) {
    all_.push_back({symbol_of(normal), static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
    return end;
  }
  std::size_t run(std::size_t at, Kind kind) const {
    while (at < s_.size() && kinds_[at] == kind) ++at;
    return at;
  }
  // Adjacent literals count as one, as compilers join them.
  std::size_t literal_end(std::size_t at) const {
    std::size_t end = run(at, Kind::literal);
    for (std::size_t next = end; next < s_.size();) {
      if (simt::is_space(s_[next]))
        ++next;
      else if (kinds_[next] == Kind::literal)
        end = next = run(next, Kind::literal);
      else
        break;
    }
    return end;
  }
  std::size_t word_end(std::size_t at) const {
    while (at < s_.size() && simt::is_word(s_[at]) && kinds_[at] == Kind::code) ++at;
    return at;
  }
  // Headers and hints for the compiler are left out with their lines; of other directives the words are read.
  std::size_t directive(std::size_t at) const {
    std::size_t word = at + 1;
    while (word < s_.size() && (s_[word] == ' ' || s_[word] == '\t')) ++word;
    const std::string_view name = s_.substr(word, word_end(word) - word);
    if (name == "include" || name == "pragma" || name == "line" || name == "undef")
      return std::min(s_.find('\n', at), s_.size());
    return at + 1;
  }
  std::size_t code(std::size_t at) {
    const std::string_view rest = s_.substr(at);
    if (std::isdigit(static_cast<unsigned char>(s_[at])) != 0 ||
        (s_[at] == '.' && rest.size() > 1 && std::isdigit(static_cast<unsigned char>(rest[1])) != 0))
      return add(kNumber, at, number_end(at));
    if (simt::is_word(s_[at])) {
      const std::size_t end = word_end(at);
      const std::string_view word = s_.substr(at, end - at);
      if (changes_nothing(word)) return s_.substr(end, 2) == "::" ? end + 2 : end;
      if (is_integer_type(word)) return integer(at, end);
      const bool axis =
          word.size() == 1 && word[0] >= 'w' && word[0] <= 'z' && at > 0 && (s_[at - 1] == '.' || s_[at - 1] == '>');
      return add(axis || is_fixed(word) ? word : kName, at, end);
    }
    if (rest.substr(0, 2) == "->") return add(".", at, at + 2);
    return add(s_.substr(at, 1), at, at + 1);
  }
  // "unsigned long long" is one type.
  std::size_t integer(std::size_t at, std::size_t end) {
    static const std::uint32_t symbol = symbol_of(kInteger);
    if (all_.empty() || all_.back().symbol != symbol) return add(kInteger, at, end);
    all_.back().end = static_cast<std::uint32_t>(end);
    return end;
  }
  std::size_t number_end(std::size_t at) const {
    for (++at; at < s_.size() && kinds_[at] == Kind::code; ++at) {
      const char before = static_cast<char>(std::tolower(static_cast<unsigned char>(s_[at - 1])));
      const bool sign = (s_[at] == '+' || s_[at] == '-') && (before == 'e' || before == 'p');
      if (!simt::is_word(s_[at]) && s_[at] != '.' && s_[at] != '\'' && !sign) break;
    }
    return at;
  }

  std::string_view s_;
  std::vector<Kind> kinds_;
  std::size_t most_;
  std::vector<Token> all_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source, std::size_t most) { return Reader(source, most).read(); }

}  // namespace ridge::cluster::similar
