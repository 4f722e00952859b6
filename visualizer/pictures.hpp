// Pictures of the program without a person: the whole window, or a view alone, as PNG or SVG.
#pragma once
#include <filesystem>

#include "app.hpp"
#include "window.hpp"

namespace ridge::viz {

struct PictureSize {
  int width = 1600, height = 900;
};

// The window with rail and notes, as PNG. Throws std::runtime_error.
void take_screenshot(App& app, PictureSize size, const std::filesystem::path& file, LayoutLog& log);
// The view alone. PNG needs a display (Xvfb); SVG needs nothing.
void export_png(App& app, PictureSize size, const std::filesystem::path& file, LayoutLog& log);
void export_svg(App& app, PictureSize size, const std::filesystem::path& file, LayoutLog& log);
// Within a frame of a running program.
void write_svg(App& app, const Theme& theme, PictureSize size, const std::filesystem::path& file, LayoutLog& log);

}  // namespace ridge::viz
