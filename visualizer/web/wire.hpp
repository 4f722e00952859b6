// The bytes between `ridge-viz --web` and the page, version 1; README.md has the layout. Everything is little-endian.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ridge::viz::web {

constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kMostInput = 64 << 10;      // bytes of a message of the page
constexpr std::size_t kMostOutput = 256 << 10;    // bytes of a message of the program; longer ones go in parts
constexpr std::size_t kMostEvents = 4096;         // in one message
constexpr float kSmallest = 64, kLargest = 8192;  // the canvas's sides in CSS pixels

// Kinds of messages. The first of each side is its hello.
enum class FromPage : std::uint8_t { hello = 'h', acknowledge = 'a', events = 'e', layout = 'l' };
enum class FromProgram : std::uint8_t {
  frame = 'F',
  texture = 'T',
  clipboard = 'C',
  status = 'S',
  download = 'D',
  layout = 'L',
  error = 'E'
};

// A message of the page cannot be understood. The text says why.
struct MessageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ByteWriter {
 public:
  template <typename Number>
  void put(Number number) {
    static_assert(std::is_arithmetic_v<Number> || std::is_enum_v<Number>);
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    text_.append(bytes, sizeof number);
  }
  void put_bytes(std::string_view bytes) { text_ += bytes; }
  // The length in 4 bytes, then the text.
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    text_ += text;
  }
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Throws MessageError at the end of the bytes.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  template <typename Number>
  Number get() {
    static_assert(std::is_arithmetic_v<Number>);
    Number number;
    std::memcpy(&number, get_bytes(sizeof number).data(), sizeof number);
    return number;
  }
  std::string_view get_bytes(std::size_t count) {
    if (count > bytes_.size()) throw MessageError("the message ends too early");
    const std::string_view out = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return out;
  }
  std::string_view get_text() { return get_bytes(get<std::uint32_t>()); }
  bool done() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

}  // namespace ridge::viz::web
