// A GLFW window with an OpenGL context and Dear ImGui on it, and the fonts for its size.
#pragma once
#include <functional>
#include <stdexcept>

#include "theme.hpp"

struct GLFWwindow;

namespace ridge::viz {

// There is no display, or no OpenGL on it. The message says what to try.
struct DisplayError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Window {
 public:
  Window(int width, int height, bool visible);  // throws DisplayError
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  GLFWwindow* handle() const { return window_; }
  // Starts a frame. With a size given, ImGui draws for that instead of the window's own.
  const Theme& new_frame(ImVec2 size = {0, 0});
  // Ends the frame and draws it into the framebuffer that is bound.
  void render(int width, int height);

 private:
  GLFWwindow* window_ = nullptr;
  Theme theme_;
};

// Shows `draw(theme)` until the window is closed; idle while nothing happens.
void run_interactive(Window& window, const std::function<void(const Theme&)>& draw);

}  // namespace ridge::viz
