#include "kit/layout_log.hpp"

#include <nlohmann/json.hpp>

#include "kit/files.hpp"

namespace ridge::viz {

namespace {

std::string text_of(const nlohmann::json& item) {
  return item.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void LayoutLog::point(const std::string& name, ImVec2 at, float radius, ImU32 colour, bool filled) {
  const auto channel = [&](int shift) { return (colour >> shift) & 0xFF; };
  items_.push_back(
      {name,
       {at.x - radius, at.y - radius},
       {at.x + radius, at.y + radius},
       text_of({{"name", name},
                {"x", at.x},
                {"y", at.y},
                {"radius", radius},
                {"filled", filled},
                {"rgb", {channel(IM_COL32_R_SHIFT), channel(IM_COL32_G_SHIFT), channel(IM_COL32_B_SHIFT)}}})});
}

void LayoutLog::box(const std::string& name, ImVec2 from, ImVec2 to) {
  items_.push_back(
      {name, from, to, text_of({{"name", name}, {"x0", from.x}, {"y0", from.y}, {"x1", to.x}, {"y1", to.y}})});
}

void LayoutLog::axis(const std::string& name, double low, double high, float pixel_low, float pixel_high) {
  items_.push_back(
      {name,
       {},
       {},
       text_of({{"name", name}, {"low", low}, {"high", high}, {"pixel_low", pixel_low}, {"pixel_high", pixel_high}})});
}

void LayoutLog::value(const std::string& name, double value) {
  items_.push_back({name, {}, {}, text_of({{"name", name}, {"value", value}})});
}

void LayoutLog::text(const std::string& name, const std::string& text) {
  items_.push_back({name, {}, {}, text_of({{"name", name}, {"text", text}})});
}

const LayoutLog::Item* LayoutLog::find(const std::string& name) const {
  for (auto item = items_.rbegin(); item != items_.rend(); ++item)
    if (item->name == name) return &*item;
  return nullptr;
}

std::string LayoutLog::json() const {
  std::string text = "{\"items\": [\n";
  for (std::size_t i = 0; i < items_.size(); ++i) text += items_[i].json + (i + 1 < items_.size() ? ",\n" : "\n");
  return text + "]}\n";
}

void LayoutLog::write(const std::filesystem::path& file) const { write_file(file, json()); }

}  // namespace ridge::viz
