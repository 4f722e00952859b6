// One compressed stream for the whole session (RFC 1951), so that a message may refer to those before it. The browser
// reads it with DecompressionStream('deflate-raw').
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace ridge::viz::web {

class Deflate {
 public:
  explicit Deflate(int level);
  ~Deflate();
  // The bytes that make the reader see all of `plain`.
  std::string add(std::string_view plain);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace ridge::viz::web
