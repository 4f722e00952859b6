#include "support/catch.hpp"
#include "web/texture_stream.hpp"
#include "web/wire.hpp"

using namespace ridge::viz::web;

namespace {

// A triangle over a part of the texture, given in texels of 100 x 50.
DrawFrame showing(float u0, float v0, float u1, float v1) {
  DrawList list;
  list.vertices = {{0, 0, u0 / 100, v0 / 50, 0}, {9, 0, u1 / 100, v0 / 50, 0}, {9, 9, u1 / 100, v1 / 50, 0}};
  list.indices = {0, 1, 2};
  list.commands = {{{0, 0, 9, 9}, 1, 3, 0, 0}};
  DrawFrame frame;
  frame.lists = {list};
  return frame;
}

// The texture as the page has it; '?' where nothing came.
struct Page {
  std::string pixels = std::string(5000, '?');
  int pieces = 0;
  bool fresh = false;
  void take(const std::vector<std::string>& messages) {
    pieces = 0;
    for (const auto& message : messages) {
      ByteReader in(message);
      CHECK(in.get<std::uint32_t>() == 1);
      CHECK(in.get<std::uint32_t>() == 100);
      CHECK(in.get<std::uint32_t>() == 50);
      CHECK(in.get<std::uint8_t>() == 1);
      fresh = in.get<std::uint8_t>() == 1;
      for (auto left = in.get<std::uint32_t>(); left > 0; --left, ++pieces) {
        const int x = in.get<std::uint16_t>(), y = in.get<std::uint16_t>();
        const int width = in.get<std::uint16_t>(), height = in.get<std::uint16_t>();
        for (int row = y; row < y + height; ++row)
          pixels.replace(static_cast<std::size_t>(row * 100 + x), static_cast<std::size_t>(width),
                         in.get_bytes(static_cast<std::size_t>(width)));
      }
      CHECK(in.done());
    }
  }
};

Texture image() {
  Texture t{1, 100, 50, 1, {}};
  for (int i = 0; i < 5000; ++i) t.pixels += static_cast<char>('a' + i % 26);
  return t;
}

}  // namespace

TEST_CASE("a frame brings the texels that it shows, with a border for the filter, once") {
  TextureStream stream;
  stream.replace(image());
  Page page;
  page.take(stream.pieces(showing(24, 16, 40, 32)));  // at the tiles' edges
  CHECK(page.fresh);
  for (int y = 15; y <= 32; ++y)
    CHECK(page.pixels.substr(static_cast<std::size_t>(y * 100 + 23), 18) ==
          image().pixels.substr(static_cast<std::size_t>(y * 100 + 23), 18));
  CHECK(page.pixels.back() == '?');
  CHECK(stream.pieces(showing(24, 16, 40, 32)).empty());
  page.take(stream.pieces(showing(24, 16, 100, 50)));
  CHECK_FALSE(page.fresh);
  CHECK(page.pixels.back() == image().pixels.back());
}

TEST_CASE("a new content begins anew") {
  TextureStream stream;
  stream.replace(image());
  Page page;
  page.take(stream.pieces(showing(0, 0, 100, 50)));
  CHECK(page.pixels == image().pixels);
  Texture other = image();
  other.pixels.assign(5000, 'Z');
  stream.replace(other);
  page.take(stream.pieces(showing(0, 0, 100, 50)));
  CHECK(page.fresh);
  CHECK(page.pixels == other.pixels);
}

TEST_CASE("indices outside the list ask for nothing") {
  TextureStream stream;
  stream.replace(image());
  DrawFrame frame = showing(0, 0, 10, 10);
  frame.lists[0].indices = {0, 1, 9};
  CHECK(stream.pieces(frame).empty());
  frame.lists[0].commands[0].first_index = 4000000000U;
  CHECK(stream.pieces(frame).empty());
}
