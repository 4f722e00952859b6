// Draws into an off-screen framebuffer, whose size no screen limits, and writes it as PNG.
#pragma once
#include <filesystem>
#include <functional>

#include "window.hpp"

namespace ridge::viz {

// `draw(theme)` is called for a few frames. Throws std::runtime_error.
void take_screenshot(Window& window, int width, int height, const std::filesystem::path& file,
                     const std::function<void(const Theme&)>& draw);

}  // namespace ridge::viz
