// Draws pictures without a user: the whole window or one view, as PNG or SVG.
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>

#include "app.hpp"
#include "window.hpp"

namespace ridge::viz {

struct PictureSize {
  int width = 1600, height = 900;
};

// Calls `frame` until the shown view has loaded its files, then three times more. False: `patience` ran out.
bool settle(App& app, std::chrono::seconds patience, const std::function<void()>& frame);

// Writes the window with rail and notes as PNG. Throws std::runtime_error.
void take_screenshot(App& app, PictureSize size, const std::filesystem::path& file, LayoutLog& log);
// Write the view alone. PNG needs a display (Xvfb); SVG needs none. Throw std::runtime_error.
void export_png(App& app, PictureSize size, const std::filesystem::path& file, LayoutLog& log);
void export_svg(App& app, PictureSize size, const std::filesystem::path& file, LayoutLog& log);
// The view as SVG, during a frame of the running program.
std::string svg_text(App& app, const Theme& theme, float width, float height, LayoutLog& log);
void write_svg(App& app, const Theme& theme, PictureSize size, const std::filesystem::path& file, LayoutLog& log);

}  // namespace ridge::viz
