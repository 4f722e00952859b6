#include "kit/painter.hpp"

#include "kit/draw_text.hpp"

namespace ridge::viz {

void ScreenPainter::fill(ImVec2 from, ImVec2 to, ImU32 colour, float rounding) {
  list_->AddRectFilled(from, to, colour, rounding);
}

void ScreenPainter::outline(ImVec2 from, ImVec2 to, ImU32 colour, float width, float rounding) {
  list_->AddRect(from, to, colour, rounding, 0, width);
}

void ScreenPainter::line(ImVec2 a, ImVec2 b, ImU32 colour, float width) { list_->AddLine(a, b, colour, width); }

void ScreenPainter::polyline(const std::vector<ImVec2>& points, ImU32 colour, float width) {
  list_->AddPolyline(points.data(), static_cast<int>(points.size()), colour, 0, width);
}

void ScreenPainter::polygon(const std::vector<ImVec2>& convex, ImU32 colour) {
  list_->AddConvexPolyFilled(convex.data(), static_cast<int>(convex.size()), colour);
}

void ScreenPainter::circle(ImVec2 centre, float radius, ImU32 colour, float width) {
  if (width > 0)
    list_->AddCircle(centre, radius, colour, 0, width);
  else
    list_->AddCircleFilled(centre, radius, colour);
}

void ScreenPainter::text(const Type& type, ImVec2 at, ImU32 colour, const std::string& text, ImVec2 align,
                         float angle) {
  if (angle == 0)
    draw_text(list_, type, at, colour, text, align);
  else
    draw_turned(list_, type, at, angle, colour, text);
}

void ScreenPainter::push_clip(ImVec2 from, ImVec2 to) { list_->PushClipRect(from, to, true); }

void ScreenPainter::pop_clip() { list_->PopClipRect(); }

}  // namespace ridge::viz
