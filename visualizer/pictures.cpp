#include "pictures.hpp"

#include <fmt/format.h>

#include <thread>

#include "kit/files.hpp"
#include "kit/svg_painter.hpp"
#include "screenshot.hpp"

namespace ridge::viz {
namespace {

void wait_for(App& app, const std::function<void()>& frame) {
  if (!settle(app, std::chrono::minutes(5), frame))
    throw std::runtime_error("the file was not read within five minutes\n  try: a smaller file");
}

void in_whole_window(const std::function<void(ImVec2)>& draw) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(size);
  ImGui::Begin("picture", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings);
  draw(size);
  ImGui::End();
}

// ImGui without a renderer: it measures text, and its own drawing is discarded.
class Headless {
 public:
  Headless(PictureSize size, const Look& look) {
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {static_cast<float>(size.width), static_cast<float>(size.height)};
    io.DeltaTime = 1.0F / 60;
#if IMGUI_VERSION_NUM >= 19200
    io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
#endif
    theme = make_theme(scale_for(io.DisplaySize.x, io.DisplaySize.y, look.zoom), look);
  }
  ~Headless() { ImGui::DestroyContext(); }
  Headless(const Headless&) = delete;
  Headless& operator=(const Headless&) = delete;
  Theme theme;
};

}  // namespace

bool settle(App& app, std::chrono::seconds patience, const std::function<void()>& frame) {
  constexpr int kFrames = 3;  // layout takes two frames, the third shows it
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kFrames;) {
    frame();
    if (!app.busy()) {
      ++i;
      continue;
    }
    if (std::chrono::steady_clock::now() - start > patience) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

void take_screenshot(App& app, PictureSize size, const std::filesystem::path& file, LayoutLog& log) {
  Window window(64, 64, false);
  OffScreen screen(window, size.width, size.height);
  wait_for(app, [&] { screen.frame(app.look, [&](const Theme& theme) { app.frame(theme, log); }); });
  screen.write_png(file);
}

void export_png(App& app, PictureSize size, const std::filesystem::path& file, LayoutLog& log) {
  Window window(64, 64, false);
  OffScreen screen(window, size.width, size.height);
  wait_for(app, [&] {
    screen.frame(app.look, [&](const Theme& theme) {
      log.clear();
      in_whole_window([&](ImVec2 to) {
        ScreenPainter painter(ImGui::GetWindowDrawList());
        Frame frame{painter, theme, log, {0, 0}, to, false};
        app.draw_view(frame);
      });
    });
  });
  screen.write_png(file);
}

std::string svg_text(App& app, const Theme& theme, float width, float height, LayoutLog& log) {
  SvgPainter painter(width, height, theme.family);
  log.clear();
  Frame frame{painter, theme, log, {0, 0}, {width, height}, false};
  app.draw_view(frame);
  return painter.document(app.view().title());
}

void write_svg(App& app, const Theme& theme, PictureSize size, const std::filesystem::path& file, LayoutLog& log) {
  write_file(file, svg_text(app, theme, static_cast<float>(size.width), static_cast<float>(size.height), log));
}

void export_svg(App& app, PictureSize size, const std::filesystem::path& file, LayoutLog& log) {
  Headless headless(size, app.look);
  const auto frame = [&](const std::function<void(ImVec2)>& draw) {
    ImGui::NewFrame();
    in_whole_window(draw);
    ImGui::EndFrame();
  };
  wait_for(app, [&] {
    frame([&](ImVec2 to) {
      SvgPainter nowhere(to.x, to.y, headless.theme.family);
      log.clear();
      Frame f{nowhere, headless.theme, log, {0, 0}, to, false};
      app.draw_view(f);
    });
  });
  frame([&](ImVec2) { write_svg(app, headless.theme, size, file, log); });
}

}  // namespace ridge::viz
