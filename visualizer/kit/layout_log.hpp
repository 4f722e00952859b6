// Where named items were drawn, in pixels: tests look at a picture by it (`--layout F.json`), and scripts click by
// these names. The name's first part is its kind: "point/copy", "button/next".
#pragma once
#include <imgui.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ridge::viz {

class LayoutLog {
 public:
  struct Item {
    std::string name;
    ImVec2 from, to;   // what of it can be clicked
    std::string json;  // all that was logged
  };

  void clear() { items_.clear(); }
  void point(const std::string& name, ImVec2 at, float radius, ImU32 colour, bool filled);
  void box(const std::string& name, ImVec2 from, ImVec2 to);
  void axis(const std::string& name, double low, double high, float pixel_low, float pixel_high);
  // A number or words that stand in the picture, unrounded, so that they can be held against the file's.
  void value(const std::string& name, double value);
  void text(const std::string& name, const std::string& text);

  // The last item of this name; nullptr: nothing of that name was drawn.
  const Item* find(const std::string& name) const;
  const std::vector<Item>& items() const { return items_; }
  // Throws std::runtime_error.
  void write(const std::filesystem::path& file) const;

 private:
  std::vector<Item> items_;
};

}  // namespace ridge::viz
