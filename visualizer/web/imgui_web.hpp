// Dear ImGui without a window: input from the page, frames to it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kit/theme.hpp"
#include "web/draw_stream.hpp"
#include "web/texture_stream.hpp"
#include "web/web_input.hpp"

namespace ridge::viz::web {

class ImGuiWeb {
 public:
  ImGuiWeb();
  ~ImGuiWeb();
  ImGuiWeb(const ImGuiWeb&) = delete;
  ImGuiWeb& operator=(const ImGuiWeb&) = delete;

  // Passes events to ImGui and starts a frame that comes `seconds` after the last.
  const Theme& begin(const std::vector<Event>& events, const Look& look, float seconds);
  // Ends it.
  DrawFrame end();
  // Images that are new or changed since the last call; ask after `end`.
  std::vector<Texture> textures();
  // What was copied since the last call.
  std::optional<std::string> copied();

 private:
  void apply(const Event& event);

  Theme theme_;
  Look look_;
  float width_ = 1280, height_ = 720, ratio_ = 1, theme_ratio_ = 0;
  std::vector<Texture> textures_;
  std::string clipboard_;
  std::optional<std::string> copied_;
};

}  // namespace ridge::viz::web
