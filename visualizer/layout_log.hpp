// Where named items were drawn, in pixels, so that a test can look at a picture (`--layout F.json`).
#pragma once
#include <imgui.h>

#include <filesystem>
#include <string>
#include <vector>

namespace ridge::viz {

class LayoutLog {
 public:
  void clear() { items_.clear(); }
  void point(const std::string& name, ImVec2 at, float radius, ImU32 colour, bool filled);
  void box(const std::string& name, ImVec2 from, ImVec2 to);
  void axis(const std::string& name, double low, double high, float pixel_low, float pixel_high);
  // Throws std::runtime_error.
  void write(const std::filesystem::path& file) const;

 private:
  std::vector<std::string> items_;  // JSON objects
};

}  // namespace ridge::viz
