// Views draw through a painter, onto the screen or into a file. Coordinates are pixels from the top left.
#pragma once
#include <imgui.h>

#include <string>
#include <vector>

#include "kit/theme.hpp"

namespace ridge::viz {

class Painter {
 public:
  virtual ~Painter() = default;
  virtual void fill(ImVec2 from, ImVec2 to, ImU32 colour, float rounding = 0) = 0;
  virtual void outline(ImVec2 from, ImVec2 to, ImU32 colour, float width = 1, float rounding = 0) = 0;
  virtual void line(ImVec2 a, ImVec2 b, ImU32 colour, float width = 1) = 0;
  virtual void polyline(const std::vector<ImVec2>& points, ImU32 colour, float width = 1) = 0;
  virtual void polygon(const std::vector<ImVec2>& convex, ImU32 colour) = 0;
  // A `width` of 0 fills the circle.
  virtual void circle(ImVec2 centre, float radius, ImU32 colour, float width = 0) = 0;
  // `align` names the part of the text that lies at `at`: 0 is its left or top, 1 its right or bottom. `angle` rotates
  // the text, centred on `at`, by radians clockwise.
  virtual void text(const Type& type, ImVec2 at, ImU32 colour, const std::string& text, ImVec2 align = {0, 0},
                    float angle = 0) = 0;
  virtual void push_clip(ImVec2 from, ImVec2 to) = 0;
  virtual void pop_clip() = 0;
};

// Draws onto the current ImGui window.
class ScreenPainter : public Painter {
 public:
  explicit ScreenPainter(ImDrawList* list) : list_(list) {}
  void fill(ImVec2 from, ImVec2 to, ImU32 colour, float rounding) override;
  void outline(ImVec2 from, ImVec2 to, ImU32 colour, float width, float rounding) override;
  void line(ImVec2 a, ImVec2 b, ImU32 colour, float width) override;
  void polyline(const std::vector<ImVec2>& points, ImU32 colour, float width) override;
  void polygon(const std::vector<ImVec2>& convex, ImU32 colour) override;
  void circle(ImVec2 centre, float radius, ImU32 colour, float width) override;
  void text(const Type& type, ImVec2 at, ImU32 colour, const std::string& text, ImVec2 align, float angle) override;
  void push_clip(ImVec2 from, ImVec2 to) override;
  void pop_clip() override;

 private:
  ImDrawList* list_;
};

}  // namespace ridge::viz
