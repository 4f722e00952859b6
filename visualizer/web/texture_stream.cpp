#include "web/texture_stream.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "web/wire.hpp"

namespace ridge::viz::web {

void TextureStream::replace(Texture texture) {
  Held held;
  held.columns = (texture.width + kTile - 1) / kTile;
  const int rows = (texture.height + kTile - 1) / kTile;
  held.sent.resize(static_cast<std::size_t>(held.columns) * static_cast<std::size_t>(rows));
  held.texture = std::move(texture);
  held_[held.texture.id] = std::move(held);
}

void TextureStream::want(Held& held, const DrawList& list, const Command& command) {
  const auto tile = [](float part, int texels, int more) {
    const float at = std::isfinite(part) ? part * static_cast<float>(texels) : 0;
    return std::clamp(static_cast<int>(std::floor(std::clamp(at, 0.0F, 65536.0F))) + more, 0, texels - 1) / kTile;
  };
  const Texture& t = held.texture;
  const std::size_t end = std::min<std::size_t>(list.indices.size(), std::size_t{command.first_index} + command.count);
  for (std::size_t i = command.first_index; i + 2 < end; i += 3) {
    float low_u = 1, low_v = 1, high_u = 0, high_v = 0;
    for (std::size_t k = i; k < i + 3; ++k) {
      const std::size_t at = command.first_vertex + list.indices[k];
      if (at >= list.vertices.size()) return;
      const Vertex& v = list.vertices[at];
      low_u = std::min(low_u, v.u), high_u = std::max(high_u, v.u);
      low_v = std::min(low_v, v.v), high_v = std::max(high_v, v.v);
    }
    // A texel more on each side: the filter mixes neighbours.
    for (int y = tile(low_v, t.height, -1); y <= tile(high_v, t.height, 1); ++y)
      for (int x = tile(low_u, t.width, -1); x <= tile(high_u, t.width, 1); ++x) {
        const auto number = static_cast<std::size_t>(y * held.columns + x);
        if (held.sent[number]) continue;
        held.sent[number] = true;
        held.wanted.push_back(number);
      }
  }
}

std::string TextureStream::message(Held& held) {
  const Texture& t = held.texture;
  ByteWriter out;
  out.put(t.id);
  out.put(static_cast<std::uint32_t>(t.width));
  out.put(static_cast<std::uint32_t>(t.height));
  out.put(static_cast<std::uint8_t>(t.channels));
  out.put(static_cast<std::uint8_t>(std::exchange(held.fresh, false)));
  out.put(static_cast<std::uint32_t>(held.wanted.size()));
  for (const std::size_t number : held.wanted) {
    const int x = static_cast<int>(number) % held.columns * kTile, y = static_cast<int>(number) / held.columns * kTile;
    const int width = std::min(kTile, t.width - x), height = std::min(kTile, t.height - y);
    for (const int side : {x, y, width, height}) out.put(static_cast<std::uint16_t>(side));
    for (int row = y; row < y + height; ++row) {
      const auto from =
          (static_cast<std::size_t>(row) * static_cast<std::size_t>(t.width) + static_cast<std::size_t>(x)) *
          static_cast<std::size_t>(t.channels);
      out.put_bytes(std::string_view(t.pixels).substr(from, static_cast<std::size_t>(width * t.channels)));
    }
  }
  held.wanted.clear();
  return out.take();
}

std::vector<std::string> TextureStream::pieces(const DrawFrame& frame) {
  for (const DrawList& list : frame.lists)
    for (const Command& command : list.commands)
      if (const auto held = held_.find(command.texture); held != held_.end()) want(held->second, list, command);
  std::vector<std::string> out;
  for (auto& [id, held] : held_)
    if (!held.wanted.empty()) out.push_back(message(held));
  return out;
}

}  // namespace ridge::viz::web
