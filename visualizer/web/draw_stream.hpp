// Frames as bytes. A draw list that is the last frame's takes three bytes; of one that changed, what lies between its
// unchanged ends is sent.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ridge::viz::web {

struct Vertex {
  float x, y, u, v;  // CSS pixels; parts of the texture
  std::uint32_t colour;
  bool operator==(const Vertex&) const = default;
};

struct Command {
  float clip[4];  // x0, y0, x1, y1 in CSS pixels
  std::uint32_t texture, count, first_index, first_vertex;
  bool operator==(const Command&) const = default;
};

struct DrawList {
  std::string name;  // the ImGui window's; tells which list of the last frame to compare with
  std::vector<Vertex> vertices;
  std::vector<std::uint16_t> indices;
  std::vector<Command> commands;
  bool operator==(const DrawList&) const = default;
};

struct DrawFrame {
  float width = 0, height = 0;   // CSS pixels
  float ratio = 1;               // framebuffer pixels for each CSS pixel
  std::uint32_t background = 0;  // RGBA
  std::uint8_t cursor = 0;       // ImGuiMouseCursor + 1; 0 hides it
  bool wants_text = false;       // a text field has the focus
  std::vector<DrawList> lists;
  bool operator==(const DrawFrame&) const = default;
};

class DrawStream {
 public:
  DrawStream();
  ~DrawStream();
  // The frame's bytes; `number` is its own, `input` the last message of events that it shows. Keeps the frame, to which
  // the next one refers.
  std::string encode(DrawFrame frame, std::uint32_t number, std::uint32_t input);
  // Whether this frame would look the same as the last.
  bool same(const DrawFrame& frame) const;

 private:
  struct Last;
  std::unique_ptr<Last> last_;
};

}  // namespace ridge::viz::web
