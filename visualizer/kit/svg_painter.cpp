#include "kit/svg_painter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "formats/xml_text.hpp"
#include "kit/draw_text.hpp"

namespace ridge::viz {
namespace {

// fill="#rrggbb", with an opacity below 1 where there is one
std::string paint(const char* attribute, ImU32 c) {
  const auto channel = [&](int shift) { return (c >> shift) & 0xFF; };
  const unsigned alpha = channel(IM_COL32_A_SHIFT);
  auto text = fmt::format("{}=\"#{:02x}{:02x}{:02x}\"", attribute, channel(IM_COL32_R_SHIFT), channel(IM_COL32_G_SHIFT),
                          channel(IM_COL32_B_SHIFT));
  if (alpha < 255) text += fmt::format(" {}-opacity=\"{:.3g}\"", attribute, alpha / 255.0);
  return text;
}

std::string points_of(const std::vector<ImVec2>& points) {
  std::string out;
  for (const ImVec2 p : points) fmt::format_to(std::back_inserter(out), "{:.2f},{:.2f} ", p.x, p.y);
  if (!out.empty()) out.pop_back();
  return out;
}

// The line height of DejaVu Sans over its em: ImGui takes the line height, SVG the em. textLength fits other
// families to the same width.
constexpr float kLineOfEm = 1.164F;

}  // namespace

SvgPainter::SvgPainter(float width, float height, std::string family)
    : width_(width), height_(height), family_(std::move(family)) {}

void SvgPainter::fill(ImVec2 from, ImVec2 to, ImU32 colour, float rounding) {
  if (to.x <= from.x || to.y <= from.y) return;
  fmt::format_to(std::back_inserter(body_),
                 "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"{} {}/>\n", from.x, from.y,
                 to.x - from.x, to.y - from.y, rounding > 0 ? fmt::format(" rx=\"{:.2f}\"", rounding) : "",
                 paint("fill", colour));
}

void SvgPainter::outline(ImVec2 from, ImVec2 to, ImU32 colour, float width, float rounding) {
  if (to.x <= from.x || to.y <= from.y) return;
  fmt::format_to(std::back_inserter(body_),
                 "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" rx=\"{:.2f}\" fill=\"none\" "
                 "stroke-width=\"{:.2f}\" {}/>\n",
                 from.x, from.y, to.x - from.x, to.y - from.y, rounding, width, paint("stroke", colour));
}

void SvgPainter::line(ImVec2 a, ImVec2 b, ImU32 colour, float width) {
  fmt::format_to(std::back_inserter(body_),
                 "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke-width=\"{:.2f}\" {}/>\n", a.x,
                 a.y, b.x, b.y, width, paint("stroke", colour));
}

void SvgPainter::polyline(const std::vector<ImVec2>& points, ImU32 colour, float width) {
  fmt::format_to(std::back_inserter(body_),
                 "<polyline points=\"{}\" fill=\"none\" stroke-width=\"{:.2f}\" stroke-linejoin=\"round\" {}/>\n",
                 points_of(points), width, paint("stroke", colour));
}

void SvgPainter::polygon(const std::vector<ImVec2>& convex, ImU32 colour) {
  fmt::format_to(std::back_inserter(body_), "<polygon points=\"{}\" {}/>\n", points_of(convex), paint("fill", colour));
}

void SvgPainter::circle(ImVec2 centre, float radius, ImU32 colour, float width) {
  const auto look = width > 0 ? fmt::format("fill=\"none\" stroke-width=\"{:.2f}\" {}", width, paint("stroke", colour))
                              : paint("fill", colour);
  fmt::format_to(std::back_inserter(body_), "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" {}/>\n", centre.x,
                 centre.y, radius, look);
}

void SvgPainter::text(const Type& type, ImVec2 at, ImU32 colour, const std::string& text, ImVec2 align, float angle) {
  if (text.empty()) return;
  const ImVec2 size = text_size(type, text);
  if (angle != 0) align = {0.5F, 0.5F};
  const float x = at.x - align.x * size.x, top = at.y - align.y * size.y;
  const float baseline = top + type.font->Ascent * type.size / type.font->FontSize;
  const auto turn = angle == 0 ? std::string()
                               : fmt::format(" transform=\"rotate({:.2f} {:.2f} {:.2f})\"",
                                             angle * 180 / std::numbers::pi_v<float>, at.x, at.y);
  fmt::format_to(std::back_inserter(body_),
                 "<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{:.2f}\"{}{} textLength=\"{:.2f}\" "
                 "lengthAdjust=\"spacingAndGlyphs\"{} {}>{}</text>\n",
                 x, baseline, type.size / kLineOfEm, type.bold ? " font-weight=\"bold\"" : "",
                 type.mono ? " font-family=\"'DejaVu Sans Mono', monospace\" xml:space=\"preserve\"" : "", size.x, turn,
                 paint("fill", colour), xml_text(text));
}

void SvgPainter::push_clip(ImVec2 from, ImVec2 to) {
  ++clips_, ++open_;
  fmt::format_to(
      std::back_inserter(body_),
      "<clipPath id=\"c{}\"><rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"/></clipPath>\n"
      "<g clip-path=\"url(#c{})\">\n",
      clips_, from.x, from.y, std::max(0.0F, to.x - from.x), std::max(0.0F, to.y - from.y), clips_);
}

void SvgPainter::pop_clip() {
  if (open_ == 0) return;
  --open_;
  body_ += "</g>\n";
}

std::string SvgPainter::document(std::string_view title) const {
  std::string tail;
  for (int i = 0; i < open_; ++i) tail += "</g>\n";
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"'{2}', 'DejaVu Sans', Verdana, sans-serif\" "
      "xml:space=\"preserve\">\n<title>{3}</title>\n{4}{5}</svg>\n",
      width_, height_, xml_text(family_), xml_text(title), body_, tail);
}

}  // namespace ridge::viz
