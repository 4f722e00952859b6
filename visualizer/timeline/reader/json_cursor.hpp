// A cursor over JSON text in a buffer that may end anywhere. A 0 byte and 7 more bytes follow the buffer's end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ridge::viz::timeline {

// Thrown where the buffer ends inside a value. The caller reads more and begins the value again.
struct NeedMore {};
// Thrown where the text is not JSON. `at` points into the buffer.
struct NotJson {
  const char* at;
  const char* what;
};

struct Text {
  std::string_view raw;  // between the quotes
  bool plain = true;     // no escapes, control characters or bytes beyond ASCII
};

class JsonCursor {
 public:
  JsonCursor(const char* at, const char* end) : p_(at), end_(end) {}
  const char* at() const { return p_; }

  char peek() {
    while (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r') ++p_;
    if (p_ >= end_) throw NeedMore{};
    return *p_;
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++p_;
    return true;
  }
  void expect(char c, const char* what) {
    if (!take(c)) throw NotJson{p_, what};
  }

  // Reads a string; the cursor is at its '"'.
  Text string() {
    const char* start = ++p_;
    bool plain = true;
    for (;;) {
      // Skips eight bytes at a time, unless one is '"', '\', below 0x20 or beyond ASCII.
      std::uint64_t w;
      std::memcpy(&w, p_, 8);
      constexpr std::uint64_t k1 = 0x0101010101010101, k8 = 0x8080808080808080;
      const std::uint64_t quote = w ^ (k1 * '"'), slash = w ^ (k1 * '\\');
      if ((((quote - k1) & ~quote) | ((slash - k1) & ~slash) | w | ((w - k1 * 0x20) & ~w)) & k8) {
        for (int i = 0; i < 8; ++i, ++p_) {
          const auto c = static_cast<unsigned char>(*p_);
          if (p_ >= end_) throw NeedMore{};
          if (c == '"') return {{start, static_cast<std::size_t>(p_++ - start)}, plain};
          if (c == '\\') {
            plain = false;
            if (p_ + 1 >= end_) throw NeedMore{};
            ++p_, ++i;
          } else if (c >= 0x80 || c < 0x20) {
            plain = false;
          }
        }
      } else {
        p_ += 8;
      }
      if (p_ >= end_) throw NeedMore{};
    }
  }

  Text key() {
    if (peek() != '"') throw NotJson{p_, "a member's name must stand here, in quotes"};
    const Text t = string();
    expect(':', "':' is missing behind a member's name");
    return t;
  }

  // Reads a number, true, false, null, NaN and the like, as text.
  std::string_view bare() {
    const char* start = p_;
    for (;; ++p_) {
      const char c = *p_;
      const bool part = (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || (c >= 'a' && c <= 'z') ||
                        (c >= 'A' && c <= 'Z');
      if (!part) break;
    }
    if (p_ >= end_) throw NeedMore{};
    if (p_ == start) throw NotJson{p_, "a value must stand here"};
    return {start, static_cast<std::size_t>(p_ - start)};
  }

  // Skips any value, of any depth, without a stack. Brackets are counted and not matched by kind.
  void skip() {
    const char first = peek();
    if (first == '"') return void(string());
    if (first != '{' && first != '[') return void(bare());
    std::uint64_t depth = 0;
    for (;;) {
      const char c = *p_;
      if (p_ >= end_) throw NeedMore{};
      if (c == '"') {
        string();
        continue;
      }
      ++p_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
  }

 private:
  const char *p_, *end_;
};

// The text with escapes resolved and invalid UTF-8 replaced.
std::string decoded(const Text& text);

}  // namespace ridge::viz::timeline
