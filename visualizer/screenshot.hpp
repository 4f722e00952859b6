// Draws into an off-screen framebuffer, whose size no screen limits, and writes it as PNG.
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
  // One frame of a sixtieth of a second.
  void frame(const Look& look, const std::function<void(const Theme&)>& draw, const std::function<void()>& input = {});
  // Returns when all that was asked for is drawn.
  void finish() const;
  // What the last frame drew, whole or cut out. Throws std::runtime_error.
  void write_png(const std::filesystem::path& file) const;

 private:
  struct Buffer;
  Window& window_;
  int width_, height_;
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace ridge::viz
