// Draws into an SVG file. Text remains text in the theme's font family, and keeps its width where the viewer
// substitutes another font.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kit/painter.hpp"

namespace ridge::viz {

class SvgPainter : public Painter {
 public:
  SvgPainter(float width, float height, std::string family);
  void fill(ImVec2 from, ImVec2 to, ImU32 colour, float rounding) override;
  void outline(ImVec2 from, ImVec2 to, ImU32 colour, float width, float rounding) override;
  void line(ImVec2 a, ImVec2 b, ImU32 colour, float width) override;
  void polyline(const std::vector<ImVec2>& points, ImU32 colour, float width) override;
  void polygon(const std::vector<ImVec2>& convex, ImU32 colour) override;
  void circle(ImVec2 centre, float radius, ImU32 colour, float width) override;
  void text(const Type& type, ImVec2 at, ImU32 colour, const std::string& text, ImVec2 align, float angle) override;
  void push_clip(ImVec2 from, ImVec2 to) override;
  void pop_clip() override;

  // The whole file. Browser tabs and screen readers show `title`.
  std::string document(std::string_view title) const;

 private:
  float width_, height_;
  std::string family_, body_;
  int clips_ = 0, open_ = 0;
};

}  // namespace ridge::viz
