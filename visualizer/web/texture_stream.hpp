// Textures as bytes, in tiles: the fonts' atlas holds far more characters than a frame shows, so a tile goes out when a
// frame first needs it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "web/draw_stream.hpp"

namespace ridge::viz::web {

// An image that draw commands refer to.
struct Texture {
  std::uint32_t id = 0;
  int width = 0, height = 0, channels = 1;  // 1: coverage; 4: RGBA
  std::string pixels;
};

class TextureStream {
 public:
  // A new image, or a new content of that number.
  void replace(Texture texture);
  // Messages with the tiles that this frame needs and the page does not have.
  std::vector<std::string> pieces(const DrawFrame& frame);

 private:
  static constexpr int kTile = 8;  // texels
  struct Held {
    Texture texture;
    int columns = 0;
    std::vector<bool> sent;
    bool fresh = true;
    std::vector<std::size_t> wanted;
  };
  static void want(Held& held, const DrawList& list, const Command& command);
  static std::string message(Held& held);
  std::map<std::uint32_t, Held> held_;
};

}  // namespace ridge::viz::web
