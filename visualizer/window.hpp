// A GLFW window with an OpenGL context and Dear ImGui on it, and the fonts for its size.
#pragma once
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <vector>

#include "kit/theme.hpp"

struct GLFWwindow;

namespace ridge::viz {

// There is no display, or it has no OpenGL. The message says what to try.
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
  // Starts a frame of the given size, else of the window's. `input` overrides the window's mouse and keys for this
  // frame.
  const Theme& new_frame(const Look& look, ImVec2 size = {0, 0}, const std::function<void()>& input = {});
  // Ends the frame and draws it into the bound framebuffer.
  void render(int width, int height);
  void size(int& width, int& height) const;
  // Files dropped on the window since the last call.
  std::vector<std::filesystem::path> dropped();

 private:
  GLFWwindow* window_ = nullptr;
  Theme theme_;
  Look look_;
  float density_ = 1;
};

// Shows frames until the window is closed. `draw` draws one frame and returns how many seconds the program may sleep
// without input.
void run_interactive(Window& window, const Look& look, const std::function<double(const Theme&)>& draw);

}  // namespace ridge::viz
