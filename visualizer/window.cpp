#include "window.hpp"

#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace ridge::viz {
namespace {

constexpr int kSettleFrames = 3;  // frames after an event: ImGui needs one for hover and one for layout

std::string& last_error() {
  static std::string text;
  return text;
}

std::vector<std::filesystem::path>& drops() {
  static std::vector<std::filesystem::path> files;
  return files;
}

[[noreturn]] void no_display(const char* what) {
  throw DisplayError(
      fmt::format("{}: {}\n  try: set DISPLAY to a running X server, or draw off-screen with\n"
                  "       xvfb-run -a ridge-viz --screenshot F.png RESULT.json\n"
                  "       (without OpenGL drivers: LIBGL_ALWAYS_SOFTWARE=1; over SSH: copy the file and look locally)",
                  what, last_error().empty() ? "GLFW gave no reason" : last_error()));
}

}  // namespace

Window::Window(int width, int height, bool visible) {
  glfwSetErrorCallback([](int, const char* text) { last_error() = text; });
  if (!glfwInit()) no_display("no display to open a window on");
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, visible ? GLFW_TRUE : GLFW_FALSE);
  glfwWindowHint(GLFW_VISIBLE, visible ? GLFW_TRUE : GLFW_FALSE);
  window_ = glfwCreateWindow(width, height, "Ridge", nullptr, nullptr);
  if (!window_) {
    glfwTerminate();
    no_display("cannot open a window with OpenGL 3.0");
  }
  glfwMakeContextCurrent(window_);
  glfwSwapInterval(1);
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  ImGui_ImplGlfw_InitForOpenGL(window_, true);
  ImGui_ImplOpenGL3_Init("#version 130");
  theme_.scale = 0;  // no fonts yet
  glfwSetDropCallback(window_, [](GLFWwindow*, int count, const char** paths) {
    for (int i = 0; i < count; ++i) drops().emplace_back(paths[i]);
  });
}

Window::~Window() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(window_);
  glfwTerminate();
}

const Theme& Window::new_frame(const Look& look, ImVec2 size, const std::function<void()>& input) {
  int width = 0, height = 0, pixels = 0, unused = 0;
  glfwGetWindowSize(window_, &width, &height);
  glfwGetFramebufferSize(window_, &pixels, &unused);
  const bool own = size.x == 0;
  if (own) size = {static_cast<float>(width), static_cast<float>(height)};
  const float density = own && width > 0 ? static_cast<float>(pixels) / static_cast<float>(width) : 1;
  const float scale = scale_for(size.x, size.y, look.zoom);
  if (scale != theme_.scale || look != look_ || density != density_) {
    theme_ = make_theme(scale, look, density);
    look_ = look;
    density_ = density;
#if IMGUI_VERSION_NUM < 19200  // later backends update the font atlas themselves
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
  }
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  if (!own) {
    ImGui::GetIO().DisplaySize = size;
    ImGui::GetIO().DisplayFramebufferScale = {1, 1};
    ImGui::GetIO().DeltaTime = 1.0F / 60;
  }
  if (input) input();
  ImGui::NewFrame();
  return theme_;
}

void Window::size(int& width, int& height) const { glfwGetWindowSize(window_, &width, &height); }

std::vector<std::filesystem::path> Window::dropped() { return std::exchange(drops(), {}); }

void Window::render(int width, int height) {
  ImGui::Render();
  glViewport(0, 0, width, height);
  const ImVec4 ground = ImGui::ColorConvertU32ToFloat4(theme_.colours.desk);
  glClearColor(ground.x, ground.y, ground.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

void run_interactive(Window& window, const Look& look, const std::function<double(const Theme&)>& draw) {
  while (!glfwWindowShouldClose(window.handle())) {
    double wake = INFINITY;
    for (int i = 0; i < kSettleFrames; ++i) {
      int width = 0, height = 0;
      glfwGetFramebufferSize(window.handle(), &width, &height);
      if (width == 0 || height == 0) break;  // the window is minimised
      wake = draw(window.new_frame(look));
      window.render(width, height);
      glfwSwapBuffers(window.handle());
      glfwPollEvents();
    }
    if (std::isinf(wake))
      glfwWaitEvents();
    else
      glfwWaitEventsTimeout(std::clamp(wake, 0.001, 3600.0));
  }
}

}  // namespace ridge::viz
