#include "app.hpp"

#include <algorithm>
#include <utility>

namespace ridge::viz {
namespace {

bool pressed(ImGuiKey key) {
#if IMGUI_VERSION_NUM < 18700
  return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key));
#else
  return ImGui::IsKeyPressed(key);
#endif
}

constexpr ImGuiWindowFlags kFixed = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                                    ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings |
                                    ImGuiWindowFlags_NoBringToFrontOnFocus;

void begin(const char* name, ImVec2 from, ImVec2 size, ImGuiWindowFlags flags) {
  ImGui::SetNextWindowPos(from);
  ImGui::SetNextWindowSize(size);
  ImGui::Begin(name, nullptr, kFixed | flags);
}

}  // namespace

App::App(std::vector<Result> results) : results_(std::move(results)) {
  choice_.count = results_.size();
  choice_.shown = results_.size() - 1;  // attempts sort by time, and the newest is what one came for
}

void App::frame(const Theme& theme, LayoutLog& log) {
  log.clear();
  if (pressed(ImGuiKey_LeftArrow) && choice_.shown > 0) --choice_.shown;
  if (pressed(ImGuiKey_RightArrow) && choice_.shown + 1 < choice_.count) ++choice_.shown;
  const Scene scene(results_[choice_.shown]);
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const float panel = std::min(theme.px(500), size.x * 0.45F);

  begin("plot", {0, 0}, {size.x - panel, size.y}, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  draw_roofline(scene, theme, {theme.px(16), theme.px(14)}, {size.x - panel, size.y - theme.px(8)}, log);
  ImGui::End();
  begin("panel", {size.x - panel, 0}, {panel, size.y}, 0);
  draw_side_panel(scene, theme, choice_, log);
  ImGui::End();
}

}  // namespace ridge::viz
