#include "layout_log.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ridge::viz {

using nlohmann::json;

void LayoutLog::point(const std::string& name, ImVec2 at, float radius, ImU32 colour, bool filled) {
  const auto channel = [&](int shift) { return (colour >> shift) & 0xFF; };
  items_.push_back(json{{"name", name},
                        {"x", at.x},
                        {"y", at.y},
                        {"radius", radius},
                        {"filled", filled},
                        {"rgb", {channel(IM_COL32_R_SHIFT), channel(IM_COL32_G_SHIFT), channel(IM_COL32_B_SHIFT)}}}
                       .dump());
}

void LayoutLog::box(const std::string& name, ImVec2 from, ImVec2 to) {
  items_.push_back(json{{"name", name}, {"x0", from.x}, {"y0", from.y}, {"x1", to.x}, {"y1", to.y}}.dump());
}

void LayoutLog::axis(const std::string& name, double low, double high, float pixel_low, float pixel_high) {
  items_.push_back(
      json{{"name", name}, {"low", low}, {"high", high}, {"pixel_low", pixel_low}, {"pixel_high", pixel_high}}.dump());
}

void LayoutLog::write(const std::filesystem::path& file) const {
  std::ofstream out(file);
  out << fmt::format("{{\"items\": [\n{}\n]}}\n", fmt::join(items_, ",\n"));
  out.close();
  if (!out) throw std::runtime_error(fmt::format("cannot write the layout '{}'", file.string()));
}

}  // namespace ridge::viz
