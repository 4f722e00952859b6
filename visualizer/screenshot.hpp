// Draws into an off-screen framebuffer of any size and writes it as PNG.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>

#include "window.hpp"

namespace ridge::viz {

class OffScreen {
 public:
  OffScreen(Window& window, int width, int height);  // throws DisplayError
  ~OffScreen();
  // Draws one frame, which lasts a sixtieth of a second.
  void frame(const Look& look, const std::function<void(const Theme&)>& draw, const std::function<void()>& input = {});
  // Waits until the GPU has drawn everything.
  void finish() const;
  // Writes the last frame, or a rectangle of it. Throws std::runtime_error.
  void write_png(const std::filesystem::path& file) const;

 private:
  struct Buffer;
  Window& window_;
  int width_, height_;
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace ridge::viz
