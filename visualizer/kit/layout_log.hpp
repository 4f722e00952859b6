// The places of named items in a frame, in pixels. Tests inspect a picture with it (`--layout F.json`), and scripts
// click on its names. The first part of a name is the kind: "point/copy", "button/next".
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
    ImVec2 from, to;   // the part that can be clicked
    std::string json;  // the whole entry
  };

  void clear() { items_.clear(); }
  void point(const std::string& name, ImVec2 at, float radius, ImU32 colour, bool filled);
  void box(const std::string& name, ImVec2 from, ImVec2 to);
  void axis(const std::string& name, double low, double high, float pixel_low, float pixel_high);
  // A number or a text of the picture, unrounded, for comparison with the file.
  void value(const std::string& name, double value);
  void text(const std::string& name, const std::string& text);

  // The last item of this name, or nullptr where none was drawn.
  const Item* find(const std::string& name) const;
  const std::vector<Item>& items() const { return items_; }
  // {"items": [...]}
  std::string json() const;
  // Throws std::runtime_error.
  void write(const std::filesystem::path& file) const;

 private:
  std::vector<Item> items_;
};

}  // namespace ridge::viz
