#include "theme.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#ifdef RIDGE_VIZ_FREETYPE
#include <imgui_freetype.h>
#endif

namespace ridge::viz {
namespace {

struct Family {
  const char* regular;
  const char* bold;
};

// Debian and Ubuntu, Fedora, Arch, macOS.
constexpr Family kFamilies[] = {
    {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"},
    {"/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf", "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans-Bold.ttf"},
    {"/usr/share/fonts/TTF/DejaVuSans.ttf", "/usr/share/fonts/TTF/DejaVuSans-Bold.ttf"},
    {"/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf", "/usr/share/fonts/truetype/noto/NotoSans-Bold.ttf"},
    {"/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
     "/usr/share/fonts/truetype/liberation/LiberationSans-Bold.ttf"},
    {"/Library/Fonts/Arial.ttf", "/Library/Fonts/Arial Bold.ttf"},
};

const Family* installed_family() {
  std::error_code ignored;
  for (const Family& family : kFamilies)
    if (std::filesystem::exists(family.regular, ignored) && std::filesystem::exists(family.bold, ignored))
      return &family;
  return nullptr;
}

// Latin, Greek, punctuation, sub- and superscripts, arrows, relations: what names and messages hold.
constexpr ImWchar kGlyphs[] = {0x20,   0x17F,  0x370,  0x3FF,  0x2010, 0x205E, 0x2070,
                               0x209F, 0x2190, 0x21FF, 0x2200, 0x22FF, 0};

Type load(const char* path, float size) {
  ImGuiIO& io = ImGui::GetIO();
  size = std::round(size);
  ImFont* font = nullptr;
  if (path) font = io.Fonts->AddFontFromFileTTF(path, size, nullptr, kGlyphs);
  if (!font) {
    ImFontConfig config;
    config.SizePixels = size;
    font = io.Fonts->AddFontDefault(&config);
  }
  return {font, size};
}

ImVec4 rgba(ImU32 c) { return ImGui::ColorConvertU32ToFloat4(c); }

void set_style(float scale) {
  ImGuiStyle style;
  ImGui::StyleColorsLight(&style);
  style.WindowBorderSize = 0;
  style.WindowRounding = 0;
  style.WindowPadding = {0, 0};
  style.FrameRounding = 6;
  style.PopupRounding = 8;
  style.ScrollbarSize = 10;
  style.ScrollbarRounding = 5;
  style.Colors[ImGuiCol_WindowBg] = rgba(colour::kDesk);
  style.Colors[ImGuiCol_PopupBg] = rgba(colour::kInk);
  style.Colors[ImGuiCol_Text] = rgba(colour::kInk);
  style.Colors[ImGuiCol_ScrollbarBg] = rgba(colour::faded(colour::kDesk, 0));
  style.Colors[ImGuiCol_ScrollbarGrab] = rgba(colour::kLine);
  style.Colors[ImGuiCol_Button] = rgba(colour::kLineFaint);
  style.Colors[ImGuiCol_ButtonHovered] = rgba(colour::kLine);
  style.Colors[ImGuiCol_ButtonActive] = rgba(colour::kSky);
  style.ScaleAllSizes(scale);
  ImGui::GetStyle() = style;
}

}  // namespace

float scale_for(float width, float height) {
  const float fit = std::min(width / 1600, height / 900);
  return std::clamp(std::round(fit * 20) / 20, 0.5F,
                    4.0F);  // in steps, so that dragging a border rebuilds few fonts
}

Theme make_theme(float scale) {
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  atlas->Clear();
#ifdef RIDGE_VIZ_FREETYPE
#if IMGUI_VERSION_NUM < 19200
  atlas->FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
#else
  atlas->SetFontLoader(ImGuiFreeType::GetFontLoader());
#endif
#endif
  const Family* family = installed_family();
  const char* regular = family ? family->regular : nullptr;
  const char* bold = family ? family->bold : nullptr;
  Theme theme;
  theme.scale = scale;
  theme.body = load(regular, 20 * scale);
  theme.small = load(regular, 18 * scale);
  theme.strong = load(bold, 20 * scale);
  theme.heading = load(bold, 23 * scale);
  theme.title = load(bold, 34 * scale);
  theme.figure = load(bold, 46 * scale);
#if IMGUI_VERSION_NUM < 19200
  atlas->Build();
#endif
  set_style(scale);
  return theme;
}

}  // namespace ridge::viz
