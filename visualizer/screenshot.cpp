#include "screenshot.hpp"

// Includes OpenGL with the types of the framebuffer functions.
#define GLFW_INCLUDE_GLEXT
#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <stb_image_write.h>

#include <stdexcept>
#include <vector>

namespace ridge::viz {
namespace {

template <typename Function>
Function gl(const char* name) {
  auto* function = reinterpret_cast<Function>(glfwGetProcAddress(name));
  if (!function) throw DisplayError(fmt::format("this OpenGL has no {}\n  try: LIBGL_ALWAYS_SOFTWARE=1", name));
  return function;
}

}  // namespace

// A hidden window's own pixels are undefined in OpenGL; a framebuffer object's are not.
struct OffScreen::Buffer {
  Buffer(int width, int height) {
    gl<PFNGLGENFRAMEBUFFERSPROC>("glGenFramebuffers")(1, &framebuffer_);
    gl<PFNGLGENRENDERBUFFERSPROC>("glGenRenderbuffers")(1, &colour_);
    gl<PFNGLBINDFRAMEBUFFERPROC>("glBindFramebuffer")(GL_FRAMEBUFFER, framebuffer_);
    gl<PFNGLBINDRENDERBUFFERPROC>("glBindRenderbuffer")(GL_RENDERBUFFER, colour_);
    gl<PFNGLRENDERBUFFERSTORAGEPROC>("glRenderbufferStorage")(GL_RENDERBUFFER, GL_RGBA8, width, height);
    gl<PFNGLFRAMEBUFFERRENDERBUFFERPROC>("glFramebufferRenderbuffer")(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
                                                                      GL_RENDERBUFFER, colour_);
    const auto status = gl<PFNGLCHECKFRAMEBUFFERSTATUSPROC>("glCheckFramebufferStatus")(GL_FRAMEBUFFER);
    if (status != GL_FRAMEBUFFER_COMPLETE)
      throw DisplayError(fmt::format("OpenGL has no framebuffer of {}x{} (status {:#x})\n  try: a smaller --size",
                                     width, height, status));
  }
  // Its OpenGL objects end with the context, which is destroyed next.
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

 private:
  GLuint framebuffer_ = 0, colour_ = 0;
};

OffScreen::OffScreen(Window& window, int width, int height)
    : window_(window), width_(width), height_(height), buffer_(std::make_unique<Buffer>(width, height)) {}

OffScreen::~OffScreen() = default;

void OffScreen::frame(const Look& look, const std::function<void(const Theme&)>& draw,
                      const std::function<void()>& input) {
  // Input is set even where none is given: the real mouse must not open a tooltip.
  if (!input) ImGui::GetIO().ConfigFlags |= ImGuiConfigFlags_NoMouse;
  draw(window_.new_frame(look, {static_cast<float>(width_), static_cast<float>(height_)}, input));
  window_.render(width_, height_);
}

void OffScreen::finish() const { glFinish(); }

void OffScreen::write_png(const std::filesystem::path& file) const {
  std::vector<unsigned char> pixels(std::size_t{3} * width_ * height_);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width_, height_, GL_RGB, GL_UNSIGNED_BYTE, pixels.data());
  if (const auto error = glGetError(); error != GL_NO_ERROR)
    throw DisplayError(
        fmt::format("OpenGL error {:#x} while reading the picture\n  try: LIBGL_ALWAYS_SOFTWARE=1", error));
  stbi_write_png_compression_level = 12;
  stbi_flip_vertically_on_write(1);  // OpenGL counts rows from below
  if (!stbi_write_png(file.c_str(), width_, height_, 3, pixels.data(), 3 * width_))
    throw std::runtime_error(
        fmt::format("cannot write the picture '{}'\n  try: another folder, or free space", file.string()));
}

}  // namespace ridge::viz
